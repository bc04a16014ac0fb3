/// A rule that selects the messages that a connection receives.
package struct BusMatch: Hashable, Sendable {
  package var kind: BusMessage.Kind?
  /// A unique name, or a name whose owner is the sender.
  package var sender: String?
  package var path: String?
  /// An object path that matches the object and all objects below it.
  package var pathNamespace: String?
  package var interface: String?
  package var member: String?
  /// The first value of the body, which is a string.
  package var arg0: String?

  package init(
    kind: BusMessage.Kind? = .signal, sender: String? = nil, path: String? = nil,
    pathNamespace: String? = nil, interface: String? = nil, member: String? = nil,
    arg0: String? = nil
  ) {
    self.kind = kind
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.arg0 = arg0
  }

  /// Returns the rule for the signals of a name's new owner.
  package static func owner(of name: String) -> BusMatch {
    BusMatch(
      sender: Bus.name, path: Bus.path, interface: Bus.name, member: "NameOwnerChanged", arg0: name)
  }

  package var text: String {
    let type: String? =
      switch kind {
      case .call: "method_call"
      case .reply: "method_return"
      case .error: "error"
      case .signal: "signal"
      case nil: nil
      }
    let parts = [
      ("type", type), ("sender", sender), ("path", path), ("path_namespace", pathNamespace),
      ("interface", interface), ("member", member), ("arg0", arg0),
    ]
    return parts.compactMap { name, value in value.map { "\(name)=\(Self.quoted($0))" } }
      .joined(separator: ",")
  }

  /// Returns a text in quotes. A quote in it is put between two quoted parts.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

enum Bus {
  static let name = "org.freedesktop.DBus"
  static let path = "/org/freedesktop/DBus"
  static let properties = "org.freedesktop.DBus.Properties"
  static let objectManager = "org.freedesktop.DBus.ObjectManager"
}
