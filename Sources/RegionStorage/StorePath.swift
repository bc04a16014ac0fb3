import FoundationEssentials
import SystemPackage

/// Where an application's regions are kept, by the XDG Base Directory Specification 0.8.
enum StorePath {
  /// The longest name that is used as it is; file systems take 255 bytes and we add suffixes.
  private static let longestName = 180

  /// The file for an application: `$XDG_STATE_HOME/corelocation/ID.regions`.
  static func file(
    for application: String, in environment: [String: String]
  ) throws(StoreError) -> FilePath {
    guard !application.isEmpty else {
      throw StoreError(file: "(no file)", problem: .noIdentifier)
    }
    return try directory(in: environment, for: application)
      .appending("\(name(of: application)).regions")
  }

  private static func directory(
    in environment: [String: String], for application: String
  ) throws(StoreError) -> FilePath {
    // A relative path is invalid and ignored, says the specification.
    if let state = environment["XDG_STATE_HOME"].map({ FilePath($0) }), state.isAbsolute {
      return state.appending("corelocation")
    }
    if let home = environment["HOME"].map({ FilePath($0) }), home.isAbsolute {
      return home.appending(".local/state/corelocation")
    }
    throw StoreError(file: application, problem: .noHome)
  }

  /// The identifier as a file name: what is no ASCII letter, digit, `-`, `_` or inner `.` becomes
  /// `%` and two digits, so that two identifiers never share a file.
  static func name(of application: String) -> String {
    var name = ""
    for (index, byte) in application.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        name.unicodeScalars.append(UnicodeScalar(byte))
      case UInt8(ascii: ".") where index > 0:
        name += "."
      default:
        name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    guard name.utf8.count > longestName else { return name }
    // FNV-1a tells long ones apart.
    let hash = application.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return name.prefix(longestName - 17) + "%" + String(hash, radix: 16, uppercase: true)
  }
}
