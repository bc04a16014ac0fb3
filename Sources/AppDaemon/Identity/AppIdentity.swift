/// The application that a connected program belongs to, as the kernel and systemd describe it.
package struct AppIdentity: Hashable, Sendable, Codable {
  /// How well the identifier is known.
  package enum Strength: Int, Sendable, Codable, Comparable {
    /// A claim: the path of the program, or a unit of the user's manager, which programs of the
    /// same user can imitate.
    case claim = 1
    /// A sandbox, whose programs cannot leave its control group.
    case sandbox
    /// A unit of the system, which only root can define.
    case systemUnit

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  package let strength: Strength
  /// The numeric identifier of the user.
  package let user: UInt32
  /// The application's name in the administrator's file and in polkit's rules. Its form shows its
  /// origin, so no claim equals the name of a unit or of a sandbox:
  ///
  /// - `kiosk.service`: a unit of the system
  /// - `flatpak:com.example.App`, `snap:example`: a sandbox
  /// - `user:kiosk.service`: a unit of a user's manager
  /// - `/usr/bin/kiosk`: a program
  /// - `name:kiosk`: a process's name, where the path of its program is not known
  package let identifier: String

  package init(_ identifier: String, strength: Strength, user: UInt32) {
    self.identifier = identifier
    self.strength = strength
    self.user = user
  }

  /// Creates the claim of a program: its path, or its name if the path is not known or could not be
  /// shown to people.
  init(program: String?, name: String, user: UInt32) {
    let deleted = " (deleted)"
    var path = program ?? ""
    // The file was replaced while the program runs.
    if path.hasSuffix(deleted) { path.removeLast(deleted.count) }
    let isShown =
      path.hasPrefix("/") && Self.admits(path) && path.unicodeScalars.allSatisfy(Self.isShown)
    let shown = String(String.UnicodeScalarView(name.unicodeScalars.filter(Self.isShown)))
    self.init(isShown ? path : "name:\(shown)", strength: .claim, user: user)
  }

  /// Whether a character is visible, and does not change how others are shown.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  /// The name of a file for this application alone: the user and the identifier, with `%` and two
  /// hexadecimal digits for each byte that is not an ASCII letter, a digit, or one of `-._:@`.
  package var fileName: String { "\(user)-\(Self.escaped(identifier))" }

  /// The length of an identifier that still makes a valid ``fileName``, in bytes of that name.
  static let maximumLength = 200

  /// Whether an identifier has a valid length.
  static func admits(_ identifier: some StringProtocol) -> Bool {
    escaped(identifier).utf8.count <= maximumLength
  }

  /// Whether a byte is an ASCII letter, a digit, or one of `-._`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func escaped(_ text: some StringProtocol) -> String {
    text.utf8.reduce(into: "") { name, byte in
      if isNameByte(byte) || [UInt8(ascii: ":"), UInt8(ascii: "@")].contains(byte) {
        name.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        name += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
  }
}

extension AppIdentity: CustomStringConvertible {
  /// The application in words, for people: `the Flatpak com.example.App`.
  package var description: String {
    func rest(_ prefix: String) -> Substring? {
      identifier.hasPrefix(prefix) ? identifier.dropFirst(prefix.count) : nil
    }
    if let name = rest("flatpak:") { return "the Flatpak \(name)" }
    if let name = rest("snap:") { return "the snap \(name)" }
    if let name = rest("user:") { return "the user's service \(name)" }
    if let name = rest("name:") { return "the program \(name)" }
    return strength == .systemUnit
      ? "the system's service \(identifier)" : "the program \(identifier)"
  }
}
