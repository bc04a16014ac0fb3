public import Bytes

/// One AD structure: a type and its data (Core Specification, Vol 3, Part C, §11).
@usableFromInline
package struct ADStructure: ~Escapable {
  @usableFromInline
  package var type: ADType
  /// The offset of the structure's length byte in the advertising data.
  @usableFromInline
  package var offset: Int

  // Hot loops read the data in place, which costs less than making a span of it.
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  let start: Int
  @usableFromInline
  let count: Int

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  @unsafe
  init(type: ADType, in bytes: RawSpan, from start: Int, count: Int, offset: Int) {
    self.type = type
    self.offset = offset
    self.bytes = bytes
    self.start = start
    self.count = count
  }

  /// AD Data: Length − 1 bytes.
  @inlinable @inline(__always)
  package var data: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: start, count: count) }
  }
}

/// Walks the AD structures of one advert.
///
/// ```
/// +--------+---------+----------------+--------+----
/// | Length | AD Type |    AD Data     | Length | …
/// +--------+---------+----------------+--------+----
///  1 octet   1 octet   Length−1 octets
/// ```
///
/// A length of zero ends the significant part early; the rest is ignored (§11). A length that runs
/// past the data throws and ends the walk: nothing shows where the next structure begins.
@usableFromInline
package struct ADStructures: ~Escapable {
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  var position: Int
  @usableFromInline
  let end: Int
  @usableFromInline
  let base: Int

  /// Starts at the first structure of the data; `base` is added to each offset.
  @inlinable @inline(__always)
  @_lifetime(copy data)
  package init(_ data: RawSpan, base: Int = 0) {
    bytes = data
    position = 0
    end = data.byteCount
    self.base = base
  }

  /// Starts at the first structure of a report, which must lie within the bytes.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  @unsafe
  package init(_ bytes: RawSpan, _ report: AdvertisingReportFields) {
    self.bytes = bytes
    position = report.start
    end = report.end
    base = 0 &- report.start
  }

  /// Returns the next structure, or `nil` after the last.
  ///
  /// - Throws: `ParseError` at the length byte of a structure that runs past the data.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func next() throws(ParseError) -> ADStructure? {
    let start = position
    guard start < end else { return nil }
    // All reads lie before `end`, which is at most the number of bytes.
    let length = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start))
    // Early termination: the rest is not significant.
    guard length > 0 else { return nil }
    let next = start &+ 1 &+ length
    guard next <= end else {
      // Ends the walk.
      position = end
      throw Self.overrun(length, available: end &- start &- 1, at: base &+ start)
    }
    position = next
    return unsafe ADStructure(
      type: ADType(rawValue: bytes.littleEndian(UInt8.self, unchecked: start &+ 1)),
      in: bytes, from: start &+ 2, count: length &- 1, offset: base &+ start)
  }

  /// Returns the error for a structure past the data. Not inlined, to keep the walk in registers.
  @inlinable @inline(never)
  static func overrun(_ length: Int, available: Int, at offset: Int) -> ParseError {
    ParseError(.truncated(needed: length, available: available), at: offset)
  }
}

/// The type of an AD structure (Bluetooth Assigned Numbers, §2.3).
@usableFromInline
package struct ADType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  @usableFromInline
  package var rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Manufacturer Specific Data: a company identifier and data that the company defines.
  @inlinable
  package static var manufacturerSpecificData: ADType { ADType(rawValue: 0xFF) }
  @inlinable
  package static var serviceData16: ADType { ADType(rawValue: 0x16) }
  @inlinable
  package static var flags: ADType { ADType(rawValue: 0x01) }
}

extension ADType: CustomStringConvertible {
  /// The name in the Assigned Numbers, or the value in hexadecimal.
  @usableFromInline
  package var description: String {
    switch rawValue {
    case 0x01: "Flags"
    case 0x02: "Incomplete List of 16-bit Service UUIDs"
    case 0x03: "Complete List of 16-bit Service UUIDs"
    case 0x04: "Incomplete List of 32-bit Service UUIDs"
    case 0x05: "Complete List of 32-bit Service UUIDs"
    case 0x06: "Incomplete List of 128-bit Service UUIDs"
    case 0x07: "Complete List of 128-bit Service UUIDs"
    case 0x08: "Shortened Local Name"
    case 0x09: "Complete Local Name"
    case 0x0A: "Tx Power Level"
    case 0x0D: "Class of Device"
    case 0x10: "Device ID"
    case 0x12: "Peripheral Connection Interval Range"
    case 0x14: "List of 16-bit Service Solicitation UUIDs"
    case 0x15: "List of 128-bit Service Solicitation UUIDs"
    case 0x16: "Service Data - 16-bit UUID"
    case 0x17: "Public Target Address"
    case 0x18: "Random Target Address"
    case 0x19: "Appearance"
    case 0x1A: "Advertising Interval"
    case 0x1B: "LE Bluetooth Device Address"
    case 0x1C: "LE Role"
    case 0x20: "Service Data - 32-bit UUID"
    case 0x21: "Service Data - 128-bit UUID"
    case 0x24: "URI"
    case 0x2F: "Advertising Interval - long"
    case 0x30: "Broadcast Code"
    case 0x31: "Encrypted Data"
    case 0xFF: "Manufacturer Specific Data"
    default: "0x" + String(rawValue, radix: 16, uppercase: true)
    }
  }
}
