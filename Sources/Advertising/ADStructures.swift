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

  @inlinable @inline(__always)
  package var data: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: start, count: count) }
  }
}

/// Walks the AD structures of one advert.
///
/// ```
/// Length | AD Type | AD Data (Length − 1) | Length | …
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

  /// Returns the next structure, or `nil` after the last. Throws at one that runs past the data.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func next() throws(ParseError) -> ADStructure? {
    let start = position
    guard start < end else { return nil }
    // All reads lie before `end`, which is at most the number of bytes.
    let length = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start))
    guard length > 0 else { return nil }
    let next = start &+ 1 &+ length
    guard next <= end else {
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
package struct ADType: RawRepresentable, Hashable, Sendable, BitwiseCopyable,
  CustomStringConvertible
{
  @usableFromInline
  package var rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable
  package static var manufacturerSpecificData: ADType { ADType(rawValue: 0xFF) }
  @inlinable
  package static var serviceData16: ADType { ADType(rawValue: 0x16) }
  @inlinable
  package static var flags: ADType { ADType(rawValue: 0x01) }

  /// The name in the Assigned Numbers, or the value in hexadecimal.
  @usableFromInline
  package var description: String {
    Self.names[rawValue] ?? "0x" + String(rawValue, radix: 16, uppercase: true)
  }

  private static let names: [UInt8: String] = [
    0x01: "Flags", 0x02: "Incomplete List of 16-bit Service UUIDs",
    0x03: "Complete List of 16-bit Service UUIDs",
    0x04: "Incomplete List of 32-bit Service UUIDs",
    0x05: "Complete List of 32-bit Service UUIDs",
    0x06: "Incomplete List of 128-bit Service UUIDs",
    0x07: "Complete List of 128-bit Service UUIDs", 0x08: "Shortened Local Name",
    0x09: "Complete Local Name", 0x0A: "Tx Power Level", 0x0D: "Class of Device",
    0x10: "Device ID", 0x12: "Peripheral Connection Interval Range",
    0x14: "List of 16-bit Service Solicitation UUIDs",
    0x15: "List of 128-bit Service Solicitation UUIDs", 0x16: "Service Data - 16-bit UUID",
    0x17: "Public Target Address", 0x18: "Random Target Address", 0x19: "Appearance",
    0x1A: "Advertising Interval", 0x1B: "LE Bluetooth Device Address", 0x1C: "LE Role",
    0x20: "Service Data - 32-bit UUID", 0x21: "Service Data - 128-bit UUID", 0x24: "URI",
    0x2F: "Advertising Interval - long", 0x30: "Broadcast Code", 0x31: "Encrypted Data",
    0xFF: "Manufacturer Specific Data",
  ]
}
