import Advertising
import Bytes
import HCIPackets
import Scanning

/// The position of a packet, without its bytes, which a loop over packets keeps in registers.
struct CapturedPacket: BitwiseCopyable {
  var time: WallClockTime
  var contents: PacketContents
  /// btsnoop's Packet Flags; 0 in other formats.
  var flags: UInt32
  /// The adapter, if the file's structure names it rather than the packet itself.
  var adapter: UInt16
  /// The start of the record, and the start and end of the packet.
  let record, start, end: Int

  /// Creates the position of a packet. The caller must have compared its end with the length.
  @inline(__always)
  @unsafe
  init(
    time: WallClockTime, contents: PacketContents, flags: UInt32 = 0, adapter: UInt16 = 0,
    record: Int, from start: Int, count: Int
  ) {
    self.time = time
    self.contents = contents
    self.flags = flags
    self.adapter = adapter
    self.record = record
    self.start = start
    end = start &+ count
  }

  @_lifetime(copy read)
  func bytes(in read: RawSpan) -> RawSpan {
    unsafe read.part(unchecked: start, count: end &- start)
  }

  /// Returns the report of an HCI event with exactly one whole report, else `nil`.
  @inline(__always)
  func onlyReport(in read: RawSpan) -> AdvertisingReportFields? {
    unsafe AdvertisingEvent.onlyReport(read, from: start &+ contents.lengthBeforeH4, to: end)
  }
}

/// A packet's link type, quick to compare. The raw values are those of ``LinkType``.
enum PacketContents: UInt64, BitwiseCopyable {
  /// HCI, preceded by the H4 packet type.
  case h4 = 187
  /// A direction of four octets, followed by the contents of ``h4``.
  case h4WithDirection = 201
  /// A link-layer packet from its access address to its CRC.
  case linkLayer = 251
  /// Linux's monitor: adapter and opcode, followed by the packet.
  case linuxMonitor = 254
  /// A header with channel, signal and flags, followed by the contents of ``linkLayer``.
  case linkLayerWithRadio = 256
  case nordic = 272
  /// btsnoop datalink 1001: HCI, with the packet type in the record's flags.
  case h1 = 0x1_0000_03E9
  /// btsnoop datalink 2001: Linux's monitor, with adapter and opcode in the record's flags.
  case btsnoopMonitor = 0x1_0000_07D1
  case unsupported = 0xFFFF_FFFF_FFFF_FFFF

  /// The number of octets before the H4 packet type; beyond any packet if there is none.
  @inline(__always)
  var lengthBeforeH4: Int { self == .h4 ? 0 : self == .h4WithDirection ? 4 : 1 << 32 }

  init(_ linkType: LinkType) { self = Self(rawValue: linkType.rawValue) ?? .unsupported }
}

/// A reader of the records of one format, after the file's header.
protocol RecordReader {
  static var formatName: String { get }
  /// The link types of the packets so far, each once.
  var linkTypes: [LinkType] { get }
  /// Returns what is missing after the last packet.
  func need(at cursor: borrowing ByteCursor) -> Need
}

struct Need {
  var what: String
  var bytes: Int
  var isInsideRecord = false
}

/// The maximum size of a packet: libpcap's MAXIMUM_SNAPLEN.
let longestPacket = 262_144
