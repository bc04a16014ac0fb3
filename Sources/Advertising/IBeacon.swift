public import Bytes

/// An iBeacon frame: the manufacturer-specific data that Apple's Proximity Beacon Specification
/// (release R1) defines.
///
/// ```
///  0    1    2    3    4 … 19            20  21  22  23  24
/// +----+----+----+----+-----------------+---+---+---+---+-------+
/// | 4C | 00 | 02 | 15 | proximity UUID  | major | minor | power |
/// +----+----+----+----+-----------------+---+---+---+---+-------+
///  company   type len   big-endian        big-endian      signed
/// ```
@frozen
public struct IBeacon: Hashable, Sendable, BitwiseCopyable {
  /// The beacon's identity.
  public var identity: BeaconIdentity
  /// The signal strength at 1 m in dBm that the beacon states, even if it is implausible.
  public var measuredPower: Int8
  /// Whether one byte follows the 25, which some makers append for the battery's charge.
  public var hasTrailingByte: Bool

  /// Creates a frame.
  @inlinable
  public init(identity: BeaconIdentity, measuredPower: Int8, hasTrailingByte: Bool = false) {
    self.identity = identity
    self.measuredPower = measuredPower
    self.hasTrailingByte = hasTrailingByte
  }

  /// The company identifier 0x004C (Apple), the type 0x02 and the length 0x15, as on the wire.
  @inlinable
  static var prefix: UInt32 { 0x1502_004C }  // little-endian

  /// The length of a frame's manufacturer-specific data in bytes, with the company identifier.
  @inlinable
  public static var byteCount: Int { 25 }

  @usableFromInline
  package enum Reading: Hashable, Sendable, BitwiseCopyable {
    case frame(IBeacon)
    case other
    /// Apple's beacon type with a length that is not an iBeacon's.
    case malformed
  }

  /// Reads manufacturer-specific data of 25 bytes, or 26: other receivers accept an appended byte,
  /// so a kiosk should see such a beacon. Any other length or length byte is malformed.
  @inlinable @inline(__always)
  package static func read(manufacturerData data: RawSpan) -> Reading {
    unsafe read(data, from: 0, count: data.byteCount)
  }

  @inlinable @inline(__always)
  package static func read(_ structure: ADStructure) -> Reading {
    unsafe read(structure.bytes, from: structure.start, count: structure.count)
  }

  @inlinable @inline(__always)
  @unsafe
  static func read(_ data: RawSpan, from start: Int, count: Int) -> Reading {
    // The caller has checked the bounds.
    guard count >= 4 else { return .other }
    // Each load lies within a count that was checked.
    let word = unsafe data.littleEndian(UInt32.self, unchecked: start)
    guard word == prefix, count >= byteCount, count <= byteCount &+ 1 else {
      return word & 0x00FF_FFFF == prefix & 0x00FF_FFFF ? .malformed : .other
    }
    return unsafe .frame(IBeacon(data, unchecked: start, hasTrailingByte: count > byteCount))
  }

  /// Reads a frame of 25 bytes, whose bounds the caller has checked, without its prefix.
  @inlinable @inline(__always)
  @unsafe
  init(_ data: RawSpan, unchecked start: Int, hasTrailingByte: Bool) {
    let uuid = unsafe ProximityUUID(
      high: data.littleEndian(UInt64.self, unchecked: start &+ 4).byteSwapped,
      low: data.littleEndian(UInt64.self, unchecked: start &+ 12).byteSwapped)
    let identity = unsafe BeaconIdentity(
      uuid: uuid, major: data.littleEndian(UInt16.self, unchecked: start &+ 20).byteSwapped,
      minor: data.littleEndian(UInt16.self, unchecked: start &+ 22).byteSwapped)
    self.init(
      identity: identity,
      measuredPower: unsafe data.littleEndian(Int8.self, unchecked: start &+ 24),
      hasTrailingByte: hasTrailingByte)
  }

  /// The frame as manufacturer-specific data: 25 bytes from the company identifier on.
  package var manufacturerData: [UInt8] {
    var bytes: [UInt8] = [0x4C, 0x00, 0x02, 0x15]
    bytes.reserveCapacity(Self.byteCount)
    for word in [identity.uuid.high, identity.uuid.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    for number in [identity.major, identity.minor] {
      bytes.append(UInt8(number >> 8))
      bytes.append(UInt8(number & 0xFF))
    }
    bytes.append(UInt8(bitPattern: measuredPower))
    return bytes
  }

  /// The whole advert in Apple's specification: Flags, then the frame; 30 bytes.
  package var advertisingData: [UInt8] {
    // LE General Discoverable Mode, BR/EDR Not Supported.
    [0x02, 0x01, 0x06, 0x1A, 0xFF] + manufacturerData
  }
}

/// An iterator over the iBeacon frames and the malformed structures of one report.
@usableFromInline
package struct IBeaconFrames: ~Escapable {
  @usableFromInline
  var structures: ADStructures

  /// Starts at the first structure of a report, which must lie within the bytes.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  @unsafe
  package init(_ bytes: RawSpan, _ report: AdvertisingReportFields) {
    structures = unsafe ADStructures(bytes, report)
  }

  /// Returns the next frame or refusal, or `nil` after the last structure.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func next() -> Result<IBeacon, Refusal>? {
    if let frame = structures.nextUsualFrame() { return .success(frame) }
    do throws(ParseError) {
      while let structure = try structures.next() {
        guard structure.type == .manufacturerSpecificData else { continue }
        switch IBeacon.read(structure) {
        case .frame(let frame): return .success(frame)
        case .malformed: return .failure(.malformedIBeacon)
        case .other: break
        }
      }
      return nil
    } catch {
      return .failure(.malformedADStructure)
    }
  }
}

extension ADStructures {
  /// Returns the frame of the usual advert, which is Flags and a frame, in one comparison; `nil`,
  /// without moving, for all others.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  mutating func nextUsualFrame() -> IBeacon? {
    // 02 01 flags | 1A FF 4C 00 02 15 … : 30 bytes, so each load lies before the end.
    guard end &- position == 30,
      unsafe bytes.littleEndian(UInt64.self, unchecked: position) & 0xFFFF_FFFF_FF00_FFFF
        == 0x0200_4CFF_1A00_0102,
      unsafe bytes.littleEndian(UInt8.self, unchecked: position &+ 8) == 0x15
    else { return nil }
    defer { position = end }
    return unsafe IBeacon(bytes, unchecked: position &+ 5, hasTrailingByte: false)
  }
}
