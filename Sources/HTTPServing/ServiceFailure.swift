/// The reason that the service cannot start, or ended: one sentence, and its kind.
package struct ServiceFailure: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    case usage, unavailable, noPermission, cannotCreate
  }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
