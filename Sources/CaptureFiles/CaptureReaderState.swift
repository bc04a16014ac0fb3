import Bytes
import Scanning

/// A reader's values, apart from its class, so that the loop over the packets has them to itself.
struct CaptureReaderState: ~Copyable {
  private var stream: ByteStream
  private(set) var timeline: Timeline
  private var format = OpenFormat.unknown
  private var handover: PacketHandover?

  /// A batch is handed over when it has this many sightings.
  private static let batch = 1024

  init(stream: consuming ByteStream, duration: Int64?, packetTap: PacketTap?) {
    handover = packetTap.map { PacketHandover(to: $0) }
    self.stream = stream
    timeline = Timeline(duration: duration)
  }

  /// What the file is, for people; `nil` before its header is read.
  var formatName: String? { format.name }
  var namesAdapters: Bool { format.namesAdapters }

  /// How many bytes of the file have been read.
  var bytesRead: Int { stream.bytesRead }

  /// See ``CaptureReader/read(into:)``.
  mutating func read(into collector: inout SightingCollector, follows: Bool) throws(CaptureError)
    -> CaptureReader.Progress
  {
    if try drain(into: &collector) { return .more }
    if timeline.isOver { return .end }
    if try stream.fill() {
      _ = try drain(into: &collector)
      return timeline.isOver ? .end : .more
    }
    if follows { return .caughtUp }
    try checkEnd()
    return .end
  }

  /// Decodes what is there.
  ///
  /// - Returns: Whether the batch is full, so that more may be there.
  private mutating func drain(into collector: inout SightingCollector) throws(CaptureError) -> Bool
  {
    if case .unknown = format { try findFormat() }
    format.passOver(&stream)
    let drained = Self.drain(stream, &format, &timeline, &handover, into: &collector)
    let start = stream.offset
    stream.consume(drained.consumed)
    switch drained.end {
    case .bytes, .limit: return false
    case .batch: return true
    case .foreign: throw unsupported(format.firstLinkType)
    case .damage(let error):
      throw CaptureError(
        file: stream.name, problem: .damaged("\(error.reason)"), offset: start + error.offset)
    }
  }

  /// Why a run over the packets ended.
  private enum End {
    case bytes
    case batch
    case limit
    case foreign
    case damage(ParseError)
  }

  /// The loop over the packets. It stands here once for each format because a call through a
  /// protocol for each packet is a third of the whole time.
  private static func drain(
    _ stream: borrowing ByteStream, _ format: inout OpenFormat, _ timeline: inout Timeline,
    _ handover: inout PacketHandover?, into collector: inout SightingCollector
  ) -> (consumed: Int, end: End) {
    var cursor = ByteCursor(stream.unread)
    do throws(ParseError) {
      switch format {
      case .unknown: break
      case .btsnoop(let reader):
        while let packet = try reader.next(&cursor) {
          guard decode(packet, &timeline, &handover, into: &collector) else {
            return (cursor.position, .limit)
          }
          if collector.sightings.count >= batch { return (cursor.position, .batch) }
        }
      case .pcap(let reader):
        while let packet = try reader.next(&cursor) {
          guard decode(packet, &timeline, &handover, into: &collector) else {
            return (cursor.position, .limit)
          }
          if collector.sightings.count >= batch { return (cursor.position, .batch) }
        }
      case .pcapng(var reader):
        defer { format = .pcapng(reader) }
        while let packet = try reader.next(&cursor) {
          guard decode(packet, &timeline, &handover, into: &collector) else {
            return (cursor.position, .limit)
          }
          if collector.sightings.count >= batch { return (cursor.position, .batch) }
          if !reader.hasSupportedPackets { return (cursor.position, .foreign) }
        }
      }
    } catch {
      return (cursor.position, .damage(error))
    }
    return (cursor.position, .bytes)
  }

  /// Decodes one packet, unless the replay is to end before it.
  @inline(__always)
  private static func decode(
    _ packet: CapturedPacket, _ timeline: inout Timeline, _ handover: inout PacketHandover?,
    into collector: inout SightingCollector
  ) -> Bool {
    let time = timeline.place(packet.time)
    guard !timeline.isOver else { return false }
    collector.time = time
    collector.wallTime = packet.time
    handover?.hand(packet)
    PacketDecoder.decode(packet, into: &collector)
    return true
  }

  /// Tells the format by the first bytes, once enough of them are there.
  private mutating func findFormat() throws(CaptureError) {
    let found: OpenFormat
    let consumed: Int
    do throws(ParseError) {
      var cursor = ByteCursor(stream.unread)
      found = try OpenFormat(parsing: &cursor)
      consumed = cursor.position
    } catch {
      if error.reason == .invalid(OpenFormat.notACapture) {
        throw CaptureError(file: stream.name, problem: .notACapture)
      }
      throw CaptureError(
        file: stream.name, problem: .damaged("\(error.reason)"), offset: error.offset)
    }
    if let linkType = found.linkType, !linkType.isSupported {
      throw unsupported(linkType)
    }
    stream.consume(consumed)
    format = found
  }

  /// The file is over: is it over between two records?
  private func checkEnd() throws(CaptureError) {
    let available = stream.unread.byteCount
    let need = format.need(at: ByteCursor(stream.unread))
    if case .unknown = format, need.bytes == 0 {
      throw CaptureError(file: stream.name, problem: available == 0 ? .empty : .notACapture)
    }
    guard available > 0 || need.isInsideRecord else { return }
    throw CaptureError(
      file: stream.name,
      problem: .cutShort(need.what, needed: need.bytes, available: available),
      offset: stream.offset)
  }

  private func unsupported(_ linkType: LinkType?) -> CaptureError {
    CaptureError(
      file: stream.name, problem: .unsupportedLinkType(linkType?.description ?? "of no link type"))
  }
}
