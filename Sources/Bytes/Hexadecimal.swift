package enum Hexadecimal {
  /// Returns two lower-case digits per byte.
  package static func text(of bytes: RawSpan) -> String {
    bytes.array.map(\.hexadecimal).joined().lowercased()
  }

  /// Reads bytes from pasted text: digits of either case, with white space, `:`, `-`, `,`, `_` or
  /// `0x` between the bytes.
  ///
  /// - Throws: ``HexadecimalError`` with the place of the first invalid character.
  package static func bytes(in text: String) throws(HexadecimalError) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    var place = 0
    var previous: Character = " "
    for character in text {
      place += 1
      if let value = character.hexDigitValue, character.isASCII {
        if let first = high {
          bytes.append(first << 4 | UInt8(value))
          high = nil
        } else {
          high = UInt8(value)
        }
      } else if character == "x" || character == "X", previous == "0", high == 0 {
        high = nil
      } else if isSeparator(character) {
        if high != nil { throw HexadecimalError(place: place, problem: .oddDigits) }
      } else {
        throw HexadecimalError(place: place, problem: .notADigit(character))
      }
      previous = character
    }
    if high != nil { throw HexadecimalError(place: place, problem: .oddDigits) }
    return bytes
  }

  /// Returns `true` for white space of any kind, unless it carries a combining mark.
  private static func isSeparator(_ character: Character) -> Bool {
    character.unicodeScalars.allSatisfy(\.properties.isWhitespace) || ":-,_".contains(character)
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// The number's hexadecimal digits in upper case, two for each byte.
  package var hexadecimal: String {
    let digits = String(self, radix: 16, uppercase: true)
    return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
  }
}

/// The error for text that is not hexadecimal.
package struct HexadecimalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Problem: Hashable, Sendable {
    case notADigit(Character)
    case oddDigits
  }

  /// The position of the character, counted from 1.
  package var place: Int
  package var problem: Problem

  package var description: String {
    switch problem {
    case .notADigit(let character): "character \(place): '\(character)' is not a hexadecimal digit"
    case .oddDigits: "character \(place): a byte has only one digit"
    }
  }
}
