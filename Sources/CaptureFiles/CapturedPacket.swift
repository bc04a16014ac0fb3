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
    guard contents == .h4 || contents == .h4WithDirection else { return nil }
    let start = contents == .h4 ? start : start &+ 4
    return unsafe AdvertisingEvent.onlyReport(read, from: start, to: end)
  }
}

/// A packet's link type, in a form that is quick to compare.
enum PacketContents: BitwiseCopyable {
  case h4, h4WithDirection, h1, btsnoopMonitor, linuxMonitor
  case linkLayer, linkLayerWithRadio, nordic
  case unsupported

  init(_ linkType: LinkType) {
    switch linkType {
    case .hciH4: self = .h4
    case .hciH4WithDirection: self = .h4WithDirection
    case .hciH1: self = .h1
    case .btsnoopMonitor: self = .btsnoopMonitor
    case .linuxMonitor: self = .linuxMonitor
    case .linkLayer: self = .linkLayer
    case .linkLayerWithRadio: self = .linkLayerWithRadio
    case .nordic: self = .nordic
    default: self = .unsupported
    }
  }
}

/// An item of a file that must be read as a whole.
struct Need {
  var what: String
  var bytes: Int
  /// Whether a part of the item has been skipped.
  var isInsideRecord = false
}

/// The maximum size of a packet: libpcap's MAXIMUM_SNAPLEN.
let longestPacket = 262_144
