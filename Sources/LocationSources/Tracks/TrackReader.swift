package import CaptureFiles
package import Positioning
package import Scanning

/// A reader of one recorded track. Memory is 576 KiB and the contents of one piece of 32 KiB.
package final class TrackReader: Recording {
  package typealias Health = LocationHealth

  package let name: String
  package let size: Int?
  private let follows: Bool
  private var stream: ByteStream
  private var decoder: TrackDecoder?
  private let duration: Int64?
  /// Inputs decoded after a step of the track's clock, which later calls append.
  private var waiting: [(inputs: [PositionInput], wallClockOffset: WallClockOffset)] = []
  private var failure: TrackError?

  package var inputs: [PositionInput] = []
  package var next = 0
  private(set) var hasReading = false
  package private(set) var time = MonotonicTime(nanoseconds: .min)

  private static let piece = 32 * 1024

  /// Opens a track; the path `-` is standard input. With `follows`, its end is not final.
  /// `duration` is in nanoseconds from the first fix; `nil` for all.
  package init(path: String, follows: Bool = false, duration: Int64? = nil) throws(TrackError) {
    do throws(CaptureError) {
      let file = try FileSource(path: path)
      name = file.name
      size = file.size
      stream = ByteStream(file)
    } catch {
      throw .file(error)
    }
    self.follows = follows
    self.duration = duration
  }

  package var format: TrackFormat? { decoder?.format }
  package var counts: TrackCounts { decoder?.counts ?? TrackCounts() }
  package var bytesRead: Int { stream.bytesRead }
  package var firstTime: MonotonicTime? { decoder?.firstTime }
  package private(set) var wallClockOffset = WallClockOffset.zero

  /// Appends the inputs up to the next step of the track's clock, at most those of a piece, without
  /// waiting for a pipe. Throws at the first invalid byte, after everything before it is appended.
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

  package func read() throws -> ReadingProgress {
    defer {
      hasReading = hasReading || inputs.contains(where: \.isReading)
      time = inputs.last?.time ?? time
    }
    return try read(into: &inputs)
  }

  package func wait() { stream.wait() }

  package static func time(of input: PositionInput) -> MonotonicTime { input.time }

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

  private func keep(_ inputs: inout [PositionInput]) {
    guard let decoder, let first = decoder.runs.first else { return }
    wallClockOffset = first.wallClockOffset
    for run in decoder.runs.dropFirst().reversed() {
      waiting.insert((inputs.suffix(run.count), run.wallClockOffset), at: 0)
      inputs.removeLast(run.count)
    }
  }

  private func end() throws(TrackError) -> ReadingProgress {
    guard waiting.isEmpty else { return .more }
    if let failure { throw failure }
    return .end
  }
}

protocol TrackFormatDecoder {
  /// Returns the rule of the format that a byte breaks, which ends decoding, and its offset.
  mutating func decode(_ bytes: RawSpan, into output: inout TrackOutput) -> TrackDecoder.Fault?

  /// Ends the track. Returns `false` if the format requires more.
  mutating func finish(into output: inout TrackOutput) -> Bool
}

package struct TrackDecoder {
  package let format: TrackFormat
  private var output: TrackOutput
  private var track: any TrackFormatDecoder
  package private(set) var isOver = false
  private(set) var runs: [TrackRun] = []

  package typealias Fault = (rule: String, offset: Int)

  /// Starts a track that ends `duration` nanoseconds after its first fix.
  package init(_ format: TrackFormat, duration: Int64? = nil) {
    self.format = format
    output = TrackOutput(duration: duration)
    track =
      switch format {
      case .nmea: NMEATrack()
      case .gpx: GPXTrack()
      case .gpsdJSON: GPSDTrack()
      }
  }

  package var counts: TrackCounts { output.counts }
  package var firstTime: MonotonicTime? { output.timeline.first }

  package mutating func decode(_ bytes: RawSpan, into inputs: inout [PositionInput]) -> Fault? {
    guard !isOver else { return nil }
    let fault = track.decode(bytes, into: &output)
    runs = output.take(&inputs)
    isOver = fault != nil || output.timeline.isOver
    return fault
  }

  package mutating func finish(into inputs: inout [PositionInput]) -> Bool {
    guard !isOver else { return true }
    isOver = true
    let isComplete = track.finish(into: &output)
    runs = output.take(&inputs)
    return isComplete
  }
}
