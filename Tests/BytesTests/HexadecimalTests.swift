import TestSupport
import Testing

@testable import Bytes

/// Bytes as people paste them.
@Suite struct HexadecimalTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let bytes = random.bytes(Int.random(in: 0...300, using: &random))
    let text = unsafe Hexadecimal.text(of: bytes.span.bytes)
    #expect(text.utf8.count == bytes.count * 2, "seed \(seed)")
    #expect(try Hexadecimal.bytes(in: text) == bytes, "seed \(seed)")
    #expect(try Hexadecimal.bytes(in: text.uppercased()) == bytes, "seed \(seed)")
  }

  @Test func everyOctet() throws {
    for octet in 0...255 as ClosedRange<UInt8> {
      let bytes = [octet]
      let text = unsafe Hexadecimal.text(of: bytes.span.bytes)
      #expect(text == (octet < 16 ? "0" : "") + String(octet, radix: 16))
      #expect(try Hexadecimal.bytes(in: text) == bytes)
    }
  }

  @Test func numbersHaveTwoDigitsForEachByte() {
    #expect(UInt8(0x0A).hexadecimal == "0A" && UInt8.max.hexadecimal == "FF")
    #expect(UInt16(0x4C).hexadecimal == "004C")
    #expect(UInt64(0x8E89_BED6).hexadecimal == "000000008E89BED6")
  }

  @Test(arguments: [
    "4c000215", "4C000215", "4c 00 02 15", "4c:00:02:15", "4c-00-02-15", "4c,00,02,15",
    "4c_00_02_15", "0x4c000215", "0x4c 0x00 0x02 0x15", "0x4C, 0x00, 0x02, 0x15",
    "0X4c 0X00 02 15", "  4c\t00\n02\r\n15  ", "4c00 0215", "4c::00, 02 -15\n",
  ])
  func separatorsArePassedOver(text: String) throws {
    #expect(try Hexadecimal.bytes(in: text) == [0x4C, 0x00, 0x02, 0x15])
  }

  @Test(arguments: ["", " ", "\n", "::", "0x"])
  func nothingIsNoBytes(text: String) throws {
    #expect(try Hexadecimal.bytes(in: text) == [])
  }

  @Test(arguments: [
    ("4g", 2, HexadecimalError.Problem.notADigit("g")),
    ("4c 0", 4, .oddDigits), ("4", 1, .oddDigits), ("4 c", 2, .oddDigits),
    ("4c 00 2 15", 8, .oddDigits), ("x4c", 1, .notADigit("x")), ("00x4c", 3, .notADigit("x")),
    ("1x4c", 2, .notADigit("x")), ("4c.00", 3, .notADigit(".")), ("\"4c", 1, .notADigit("\"")),
    // Digits of other scripts are none here, and a character is one place whatever its length.
    ("4c１2", 3, .notADigit("１")), ("é", 1, .notADigit("é")), ("4c 👩‍👩‍👧 z", 4, .notADigit("👩‍👩‍👧")),
    ("\r\n4", 2, .oddDigits), ("0x4", 3, .oddDigits),
  ])
  func errorsNameTheirPlace(text: String, place: Int, problem: HexadecimalError.Problem) {
    #expect(throws: HexadecimalError(place: place, problem: problem)) {
      try Hexadecimal.bytes(in: text)
    }
  }

  @Test func errorsAreSentences() {
    #expect(
      "\(HexadecimalError(place: 3, problem: .notADigit("g")))"
        == "character 3: 'g' is not a hexadecimal digit")
    #expect(
      "\(HexadecimalError(place: 4, problem: .oddDigits))"
        == "character 4: a byte has only one digit")
  }

  /// Text of any characters is either bytes or an error with a place inside it.
  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomText(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let alphabet = Array("0123456789abcdefABCDEFxX :-,_\ngé")
    for _ in 0..<50 {
      let count = Int.random(in: 0...12, using: &random)
      let text = String((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
      do throws(HexadecimalError) {
        let bytes = try Hexadecimal.bytes(in: text)
        #expect(bytes.count * 2 <= text.count, "seed \(seed): \(text)")
      } catch {
        #expect((1...text.count).contains(error.place), "seed \(seed): \(text)")
      }
    }
  }
}
