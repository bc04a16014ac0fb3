/// The application that a process's control groups name. systemd makes one for each unit
/// (systemd.slice(5), systemd.scope(5)).
extension AppIdentity {
  /// Reads the text of `/proc/PID/cgroup` (cgroups(7)); `nil` if it names no application.
  ///
  /// The outermost unit counts: a process cannot leave it, but it may create groups inside of it.
  package init?(controlGroups text: String, user: UInt32) {
    let groups = text.split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }.filter { $0.count == 3 }
    // Version 2 has one hierarchy. With version 1, systemd has one of its own.
    guard
      let group = groups.first(where: { $0[0] == "0" && $0[1].isEmpty && $0[2] != "/" })
        ?? groups.first(where: { $0[1] == "name=systemd" })
    else { return nil }
    // systemd puts a "_" before a name that the kernel could take for one of its own files.
    let parts = group[2].split(separator: "/", omittingEmptySubsequences: false).map {
      $0.hasPrefix("_") ? $0.dropFirst() : $0
    }
    guard parts.count > 2, parts[0].isEmpty, parts[1].hasSuffix(".slice") else { return nil }
    let units = parts.dropFirst().drop { $0.hasSuffix(".slice") }
    guard let unit = units.first, Self.isUnitName(unit) else { return nil }

    switch parts[1] {
    // Whoever makes a container names the units in it.
    case "machine.slice": return nil
    case "user.slice":
      guard unit.hasPrefix("user@"), unit.hasSuffix(".service") else {
        self.init(userUnit: unit, user: user)
        return
      }
      let ownUnits = units.dropFirst().drop { $0.hasSuffix(".slice") }
      guard let unit = ownUnits.first, Self.isUnitName(unit) else { return nil }
      self.init(userUnit: unit, user: user)
    default:
      // A unit of another kind, such as a container's scope, does not say what runs in it. A colon
      // would make the identifier one of another form.
      guard unit.hasSuffix(".service"), !unit.hasPrefix("user@"), !unit.contains(":") else {
        return nil
      }
      self.init(String(unit), strength: .systemUnit, user: user)
    }
  }

  private init?(userUnit unit: Substring, user: UInt32) {
    if let name = Self.sandbox(unit) {
      self.init(name, strength: .sandbox, user: user)
      return
    }
    // Desktops and D-Bus start programs in units with random names.
    guard unit.hasSuffix(".service"), !["app-", "dbus-", "snap."].contains(where: unit.hasPrefix)
    else { return nil }
    self.init("user:\(unit)", strength: .claim, user: user)
  }

  /// Returns the sandbox of `app-flatpak-ID-INSTANCE.scope`, `snap.NAME.APP-INSTANCE.scope` or
  /// `snap.NAME.APP.service`.
  private static func sandbox(_ unit: Substring) -> String? {
    let flatpak = "app-flatpak-"
    if unit.hasPrefix(flatpak) {
      guard unit.hasSuffix(".scope"), let end = unit.lastIndex(of: "-"),
        let name = decoded(unit[..<end].dropFirst(flatpak.count)), name.contains("."),
        isName(name)
      else { return nil }
      return "flatpak:\(name)"
    }
    let parts = unit.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0] == "snap", ["scope", "service"].contains(parts.last),
      let name = decoded(parts[1]), isName(name)
    else { return nil }
    return "snap:\(name)"
  }

  private static func isUnitName(_ text: Substring) -> Bool {
    admits(text)
      && text.utf8.allSatisfy { isNameByte($0) || [":", "@", "\\"].contains(Unicode.Scalar($0)) }
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isNameByte)
  }

  /// Returns a name with its escapes decoded, `\x2d` for `-` (systemd-escape(1)).
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      let digits = Substring(rest.dropFirst().prefix(2))
      guard rest.first == UInt8(ascii: "x"), digits.utf8.count == 2,
        digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(3)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
