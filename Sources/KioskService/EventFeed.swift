import DequeModule
import Dispatch
import Synchronization

/// One event of the service: what a stream, a webhook and the history get of it.
package struct FeedEvent: Sendable, Equatable {
  /// A number that rises with each event, in this process and in those after it.
  package let id: Int64
  /// The kind: `enter`, `exit`, `state`, `health` or `regions`.
  package let kind: String
  /// One line of JSON, without the line's end.
  package let data: [UInt8]
}

/// The latest events, and those who wait for the next one.
///
/// A reader has a place, the number of the event that it read last, and nothing is stored for it: a reader that is slow
/// costs no memory, and is told when events after its place are gone. What the beacons are doing is not an event but
/// a value that replaces the one before; a slow reader skips some.
package final class EventFeed: Sendable {
  /// The number of events that are kept at most.
  package static let maximumEvents = 4096
  /// The bytes of events that are kept at most.
  package static let maximumBytes = 4 << 20
  /// The seconds after which a reader that waits gets a sign of life.
  static let keepAliveInterval = 15.0

  /// What a reader has read.
  struct Place: Sendable, Equatable {
    /// The number of the latest event.
    var event: Int64
    /// The number of the latest report.
    var report = 0
  }

  /// What a reader has not read yet.
  struct Batch: Sendable {
    var events: [FeedEvent] = []
    /// The latest report, where it is new.
    var report: [UInt8]?
    /// Whether events after the reader's place are not kept any more.
    var hasMissed = false
    /// The place behind what this has.
    var place: Place
  }

  private struct State {
    var events = Deque<FeedEvent>()
    var bytes = 0
    /// The number of the latest event, kept or not.
    var latest: Int64
    var report: [UInt8]?
    var reports = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// The number of the next reader that waits.
    var nextReader: UInt64 = 0
    var isClosed = false
    var timer: (any DispatchSourceTimer)?

    mutating func removeWaiting() -> [CheckedContinuation<Void, Never>] {
      defer { waiting = [:] }
      return Array(waiting.values)
    }
  }

  private let state: Mutex<State>

  /// Creates a feed that begins behind events that an earlier process had.
  package init(_ events: [FeedEvent] = [], latest: Int64 = 0) {
    var state = State(latest: max(latest, events.last?.id ?? 0))
    for event in events.suffix(Self.maximumEvents) { Self.append(event, to: &state) }
    self.state = Mutex(state)
  }

  private static func append(_ event: FeedEvent, to state: inout State) {
    state.events.append(event)
    state.bytes += event.data.count
    state.latest = event.id
    while state.events.count > maximumEvents
      || state.bytes > maximumBytes && state.events.count > 1,
      let first = state.events.popFirst()
    {
      state.bytes -= first.data.count
    }
  }

  /// The number of the latest event.
  package var latest: Int64 { state.withLock { $0.latest } }

  /// The latest report; `nil` before the first.
  package var report: [UInt8]? { state.withLock { $0.report } }

  /// How many readers wait.
  var waitingReaders: Int { state.withLock { $0.waiting.count } }

  /// Adds an event, and wakes the readers.
  package func append(_ event: FeedEvent) {
    wake { Self.append(event, to: &$0) }
  }

  /// Replaces the report, and wakes the readers.
  package func setReport(_ report: [UInt8]) {
    wake { state in
      state.report = report
      state.reports += 1
    }
  }

  /// Ends every reader's wait for good.
  package func close() {
    wake { state in
      state.isClosed = true
      state.timer?.cancel()
      state.timer = nil
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let readers = state.withLock { state in
      change(&state)
      return state.removeWaiting()
    }
    for reader in readers { reader.resume() }
  }

  /// The place behind everything that is there.
  var end: Place { state.withLock { Place(event: $0.latest, report: $0.reports) } }

  /// Returns what is behind a place, at once.
  func read(after place: Place) -> Batch {
    state.withLock { state in
      var batch = Batch(place: Place(event: state.latest, report: state.reports))
      if place.event < state.latest {
        let first = state.events.first?.id ?? state.latest + 1
        batch.hasMissed = place.event < first - 1
        batch.events = state.events.filter { $0.id > place.event }
      }
      if place.report != state.reports { batch.report = state.report }
      return batch
    }
  }

  /// Waits until something is behind a place, or for ``keepAliveInterval``, or until the task is canceled. Returns
  /// `nil` where the feed is closed or the task canceled.
  func next(after place: Place) async -> Batch? {
    let reader = state.withLock { state in
      defer { state.nextReader += 1 }
      return state.nextReader
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isReady =
            state.isClosed || Task.isCancelled || place.event < state.latest
            || place.report != state.reports
          if !isReady {
            state.waiting[reader] = continuation
            startTimer(&state)
          }
          return isReady
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: reader) }?.resume()
    }
    guard !Task.isCancelled, !state.withLock({ $0.isClosed }) else { return nil }
    return read(after: place)
  }

  /// Wakes the readers now and then, as long as there are any: the process sleeps where nobody reads.
  private func startTimer(_ state: inout State) {
    guard state.timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(
      deadline: .now() + Self.keepAliveInterval, repeating: Self.keepAliveInterval,
      leeway: .seconds(1))
    timer.setEventHandler { [weak self] in
      self?.wake { state in
        guard state.waiting.isEmpty else { return }
        state.timer?.cancel()
        state.timer = nil
      }
    }
    timer.activate()
    state.timer = timer
  }
}
