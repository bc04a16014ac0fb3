/// The version of a receiver's configuration: the 64-bit FNV-1a hash of its text.
///
/// So the same text is the same version wherever it is computed, also when it is sent again later.
package struct ConfigurationVersion: Hashable, Sendable, CustomStringConvertible {
  /// The longest text, in bytes.
  package static let maximumLength = 1 << 20

  private let hash: UInt64

  package init(of text: [UInt8]) {
    hash = text.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// Reads 16 hexadecimal digits.
  package init?(_ text: String) {
    guard let hash = UInt64(digits: text) else { return nil }
    self.hash = hash
  }

  /// 16 hexadecimal digits in lowercase.
  package var description: String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension UInt64 {
  /// Reads 16 hexadecimal digits.
  init?(digits text: String) {
    // The parser of numbers also takes a sign.
    guard text.utf8.count == 16, !text.hasPrefix("+"), !text.hasPrefix("-") else { return nil }
    self.init(text, radix: 16)
  }
}
