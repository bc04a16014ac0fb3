import Advertising
import Bytes
import HCIPackets
import Scanning

/// One packet as a capture holds it: where it stands in the bytes that were read. It holds no bytes, so
/// that the loop over the packets keeps it in registers.
struct CapturedPacket: BitwiseCopyable {
  /// When it was recorded.
  var time: WallClockTime
  /// What it holds.
  var contents: PacketContents
  /// btsnoop's Packet Flags; 0 elsewhere.
  var flags: UInt32
  /// Which adapter it is of, where the file's structure says that and not the packet itself.
  var adapter: UInt16
  /// Where its record begins, and the packet begins and ends.
  let record, start, end: Int

  /// Makes a packet that stands in bytes whose end the caller has compared.
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

  /// What was captured of it, from the bytes in which it was found.
  @_lifetime(copy read)
  func bytes(in read: RawSpan) -> RawSpan {
    unsafe read.part(unchecked: start, count: end &- start)
  }

  /// The report of a packet that is an HCI event with one whole report; `nil` for any other packet.
  @inline(__always)
  func onlyReport(in read: RawSpan) -> AdvertisingReportFields? {
    guard contents == .h4 || contents == .h4WithDirection else { return nil }
    let start = contents == .h4 ? start : start &+ 4
    return unsafe AdvertisingEvent.onlyReport(read, from: start, to: end)
  }
}

/// What a packet holds: its link type, in a form that is quick to compare.
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

/// How much of a file stands together.
struct Need {
  /// What it is.
  var what: String
  /// How many bytes it has in all.
  var bytes: Int
  /// Whether some of it has been passed over already.
  var isInsideRecord = false
}

/// The longest packet that a capture may hold: libpcap's MAXIMUM_SNAPLEN.
let longestPacket = 262_144
