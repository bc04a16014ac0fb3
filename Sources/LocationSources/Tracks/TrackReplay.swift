package import CaptureFiles
package import Positioning
package import Scanning
import Synchronization

/// A location source that plays back recorded tracks, merged by time.
package final class TrackReplay: LocationSource {
  private let state: Mutex<Playback<TrackRecording>>
  package let speed: ReplayScanner.Speed

  /// Opens tracks; the path `-` is standard input. `duration` is in nanoseconds; `nil` for all.
  /// Throws the ``TrackError`` of the first file that cannot be opened.
  package init(
    paths: [String], speed: ReplayScanner.Speed = .max, follows: Bool = false,
    duration: Int64? = nil
  ) throws(TrackError) {
    self.speed = speed
    var recordings: [TrackRecording] = []
    for path in paths {
      recordings.append(
        TrackRecording(try TrackReader(path: path, follows: follows, duration: duration)))
    }
    state = Mutex(Playback(recordings, factor: speed.factor, duration: duration))
  }

  package var name: String {
    state.withLock { $0.recordings.map(\.reader.name).joined(separator: ", ") }
  }
  package var isRecorded: Bool { true }
  package var availability: ScannerAvailability { .available }

  /// Whether the first inputs of a track contain a compass reading, or one was delivered.
  package var hasCompass: Bool {
    state.withLock { playback in
      playback.readFirst()
      return playback.recordings.contains(where: \.hasReading)
    }
  }

  /// The counts of each track, in the order of the paths.
  package var counts: [(name: String, counts: TrackCounts)] {
    state.withLock { $0.recordings.map { ($0.reader.name, $0.reader.counts) } }
  }

  package func stopPacing() { state.withLock { $0.factor = nil } }

  /// Reads more inputs. Throws the error of a track after everything valid before it in every
  /// track.
  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    // The lock's closure cannot capture an inout array.
    var own: [PositionInput] = []
    swap(&own, &inputs)
    defer { swap(&own, &inputs) }
    return try state.withLock { try $0.receive(until: deadline, into: &own) }
  }

  package func wake() {}

  package func rest() { state.withLock { $0.rest() } }
}

private final class TrackRecording: Recording {
  typealias Health = LocationHealth

  let reader: TrackReader
  var inputs: [PositionInput] = []
  var next = 0
  private(set) var hasReading = false
  private(set) var time = MonotonicTime(nanoseconds: .min)

  init(_ reader: TrackReader) { self.reader = reader }

  var firstTime: MonotonicTime? { reader.firstTime }
  var wallClockOffset: WallClockOffset { reader.wallClockOffset }

  func read() throws -> ReadingProgress {
    defer {
      hasReading = hasReading || inputs.contains(where: \.isReading)
      time = inputs.last?.time ?? time
    }
    return try reader.read(into: &inputs)
  }

  func wait() { reader.wait() }

  static func time(of input: PositionInput) -> MonotonicTime { input.time }
}

extension PositionInput {
  var isReading: Bool { if case .compass = self { true } else { false } }
}
