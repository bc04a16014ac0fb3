/// A rule that selects the signals that a connection receives.
package struct BusMatch: Sendable {
  package let text: String

  /// Creates a rule. The sender is a unique name, or a name whose owner is the sender; `arg0` is
  /// the first value of the body, a string.
  package init(
    sender: String? = nil, path: String? = nil, interface: String? = nil, member: String? = nil,
    arg0: String? = nil
  ) {
    let parts = [
      ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface),
      ("member", member), ("arg0", arg0),
    ]
    text = parts.compactMap { name, value in value.map { "\(name)=\(Self.quoted($0))" } }
      .joined(separator: ",")
  }

  package static func owner(of name: String) -> BusMatch {
    BusMatch(
      sender: Bus.name, path: Bus.path, interface: Bus.name, member: "NameOwnerChanged", arg0: name)
  }

  /// Returns a text in quotes. A quote in it is put between two quoted parts.
  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}

/// The bus's own names, and the interfaces of every service.
package enum Bus {
  static let name = "org.freedesktop.DBus"
  static let path = "/org/freedesktop/DBus"
  package static let properties = "org.freedesktop.DBus.Properties"
  static let objectManager = "org.freedesktop.DBus.ObjectManager"
}
