package import CaptureFiles
package import Positioning
package import Scanning
import Synchronization

/// A location source that plays recorded tracks back: what they hold, merged by time, on their own time.
package final class TrackReplay: LocationSource {
  private let state: Mutex<State>
  /// How fast time passes.
  package let speed: ReplayScanner.Speed

  /// Opens tracks.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - speed: How fast time passes.
  ///   - follows: Whether they are still being written.
  ///   - duration: The number of nanoseconds that are played of each; `nil` for all.
  /// - Throws: ``TrackError`` for the first that cannot be opened.
  package init(
    paths: [String], speed: ReplayScanner.Speed = .max, follows: Bool = false,
    duration: Int64? = nil
  ) throws(TrackError) {
    self.speed = speed
    var sources: [Source] = []
    for path in paths {
      sources.append(
        Source(try TrackReader(path: path, follows: follows, duration: duration)))
    }
    state = Mutex(State(sources, speed))
  }

  package var name: String {
    state.withLock { $0.sources.map(\.reader.name).joined(separator: ", ") }
  }
  /// Always `true`: a recording waits for its reader.
  package var isRecorded: Bool { true }
  /// Always available: the recordings are open.
  package var availability: ScannerAvailability { .available }

  /// Whether the first values of a track have a compass reading, or one was delivered.
  package var hasCompass: Bool { state.withLock { $0.hasCompass } }

  /// What was counted in each track, in the order of the paths.
  package var counts: [(name: String, counts: TrackCounts)] {
    state.withLock { $0.sources.map { ($0.reader.name, $0.reader.counts) } }
  }

  /// Leaves the pace to another object from now on.
  package func stopPacing() { state.withLock { $0.factor = nil } }

  /// Reads on.
  ///
  /// - Throws: What is wrong with a track, after all that stood whole before it in every track.
  package func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    let (values, progress) = try state.withLock { state in
      try state.receive(until: deadline)
    }
    inputs = values
    return progress
  }

  package func wake() {}

  /// Stops the time of paced tracks until the next call of ``receive(for:until:into:)``.
  package func rest() { state.withLock { $0.pacer = nil } }
}

extension TrackReplay {
  /// A track, and what was read of it and not given yet.
  private struct Source {
    let reader: TrackReader
    var values: [PositionInput] = []
    var next = 0
    var isAtEnd = false
    var hasReading = false
    /// What is wrong with the track behind its last value.
    var failure: TrackError?

    init(_ reader: TrackReader) { self.reader = reader }

    var nextTime: MonotonicTime? { next < values.count ? values[next].time : nil }

    /// Reads until the next value or the end is known; returns whether it is, as more may come later.
    mutating func advance() -> Bool {
      while nextTime == nil, !isAtEnd {
        values.removeAll(keepingCapacity: true)
        next = 0
        do throws(TrackError) {
          defer { hasReading = hasReading || values.contains(where: \.isReading) }
          switch try reader.read(into: &values) {
          case .more: break
          case .caughtUp:
            if values.isEmpty { return false }
          case .end: isAtEnd = true
          }
        } catch {
          (isAtEnd, failure) = (true, error)
        }
      }
      return true
    }
  }

  private struct State {
    var sources: [Source]
    var pacer: Pacer?
    /// How many times as fast as it did time passes; `nil` for as fast as the tracks can be read.
    var factor: Double?
    private var reached: MonotonicTime?
    private var offset = WallClockOffset.zero

    /// The number of values of one call.
    private static var batch: Int { 256 }

    init(_ sources: [Source], _ speed: ReplayScanner.Speed) {
      self.sources = sources
      factor = if case .times(let factor) = speed { factor } else { nil }
    }

    var hasCompass: Bool {
      mutating get {
        for index in sources.indices { _ = sources[index].advance() }
        return sources.contains(where: \.hasReading)
      }
    }

    mutating func receive(
      until deadline: MonotonicTime?
    ) throws -> ([PositionInput], LocationProgress) {
      var values: [PositionInput] = []
      while values.count < Self.batch {
        guard let index = earliest() else {
          // More may come later, or all is read.
          guard sources.allSatisfy({ $0.isAtEnd && $0.nextTime == nil }) else {
            if values.isEmpty { sources.first { !$0.isAtEnd && $0.nextTime == nil }?.reader.wait() }
            break
          }
          if values.isEmpty, let failure = sources.lazy.compactMap(\.failure).first {
            throw failure
          }
          break
        }
        let value = sources[index].values[sources[index].next]
        let offset = sources[index].reader.wallClockOffset
        // What one call gives has one distance to wall-clock time.
        guard values.isEmpty || offset == self.offset else { break }
        if let factor {
          let start = reached ?? value.time
          let pacer = self.pacer ?? Pacer(start: start, factor: factor)
          self.pacer = pacer
          if values.isEmpty {
            pacer.sleep(
              until: min(value.time, deadline ?? value.time),
              atMost: ReplayScanner.maximumReceiveTime)
          }
          let now = max(start, min(pacer.now, value.time))
          reached = max(reached ?? now, now)
          guard value.time <= now else { break }
        }
        self.offset = offset
        reached = max(reached ?? value.time, value.time)
        values.append(value)
        sources[index].next += 1
      }
      let isOver = sources.allSatisfy { $0.isAtEnd && $0.nextTime == nil && $0.failure == nil }
      return (values, LocationProgress(reached: reached, wallClockOffset: offset, isOver: isOver))
    }

    /// Returns the track with the earliest value; `nil` while one of them may have an earlier one, and at the end.
    private mutating func earliest() -> Int? {
      var earliest: (index: Int, time: MonotonicTime)?
      for index in sources.indices {
        guard sources[index].advance() else { return nil }
        guard let time = sources[index].nextTime else { continue }
        if earliest.map({ time < $0.time }) ?? true { earliest = (index, time) }
      }
      return earliest?.index
    }
  }
}

extension PositionInput {
  var isReading: Bool { if case .compass = self { true } else { false } }
}
