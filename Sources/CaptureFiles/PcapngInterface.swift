import Bytes
import Scanning

/// An Interface Description Block.
///
/// ```
/// link type (2) | reserved (2) | snap length | options: code (2) | length (2) | value, padded | …
/// ```
struct PcapngInterface {
  let linkType: LinkType
  let contents: PacketContents
  /// The number in the interface's name (`hci1`, `bluetooth1`), else the interface's number.
  private(set) var adapter: UInt16
  /// The maximum size of a captured packet; 0 for no limit.
  let snapLength: Int
  /// The time stamps' unit: `ticks` of them (`if_tsresol`) are `nanoseconds`.
  private var unit = (ticks: 1 as UInt128, nanoseconds: 1000 as Int64)
  private var offset: Int64 = 0

  init(parsing cursor: inout ByteCursor, bigEndian: Bool, number: Int) throws(ParseError) {
    adapter = UInt16(clamping: number)
    linkType = LinkType(rawValue: UInt64(try cursor.read(UInt16.self, bigEndian: bigEndian)))
    contents = PacketContents(linkType)
    try cursor.skip(2)
    snapLength = Int(try cursor.read(UInt32.self, bigEndian: bigEndian))
    while cursor.remaining >= 4 {
      let code = try cursor.read(UInt16.self, bigEndian: bigEndian)
      let length = Int(try cursor.read(UInt16.self, bigEndian: bigEndian))
      if code == 0 { break }  // opt_endofopt
      let offset = cursor.offset
      var value = ByteCursor(try cursor.read(length), base: offset)
      try cursor.skip(min(-length & 3, cursor.remaining))
      switch code {
      case 2: adapter = Self.adapter(named: value.rest) ?? adapter  // if_name
      case 9: unit = Self.unit(tsresol: try value.readUInt8())  // if_tsresol
      case 14: self.offset = try value.read(Int64.self, bigEndian: bigEndian)  // if_tsoffset
      default: break
      }
    }
  }

  private static func adapter(named name: RawSpan) -> UInt16? {
    let text = unsafe name.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    for prefix in ["hci", "bluetooth"] where text.hasPrefix(prefix) {
      return UInt16(text.dropFirst(prefix.count).prefix { $0 != "\0" })
    }
    return nil
  }

  /// The duration of a tick if time stamps count whole nanoseconds from 1970, as nearly all do.
  var nanosecondsPerTick: Int64? {
    offset == 0 && unit.ticks == 1 ? unit.nanoseconds : nil
  }

  /// Converts a time stamp; saturates.
  func time(ofTicks ticks: UInt64) -> WallClockTime {
    // 64 bits and the at most 30 of the nanoseconds fit.
    let product = UInt128(ticks) * UInt128(unit.nanoseconds)
    // Nearly all files have whole nanoseconds, which need no division.
    let nanoseconds = Int64(clamping: unit.ticks == 1 ? product : product / unit.ticks)
    guard offset != 0 else { return WallClockTime(nanoseconds: nanoseconds) }
    let shift = offset.multipliedReportingOverflow(by: WallClockTime.nanosecondsPerSecond)
    return WallClockTime(nanoseconds: nanoseconds)
      .advanced(by: shift.overflow ? (offset > 0 ? .max : .min) : shift.partialValue)
  }

  private static func unit(tsresol value: UInt8) -> (ticks: UInt128, nanoseconds: Int64) {
    let exponent = Int(value & 0x7F)
    if value & 0x80 != 0 { return (1 << exponent, WallClockTime.nanosecondsPerSecond) }
    if exponent <= 9 { return (1, (exponent..<9).reduce(1) { power, _ in power * 10 }) }
    // 64 bits of ticks finer than 10⁻²⁸ s span less than 1 ns.
    return ((9..<min(exponent, 28)).reduce(1) { power, _ in power * 10 }, 1)
  }
}
