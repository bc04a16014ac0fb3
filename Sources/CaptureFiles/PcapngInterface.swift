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
  fileprivate var resolution = Resolution.decimal(nanosecondsPerTick: 1000)
  private var offset: Int64 = 0

  /// The duration of a tick of the time stamps (`if_tsresol`).
  fileprivate enum Resolution {
    /// 10⁻⁹ s or coarser.
    case decimal(nanosecondsPerTick: Int64)
    /// Finer than 10⁻⁹ s.
    case fineDecimal(ticksPerNanosecond: UInt64)
    /// 2⁻ⁿ s.
    case binary(exponent: UInt64)
  }

  init(parsing cursor: inout ByteCursor, bigEndian: Bool, number: Int) throws(ParseError) {
    adapter = UInt16(clamping: number)
    linkType = LinkType(rawValue: UInt64(try cursor.readUInt16(bigEndian: bigEndian)))
    contents = PacketContents(linkType)
    try cursor.skip(2)
    snapLength = Int(try cursor.readUInt32(bigEndian: bigEndian))
    while cursor.remaining >= 4 {
      let code = try cursor.readUInt16(bigEndian: bigEndian)
      let length = Int(try cursor.readUInt16(bigEndian: bigEndian))
      if code == 0 { break }  // opt_endofopt
      let offset = cursor.offset
      var value = ByteCursor(try cursor.read(length), base: offset)
      try cursor.skip(min(-length & 3, cursor.remaining))
      switch code {
      case 2: adapter = Self.adapter(named: value.rest) ?? adapter  // if_name
      case 9: resolution = Resolution(tsresol: try value.readUInt8())  // if_tsresol
      case 14:  // if_tsoffset
        let raw = try value.readLittleEndian(Int64.self)
        self.offset = bigEndian ? raw.byteSwapped : raw
      default: break
      }
    }
  }

  /// Returns the N of `hciN`, Linux's name for an adapter, or of `bluetoothN`, libpcap's.
  private static func adapter(named name: RawSpan) -> UInt16? {
    let text = unsafe name.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    for prefix in ["hci", "bluetooth"] where text.hasPrefix(prefix) {
      return UInt16(text.dropFirst(prefix.count).prefix { $0 != "\0" })
    }
    return nil
  }

  /// The duration of a tick if time stamps count whole nanoseconds from 1970, as nearly all do.
  var nanosecondsPerTick: Int64? {
    guard offset == 0, case .decimal(let nanosecondsPerTick) = resolution else { return nil }
    return nanosecondsPerTick
  }

  /// Converts a time stamp; saturates.
  func time(ofTicks ticks: UInt64) -> WallClockTime {
    let nanoseconds: Int64
    switch resolution {
    case .decimal(let nanosecondsPerTick):
      let product = Int64(clamping: ticks).multipliedReportingOverflow(by: nanosecondsPerTick)
      nanoseconds = product.overflow ? .max : product.partialValue
    case .fineDecimal(let ticksPerNanosecond):
      nanoseconds = Int64(clamping: ticks / ticksPerNanosecond)
    case .binary(let exponent):
      let product = ticks.multipliedFullWidth(by: UInt64(WallClockTime.nanosecondsPerSecond))
      let wide = UInt128(product.high) << 64 | UInt128(product.low)
      nanoseconds = Int64(clamping: wide >> UInt128(exponent))
    }
    guard offset != 0 else { return WallClockTime(nanoseconds: nanoseconds) }
    let shift = offset.multipliedReportingOverflow(by: WallClockTime.nanosecondsPerSecond)
    return WallClockTime(nanoseconds: nanoseconds)
      .advanced(by: shift.overflow ? (offset > 0 ? .max : .min) : shift.partialValue)
  }
}

extension PcapngInterface.Resolution {
  init(tsresol value: UInt8) {
    let exponent = UInt64(value & 0x7F)
    if value & 0x80 != 0 {
      self = .binary(exponent: exponent)
    } else if exponent <= 9 {
      self = .decimal(nanosecondsPerTick: (0..<(9 - exponent)).reduce(1) { power, _ in power * 10 })
    } else {
      // 10¹⁹ is the largest power that fits. 64 bits of even finer ticks span less than 1 ns.
      let power = min(exponent - 9, 19)
      self = .fineDecimal(ticksPerNanosecond: (0..<power).reduce(1) { power, _ in power * 10 })
    }
  }
}
