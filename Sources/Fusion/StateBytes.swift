package import Bytes

/// The bytes of a state: integers with the least significant octet first, and texts after their
/// lengths.
package struct StateWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ number: some FixedWidthInteger) {
    var number = number.littleEndian
    unsafe withUnsafeBytes(of: &number) { unsafe bytes.append(contentsOf: $0) }  // copied at once
  }

  mutating func put(_ number: Float) { put(number.bitPattern) }
  mutating func put(_ number: Double) { put(number.bitPattern) }
  mutating func put(_ flag: Bool) { put(flag ? 1 as UInt8 : 0) }

  package mutating func put(_ bytes: [UInt8]) { self.bytes += bytes }

  package mutating func put(_ text: String) {
    put(UInt16(clamping: text.utf8.count))
    bytes += text.utf8.prefix(Int(UInt16.max))
  }
}

extension ByteCursor {
  @_lifetime(self: copy self)
  mutating func readFloat() throws(ParseError) -> Float {
    Float(bitPattern: try readLittleEndian(UInt32.self))
  }

  @_lifetime(self: copy self)
  mutating func readDouble() throws(ParseError) -> Double {
    Double(bitPattern: try readLittleEndian(UInt64.self))
  }

  @_lifetime(self: copy self)
  mutating func readFlag() throws(ParseError) -> Bool { try readUInt8() != 0 }

  @_lifetime(self: copy self)
  package mutating func readText() throws(ParseError) -> String {
    let count = Int(try readLittleEndian(UInt16.self))
    return String(decoding: try read(count).array, as: UTF8.self)
  }

  /// Reads the number of elements that follow, each of which has some bytes at least.
  @_lifetime(self: copy self)
  mutating func readCount(ofBytes least: Int) throws(ParseError) -> Int {
    let start = offset
    let count = Int(try readLittleEndian(UInt32.self))
    guard count <= remaining / max(1, least) else {
      throw ParseError(.invalid("more elements than bytes"), at: start)
    }
    return count
  }
}
