/// Names as topic levels and parts of identifiers.
package enum TopicName {
  /// Returns a unique identifier for a name. A name of at most 64 ASCII letters, digits, `_` and
  /// `-`, without `--`, stays the same. In others, `_` replaces each other character, and `--` and
  /// a hash of the name follow: `café/1` becomes `caf__1--` and 16 digits.
  package static func identifier(of name: String) -> String {
    var text = ""
    var isSame = !name.isEmpty
    for character in name.unicodeScalars {
      guard text.utf8.count < maximumBytes else {
        isSame = false
        break
      }
      if isPlain(character) {
        // Only a hash may follow `--`.
        if character == "-", text.last == "-" { isSame = false }
        text.unicodeScalars.append(character)
      } else {
        isSame = false
        text.append("_")
      }
    }
    guard !isSame else { return text }
    while text.last == "-" { text.removeLast() }
    let digits = String(hash(name), radix: 16)
    return text + "--" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static let maximumBytes = 64
  /// The most bytes with a hash.
  static let maximumIdentifierBytes = maximumBytes + 18

  /// Returns whether a text is a valid identifier, derived from a name or given.
  static func isIdentifier(_ text: String) -> Bool {
    (1...maximumIdentifierBytes).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy(isPlain)
  }

  /// Returns whether a text can be a topic level: not empty, without separators and wildcards.
  static func isLevel(_ text: String) -> Bool {
    !text.isEmpty && isText(text) && !text.utf8.contains { "/+#".utf8.contains($0) }
  }

  /// Returns whether every broker accepts a text. MQTT 3.1.1, section 1.5.3, lets brokers refuse
  /// control characters and noncharacters.
  static func isText(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0.value & 0xFFFE != 0xFFFE
        && !(0xFDD0...0xFDEF).contains($0.value)
    }
  }

  private static func isPlain(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
    default: false
    }
  }

  /// Returns the 64-bit FNV-1a hash, which is the same on every machine and in every version.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
