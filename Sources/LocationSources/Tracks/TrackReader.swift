import Bytes
package import CaptureFiles
package import Positioning
package import Scanning

/// Reads one recorded track, of whatever format, from its beginning to its end: bytes in, fixes and compass readings out.
///
/// The first bytes determine the format, never a name; gzip is decompressed. Memory is that of a capture's reader (576 KiB)
/// and what one piece of 32 KiB brings, whatever the file's size.
package final class TrackReader {
  /// The file's name, or "standard input".
  package let name: String
  /// The file's size in bytes, where it has one.
  package let size: Int?
  private let follows: Bool
  private var stream: ByteStream
  private var decoder: TrackDecoder?
  private let duration: Int64?
  /// What was decoded behind a moment at which the track's clock was set.
  private var waiting: [(inputs: [PositionInput], wallClockOffset: WallClockOffset)] = []
  /// What is wrong behind all of it.
  private var failure: TrackError?

  private static let piece = 32 * 1024

  /// Opens a track; the path `-` is standard input. A file that is followed is still being written: its end is never
  /// final. The duration is in nanoseconds from the first fix on; `nil` for all.
  package init(path: String, follows: Bool = false, duration: Int64? = nil) throws(TrackError) {
    do throws(CaptureError) {
      let file = try FileSource(path: path)
      (name, size) = (file.name, file.size)
      stream = ByteStream(file)
    } catch {
      throw .file(error)
    }
    self.follows = follows
    self.duration = duration
  }

  /// The format; `nil` before enough has been read.
  package var format: TrackFormat? { decoder?.format }
  /// What was counted.
  package var counts: TrackCounts { decoder?.counts ?? TrackCounts() }
  /// How many bytes of the file have been read.
  package var bytesRead: Int { stream.bytesRead }
  /// The time of the first fix or reading.
  package var firstTime: MonotonicTime? { decoder?.firstTime }
  /// The distance from the replay's time to the track's wall-clock time, for all that the latest call appended.
  package private(set) var wallClockOffset = WallClockOffset.zero

  /// Reads a piece, and appends what it holds up to the next moment at which the track's clock was set. It does not wait for a
  /// pipe. It throws at the first byte that cannot be read; what stood before it is appended by then.
  package func read(into inputs: inout [PositionInput]) throws(TrackError) -> ReadingProgress {
    if !waiting.isEmpty {
      let run = waiting.removeFirst()
      inputs += run.inputs
      wallClockOffset = run.wallClockOffset
      return .more
    }
    if decoder?.isOver == true { return try end() }
    if decoder != nil, stream.unread.byteCount > 0 { return try decodePiece(into: &inputs) }
    let read: FileSource.Read
    do throws(CaptureError) { read = try stream.fill() } catch { throw .file(error) }
    switch read {
    case .nothing: return .caughtUp
    case .bytes: break
    case .end where follows: return .caughtUp
    case .end:
      if decoder == nil {
        guard stream.offset + stream.unread.byteCount > 0 else { throw .empty(file: name) }
        try detect(isWhole: true)
        return .more
      }
      if decoder?.finish(into: &inputs) == false { failure = .cutShort(file: name) }
      keep(&inputs)
      return try end()
    }
    if decoder == nil { try detect(isWhole: false) }
    return .more
  }

  /// Waits until more may be there, for a tenth of a second at most.
  package func wait() { stream.wait() }

  private func detect(isWhole: Bool) throws(TrackError) {
    switch RecordingFormat.detect(stream.unread, isWhole: isWhole) {
    case nil: break
    case .track(let format): decoder = TrackDecoder(format, duration: duration)
    case .capture: throw .capture(file: name)
    case .binary: throw .binary(file: name)
    case .unknown: throw .notATrack(file: name)
    }
  }

  private func decodePiece(
    into inputs: inout [PositionInput]
  ) throws(TrackError) -> ReadingProgress {
    let count = min(Self.piece, stream.unread.byteCount)
    let fault = decoder?.decode(stream.unread.extracting(first: count), into: &inputs)
    stream.consume(count)
    keep(&inputs)
    guard let fault else { return .more }
    failure = .damaged(file: name, rule: fault.rule, offset: fault.offset)
    return try end()
  }

  /// Keeps all but the first of the runs that were appended for calls of their own.
  private func keep(_ inputs: inout [PositionInput]) {
    guard let decoder, let first = decoder.runs.first else { return }
    wallClockOffset = first.wallClockOffset
    for run in decoder.runs.dropFirst().reversed() {
      waiting.insert((inputs.suffix(run.count), run.wallClockOffset), at: 0)
      inputs.removeLast(run.count)
    }
  }

  /// Ends the track where nothing waits.
  private func end() throws(TrackError) -> ReadingProgress {
    guard waiting.isEmpty else { return .more }
    if let failure { throw failure }
    return .end
  }
}

/// Reads a recorded track from its bytes, in pieces of any size.
package struct TrackDecoder {
  package let format: TrackFormat
  private var output: TrackOutput
  private var track: Track
  /// Whether nothing more is to be decoded.
  package private(set) var isOver = false
  /// The parts of what the latest call appended, each with its distance from the line of time to the track's clock.
  private(set) var runs: [TrackRun] = []

  private enum Track {
    case nmea(NMEATrack)
    case gpx(GPXTrack)
    case gpsd(GPSDTrack)
  }

  /// Begins a track, which ends so many nanoseconds after its first fix.
  package init(_ format: TrackFormat, duration: Int64? = nil) {
    self.format = format
    output = TrackOutput(duration: duration)
    track =
      switch format {
      case .nmea: .nmea(NMEATrack())
      case .gpx: .gpx(GPXTrack())
      case .gpsdJSON: .gpsd(GPSDTrack())
      }
  }

  /// What was counted.
  package var counts: TrackCounts { output.counts }
  /// The time of the first fix or reading.
  package var firstTime: MonotonicTime? { output.timeline.first }

  /// Decodes the next bytes, and appends what they complete.
  ///
  /// - Returns: The rule of the format that a byte breaks so that nothing more can be read, and that byte's offset.
  package mutating func decode(
    _ bytes: RawSpan, into inputs: inout [PositionInput]
  ) -> (rule: String, offset: Int)? {
    guard !isOver else { return nil }
    var fault: (rule: String, offset: Int)?
    switch track {
    case .nmea(var reader):
      reader.decode(bytes, into: &output)
      track = .nmea(reader)
    case .gpx(var reader):
      fault = reader.decode(bytes, into: &output)
      track = .gpx(reader)
    case .gpsd(var reader):
      reader.decode(bytes, into: &output)
      track = .gpsd(reader)
    }
    take(&inputs)
    isOver = fault != nil || output.timeline.isOver
    return fault
  }

  /// Ends the bytes, and appends what they leave; returns whether the format allows an end there.
  package mutating func finish(into inputs: inout [PositionInput]) -> Bool {
    guard !isOver else { return true }
    isOver = true
    var isComplete = true
    switch track {
    case .nmea(var reader): reader.finish(into: &output)
    case .gpx(let reader): isComplete = reader.isComplete
    case .gpsd(var reader): reader.finish(into: &output)
    }
    take(&inputs)
    return isComplete
  }

  private mutating func take(_ inputs: inout [PositionInput]) {
    runs = output.take(&inputs)
  }
}
