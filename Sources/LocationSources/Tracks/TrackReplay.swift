package import CaptureFiles
package import Positioning
package import Scanning
import Synchronization

package final class TrackReplay: LocationSource {
  private let state: Mutex<Playback<TrackReader>>
  package let speed: ReplayScanner.Speed

  /// Opens tracks; the path `-` is standard input. `duration` is in nanoseconds; `nil` for all.
  /// Throws the ``TrackError`` of the first file that cannot be opened.
  package init(
    paths: [String], speed: ReplayScanner.Speed = .max, follows: Bool = false,
    duration: Int64? = nil
  ) throws(TrackError) {
    self.speed = speed
    let recordings = try paths.map { path throws(TrackError) in
      try TrackReader(path: path, follows: follows, duration: duration)
    }
    state = Mutex(Playback(recordings, factor: speed.factor, duration: duration))
  }

  package var name: String {
    state.withLock { $0.recordings.map(\.name).joined(separator: ", ") }
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

  package var counts: [(name: String, counts: TrackCounts)] {
    state.withLock { $0.recordings.map { ($0.name, $0.counts) } }
  }

  package func stopPacing() { state.withLock { $0.factor = nil } }

  /// Reads more inputs. Throws the error of a track after everything valid before it in all of
  /// them.
  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    // The lock's closure cannot capture an inout array.
    var own: [PositionInput] = []
    swap(&own, &inputs)
    defer { swap(&own, &inputs) }
    return try state.withLock { try $0.receive(until: deadline, into: &own) }
  }

  package func rest() { state.withLock { $0.rest() } }
}

extension PositionInput {
  var isReading: Bool { if case .compass = self { true } else { false } }
}
