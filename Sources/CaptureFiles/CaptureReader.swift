import Advertising
import Bytes
package import Scanning

/// A reader that turns the packets of one capture into sightings. Memory is a buffer of 576 KiB.
package final class CaptureReader {
  package let name: String
  package let size: Int?
  private let follows: Bool
  private let firstAdapter: UInt16
  private var stream: ByteStream
  private var timeline: Timeline
  private var format = OpenFormat.unknown
  private var handover: PacketHandover?

  /// The number of sightings in a batch, which fit in a processor's first-level cache.
  static let batch = 512
  let batch: Int
  /// The maximum number of frames in one report of at most 255 bytes, which was not joined.
  static let maximumFrames = 255 / 27

  /// Opens a capture; the path `-` is standard input. `firstAdapter` is added to adapter numbers.
  /// With `follows`, the end of the file is not final. `duration` is in nanoseconds from the first
  /// packet; `nil` for all. The tap receives every HCI packet when it is read.
  package init(
    path: String, firstAdapter: UInt16 = 0, follows: Bool = false, duration: Int64? = nil,
    batch: Int = CaptureReader.batch, packetTap: PacketTap? = nil
  ) throws(CaptureError) {
    self.batch = batch
    self.follows = follows
    self.firstAdapter = firstAdapter
    let file = try FileSource(path: path)
    name = file.name
    size = file.size
    handover = packetTap.map { PacketHandover(to: $0, firstAdapter: firstAdapter) }
    timeline = Timeline(duration: duration)
    stream = ByteStream(file)
  }

  var firstTime: MonotonicTime? { timeline.first }
  var time: MonotonicTime { timeline.now }
  var wallClockOffset: WallClockOffset { timeline.wallClockOffset }

  /// Reads until the collector has some sightings, or one read of the file is decoded, without
  /// waiting for a pipe. Throws at the first invalid byte, after everything before it was
  /// collected.
  package func read(into collector: inout SightingCollector) throws(CaptureError) -> ReadingProgress
  {
    if try drain(into: &collector) { return .more }
    if timeline.isOver { return .end }
    switch try stream.fill() {
    case .bytes:
      _ = try drain(into: &collector)
      return timeline.isOver ? .end : .more
    case .nothing: return .caughtUp
    case .end where follows: return .caughtUp
    case .end:
      try checkEnd()
      return .end
    }
  }

  func wait() { stream.wait() }

  package func status(_ counts: ScanCounts) -> CaptureStatus {
    CaptureStatus(
      name: name, size: size, formatName: format.name,
      namesAdapters: format.linkTypes.contains(where: \.namesAdapters),
      bytesRead: stream.bytesRead, disordered: timeline.disordered, stepsBack: timeline.stepsBack,
      firstTime: firstTime, time: time, wallClockOffset: wallClockOffset, counts: counts)
  }

  /// Decodes the bytes read so far; returns `true` if the batch is full, so more may be left.
  private func drain(into collector: inout SightingCollector) throws(CaptureError) -> Bool {
    if case .unknown = format { try findFormat() }
    format.passOver(&stream)
    var batch = Batch(
      timeline: timeline, handover: handover, firstAdapter: firstAdapter,
      first: collector.sightings.count, size: batch)
    let drained = Self.drain(stream, &format, &batch, into: &collector)
    timeline = batch.timeline
    handover = batch.handover
    let start = stream.offset
    stream.consume(drained.consumed)
    switch drained.end {
    case .bytes, .limit: return false
    case .batch: return true
    case .foreign: throw unsupported(format.linkTypes.first)
    case .damage(let error):
      throw CaptureError(
        file: stream.name, problem: .damaged("\(error.reason)"), offset: start + error.offset)
    }
  }

  private enum End {
    case bytes, batch, limit, foreign
    case damage(ParseError)
  }

  /// Decodes packets. The loop is repeated for each format because a call for each packet would
  /// take a third of the time.
  private static func drain(
    _ stream: borrowing ByteStream, _ format: inout OpenFormat, _ batch: inout Batch,
    into collector: inout SightingCollector
  ) -> (consumed: Int, end: End) {
    let bytes = stream.unread
    var position = 0
    do throws(ParseError) {
      switch format {
      case .unknown: break
      case .btsnoop(let reader):
        try batch.fill(&collector, from: bytes) { run, output throws(ParseError) in
          var cursor = ByteCursor(bytes, from: position)
          defer { position = cursor.position }
          while run.hasRoom(output), let packet = try reader.next(&cursor) {
            guard run.decode(packet, in: bytes, &output) else { return (packet, false) }
          }
          return nil
        }
      case .pcap(let reader):
        try batch.fill(&collector, from: bytes) { run, output throws(ParseError) in
          var cursor = ByteCursor(bytes, from: position)
          defer { position = cursor.position }
          while run.hasRoom(output), let packet = try reader.next(&cursor) {
            guard run.decode(packet, in: bytes, &output) else { return (packet, false) }
          }
          return nil
        }
      case .pcapng(var reader):
        defer { format = .pcapng(reader) }
        try batch.fill(&collector, from: bytes) { run, output throws(ParseError) in
          var cursor = ByteCursor(bytes, from: position)
          defer { position = cursor.position }
          while run.hasRoom(output), let packet = try reader.next(&cursor) {
            guard run.decode(packet, in: bytes, &output) else { return (packet, reader.isForeign) }
          }
          return nil
        }
      }
    } catch {
      return (position, .damage(error))
    }
    return (batch.place ?? position, batch.end)
  }

  /// A fast path, in registers, for nearly all packets: events with one whole report, in order.
  private struct Run {
    fileprivate var course: Timeline.Course
    fileprivate let firstAdapter: UInt16
    fileprivate let limit: Int
    fileprivate(set) var packets = 0
    fileprivate(set) var malformedStructures = 0
    fileprivate(set) var malformedFrames = 0

    @inline(__always)
    func hasRoom(_ output: borrowing OutputSpan<Sighting>) -> Bool { output.count < limit }

    /// Decodes a packet as ``Batch/decode(_:in:into:)`` would; `false` if it is not of this kind.
    @inline(__always)
    mutating func decode(
      _ packet: CapturedPacket, in read: RawSpan, _ output: inout OutputSpan<Sighting>
    ) -> Bool {
      guard let report = packet.onlyReport(in: read), course.advance(to: packet.time) else {
        return false
      }
      packets &+= 1
      var frames = unsafe IBeaconFrames(read, report)
      while let found = frames.next() {
        switch found {
        case .success(let frame):
          output.append(
            Sighting(
              frame, report, time: course.now, wallTime: packet.time,
              adapter: firstAdapter &+ packet.adapter))
        case .failure(.malformedIBeacon): malformedFrames &+= 1
        case .failure: malformedStructures &+= 1
        }
      }
      return true
    }
  }

  private struct Batch {
    var timeline: Timeline
    var handover: PacketHandover?
    let firstAdapter: UInt16
    let first: Int
    let size: Int
    var end = End.bytes
    /// The start of the packet that is left for the next batch.
    var place: Int?

    /// Decodes packets until none is left or the batch is full, one by one where a run stops.
    ///
    /// A run returns the packet that stopped it, and whether no packet so far can be decoded,
    /// although the file header allowed it.
    @inline(__always)
    mutating func fill(
      _ collector: inout SightingCollector, from read: RawSpan,
      _ decode: (inout Run, inout OutputSpan<Sighting>) throws(ParseError) -> (
        packet: CapturedPacket, isForeign: Bool
      )?
    ) throws(ParseError) {
      while true {
        let isUsual = handover == nil && collector.receivesWholeReports
        var sightings: [Sighting] = []
        swap(&sightings, &collector.sightings)
        let before = sightings.count
        let room = first &+ size &- before
        var run = Run(
          course: isUsual ? timeline.course : .none, firstAdapter: firstAdapter, limit: room)
        var other: (packet: CapturedPacket, isForeign: Bool)?
        do {
          defer {
            if run.packets > 0 { timeline.follow(run.course) }
            collector.count(
              packets: run.packets, sightings: sightings.count &- before,
              malformedStructures: run.malformedStructures, malformedFrames: run.malformedFrames)
            swap(&sightings, &collector.sightings)
          }
          try sightings.append(addingCapacity: room &+ CaptureReader.maximumFrames) {
            output throws(ParseError) in
            other = try decode(&run, &output)
          }
        }
        guard collector.sightings.count &- before < room else { return end = .batch }
        guard let other, self.decode(other.packet, in: read, into: &collector) else { return }
        if other.isForeign { return end = .foreign }
      }
    }

    /// Decodes a packet that is due in this batch; returns whether the batch has room for more.
    @inline(never)
    mutating func decode(
      _ packet: CapturedPacket, in read: RawSpan, into collector: inout SightingCollector
    ) -> Bool {
      // A clock that was set back begins a new batch.
      guard
        let time = timeline.place(packet.time, mayStep: collector.sightings.count == first)
      else {
        place = packet.record
        end = .batch
        return false
      }
      guard !timeline.isOver else {
        end = .limit
        return false
      }
      collector.time = time
      collector.wallTime = packet.time
      handover?.hand(packet, in: read)
      PacketDecoder.decode(packet, in: read, firstAdapter: firstAdapter, into: &collector)
      guard collector.sightings.count &- first >= size else { return true }
      end = .batch
      return false
    }
  }

  private func findFormat() throws(CaptureError) {
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
    if let linkType = found.linkTypes.first, !linkType.isSupported { throw unsupported(linkType) }
    stream.consume(consumed)
    format = found
  }

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

/// The progress of reading a capture, with the counts of its contents.
package struct CaptureStatus: Sendable {
  package var name: String
  package var size: Int?
  /// The format and link types, for display; `nil` before the file header is read.
  package var formatName: String?
  /// Whether packets contain their adapter's number, as those of Linux's monitor do.
  package var namesAdapters = false
  package var bytesRead = 0
  /// The packets with a time stamp up to a second before the previous one, whose time they get.
  package var disordered = 0
  /// The number of longer steps back of the recording's clock. Time continues from there.
  package var stepsBack = 0
  package var firstTime: MonotonicTime?
  package var time = MonotonicTime(nanoseconds: .min)
  package var wallClockOffset = WallClockOffset.zero
  package var counts = ScanCounts()
}
