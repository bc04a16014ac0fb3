package import CaptureFiles
package import Positioning
package import Scanning
import Synchronization

/// A replay of captures and one of tracks, kept in order of time across their threads.
///
/// The side with the earlier next input delivers up to the other side's next input, while the other
/// waits. At equal times, sightings come first. A side at rest or at its end delays nothing.
package final class MergedReplay: Sendable {
  package let scanner: any Scanner
  package let source: any LocationSource

  /// Merges recordings at the captures' speed. With `startsTogether`, the first side to be received
  /// waits for the other.
  package init(_ captures: ReplayScanner, _ tracks: TrackReplay, startsTogether: Bool) {
    let order = Order(captures.speed, startsTogether: startsTogether)
    captures.stopPacing()
    tracks.stopPacing()
    scanner = MergedSide(captures, .sightings, order) { $0.time }
    source = MergedSide(tracks, .fixes, order) { $0.time }
  }

  fileprivate enum Side: Int {
    case sightings, fixes

    var other: Side { self == .sightings ? .fixes : .sightings }
  }

  /// The turns of both sides. Nothing is called while its lock is held.
  fileprivate final class Order: Sendable {
    private struct State {
      var next: [MonotonicTime?] = [nil, nil]
      var isResting: [Bool]
      var pacer: Pacer?
    }

    private let state: Mutex<State>
    private let signals = InlineArray<2, WakeSignal> { _ in WakeSignal() }
    private let factor: Double?

    init(_ speed: ReplayScanner.Speed, startsTogether: Bool) {
      state = Mutex(State(isResting: [!startsTogether, !startsTogether]))
      factor = speed.factor
    }

    /// Returns the end of a side's turn; `nil`, after a short wait, if it does not have the turn.
    func turn(of side: Side, next: MonotonicTime) -> MonotonicTime? {
      let other = side.other
      let (limit, pacer) = state.withLock { state -> (MonotonicTime?, Pacer?) in
        state.next[side.rawValue] = next
        state.isResting[side.rawValue] = false
        guard !state.isResting[other.rawValue] else {
          return (MonotonicTime(nanoseconds: .max), runningPacer(&state, from: next))
        }
        guard let theirs = state.next[other.rawValue],
          side == .sightings ? next <= theirs : next < theirs
        else { return (nil, nil) }
        return (theirs, runningPacer(&state, from: next))
      }
      wake(other)
      guard let limit else {
        signals[side.rawValue].wait(nanoseconds: ReplayScanner.maximumReceiveTime)
        return nil
      }
      guard let pacer else { return limit }
      pacer.sleep(until: next, atMost: ReplayScanner.maximumReceiveTime)
      let now = pacer.now
      return now < next ? nil : min(limit, now)
    }

    private func runningPacer(_ state: inout State, from start: MonotonicTime) -> Pacer? {
      guard let factor else { return nil }
      let pacer = state.pacer ?? Pacer(start: start, factor: factor)
      state.pacer = pacer
      return pacer
    }

    func rest(_ side: Side) {
      state.withLock { state in
        state.isResting[side.rawValue] = true
        if state.isResting == [true, true] { state.pacer = nil }
      }
      wake(side.other)
    }

    func wake(_ side: Side) { signals[side.rawValue].send() }
  }

  fileprivate struct Held<Value: Sendable>: Sendable {
    var values: [Value] = []
    private var first = 0
    /// The time up to which the recording was read, and up to which it was delivered.
    var read: MonotonicTime?
    private(set) var reached: MonotonicTime?
    var isOver = false

    var isEmpty: Bool { first == values.count }

    mutating func removeAll() {
      values.removeAll(keepingCapacity: true)
      first = 0
    }

    /// Returns the time of the next input, the client's deadline or the end; `nil` while unknown.
    func next(_ deadline: MonotonicTime?, _ time: (Value) -> MonotonicTime) -> MonotonicTime? {
      guard let known = isEmpty ? read : time(values[first]) else {
        // An empty recording ends before any time.
        return isOver ? MonotonicTime(nanoseconds: .min) : nil
      }
      // Any input satisfies a deadline in the past.
      guard let deadline, deadline > reached ?? deadline else { return known }
      return min(known, deadline)
    }

    /// Removes and returns the inputs up to a time, including sightings at that time but not fixes.
    mutating func remove(
      upTo limit: MonotonicTime, _ side: Side, _ time: (Value) -> MonotonicTime
    ) -> (values: [Value], isOver: Bool) {
      var end = first
      while end < values.count,
        side == .sightings ? time(values[end]) <= limit : time(values[end]) < limit
      {
        end += 1
      }
      defer { first = end }
      let known = end < values.count ? time(values[end]) : read
      if let now = known.map({ min(limit, $0) }) { reached = max(reached ?? now, now) }
      let isOver = isOver && end == values.count && known.map { $0 <= limit } ?? true
      return (Array(values[first..<end]), isOver)
    }
  }
}

private final class MergedSide<Replay: Source>: Source {
  private let replay: Replay
  private let side: MergedReplay.Side
  private let order: MergedReplay.Order
  private let time: @Sendable (Replay.Input) -> MonotonicTime
  private let state = Mutex(State())

  private struct State {
    var held = MergedReplay.Held<Replay.Input>()
    var progress = SourceProgress<Replay.Health>()
  }

  init(
    _ replay: Replay, _ side: MergedReplay.Side, _ order: MergedReplay.Order,
    time: @escaping @Sendable (Replay.Input) -> MonotonicTime
  ) {
    self.replay = replay
    self.side = side
    self.order = order
    self.time = time
  }

  var name: String { replay.name }
  var isRecorded: Bool { true }
  var availability: ScannerAvailability { replay.availability }

  func receive(
    for demand: Replay.Demand, until deadline: MonotonicTime?, into inputs: inout [Replay.Input]
  ) throws -> SourceProgress<Replay.Health> {
    let next = try state.withLock { state -> MonotonicTime? in
      if state.held.isEmpty, !state.held.isOver {
        state.held.removeAll()
        state.progress = try replay.receive(for: demand, until: nil, into: &state.held.values)
        state.held.read = state.progress.reached
        state.held.isOver = state.progress.isOver
      }
      return state.held.next(deadline, time)
    }
    let limit = next.flatMap { order.turn(of: side, next: $0) }
    let (values, progress) = state.withLock { state in
      var progress = state.progress
      let (values, isOver) = limit.map { state.held.remove(upTo: $0, side, time) } ?? ([], false)
      progress.isOver = isOver
      progress.reached = state.held.reached
      return (values, progress)
    }
    inputs = values
    return progress
  }

  func wake() { order.wake(side) }

  func rest() {
    replay.rest()
    order.rest(side)
  }
}

extension MergedSide: Scanner where Replay == ReplayScanner {
  var counts: ScanCounts { replay.counts }
}

extension MergedSide: LocationSource where Replay == TrackReplay {
  var hasCompass: Bool { replay.hasCompass }
}
