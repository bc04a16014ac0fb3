/// A rule that selects the signals that a connection receives.
package struct BusMatch: Hashable, Sendable {
  /// A unique name, or a name whose owner is the sender.
  package var sender: String?
  package var path: String?
  package var interface: String?
  package var member: String?
  /// The first value of the body, which is a string.
  package var arg0: String?

  package init(
    sender: String? = nil, path: String? = nil, interface: String? = nil, member: String? = nil,
    arg0: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arg0 = arg0
  }

  package static func owner(of name: String) -> BusMatch {
    BusMatch(
      sender: Bus.name, path: Bus.path, interface: Bus.name, member: "NameOwnerChanged", arg0: name)
  }

  package var text: String {
    let parts = [
      ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface),
      ("member", member), ("arg0", arg0),
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
