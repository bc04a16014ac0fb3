import Advertising
public import Scanning
import Synchronization

/// A scanner that receives a test's script, by the time of its clock.
///
/// ```swift
/// let scanner = ScriptedScanner()
/// let frame = BeaconFrame(uuid: lobby, major: 1, minor: 7)
/// scanner.add(frame, rssi: -62, every: 0.1, from: 0, to: 30)
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = scanner
/// …
/// scanner.clock.advance(by: 60)
/// ```
public final class ScriptedScanner: Scanner {
  /// The clock by which it receives.
  public let clock: ManualClock
  /// Whether the scanner's time waits for delegates, as that of a recording does.
  public let isRecorded: Bool
  /// The name for people.
  public let name = "script"

  private let start: MonotonicTime
  private let state = Mutex(State())

  fileprivate struct State {
    /// The sightings to come, sorted by time.
    var script: [Sighting] = []
    /// The state changes to come, sorted by the time at which each is noticed.
    var health: [(noticed: MonotonicTime, health: ScannerHealth)] = []
    /// The latest reported state of each adapter.
    var states: [ScannerHealth] = []
    var delivered: MonotonicTime?
    var demands: [ScanDemand] = []
    var availability = ScannerAvailability.available
    var end: MonotonicTime?
    var failure: (any Error)?
    var counts = ScanCounts()
  }

  /// Creates a scanner with an empty script.
  ///
  /// - Parameters:
  ///   - clock: The clock by which it receives. The script's seconds count from its present time.
  ///   - isRecorded: Whether the time waits for delegates, as in a recording.
  public init(clock: ManualClock = ManualClock(), isRecorded: Bool = true) {
    self.clock = clock
    self.isRecorded = isRecorded
    start = clock.now
  }

  /// The demands in order, without repetitions. `ScanDemand.none` is a rest.
  public var demands: [ScanDemand] { state.withLock { $0.demands } }

  /// The time up to which sightings were delivered; the start, before the first call.
  public var delivered: MonotonicTime { state.withLock { $0.delivered } ?? start }

  /// The counts of what was delivered: one packet and one report for each sighting.
  public var counts: ScanCounts { state.withLock { $0.counts } }

  /// The availability, which a test can change.
  public var availability: ScannerAvailability {
    get { state.withLock { $0.availability } }
    set { state.withLock { $0.availability = newValue } }
  }

  /// Adds a frame that is received once, in seconds from the start, or at once if that is past,
  /// with a signal strength in dBm, or without one.
  public func add(_ frame: BeaconFrame, rssi: Int8?, at seconds: Double, adapter: UInt16 = 0) {
    insert([frame.sighting(at: moment(seconds), rssi: rssi, adapter: adapter)])
  }

  /// Adds a frame that is received at intervals: from `from` up to, but not including, `to`, in
  /// seconds from the start, with a signal strength in dBm, or without one.
  public func add(
    _ frame: BeaconFrame, rssi: Int8?, every interval: Double, from: Double, to: Double,
    adapter: UInt16 = 0
  ) {
    precondition(interval > 0, "an interval is longer than nothing")
    let times = stride(from: from, to: to, by: interval)
    insert(times.map { frame.sighting(at: moment($0), rssi: rssi, adapter: adapter) })
  }

  /// Adds a change of the receiver state, which does not affect the script's sightings. The state
  /// begins at `seconds` from the start and is noticed then or at `noticed`. Without an adapter,
  /// all change. Reception counts as lost if the condition is a fault, unless `isReceptionLost` is
  /// given.
  public func report(
    _ condition: ScannerHealth.Condition, _ sentence: String? = nil, at seconds: Double,
    noticed: Double? = nil, adapter: UInt16? = 0, isReceptionLost: Bool? = nil
  ) {
    let health = ScannerHealth(
      condition, at: moment(seconds), adapter: adapter.map { "hci\($0)" },
      address: adapter.map { BluetoothAddress(rawValue: 0x00AA_0100_0000 + UInt64($0)) },
      isReceptionLost: isReceptionLost ?? condition.isFault,
      sentence: sentence ?? condition.rawValue)
    let moment = moment(max(seconds, noticed ?? seconds))
    state.withLock { state in
      state.health.append((moment, health))
      state.health.sort { $0.noticed < $1.noticed }
    }
  }

  /// Ends the script at a time in seconds from the start.
  public func finish(at seconds: Double) {
    let end = moment(seconds)
    state.withLock { $0.end = end }
  }

  /// Makes every later call of `receive` throw the error.
  public func fail(_ error: any Error) { state.withLock { $0.failure = error } }

  /// Waits until the clock has advanced, and returns the script's part up to then.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    sightings.removeAll(keepingCapacity: true)
    let resumed = clock.now
    let delivered = state.withLock { state in
      // A radio receives nothing during a rest.
      if !isRecorded, state.demands.last == ScanDemand.none { state.skip(to: resumed) }
      state.record(demand)
      return state.failure == nil && !state.isOver ? state.delivered : nil
    }
    if let delivered { clock.wait(after: delivered, atMost: Self.maximumReceiveTime) }
    let now = clock.now
    return try state.withLock { try $0.deliver(until: now, from: start, into: &sightings) }
  }

  /// Records that there is no demand.
  public func rest() { state.withLock { $0.record(.none) } }

  private func moment(_ seconds: Double) -> MonotonicTime {
    start.advanced(by: Int64((seconds * 1e9).rounded()))
  }

  private func insert(_ sightings: [Sighting]) {
    state.withLock { state in
      state.script += sightings
      // The sort is stable: of two at the same time, the one added first is received first.
      state.script.sort { $0.time < $1.time }
    }
  }
}

extension ScriptedScanner.State {
  fileprivate mutating func skip(to moment: MonotonicTime) {
    script.removeAll { $0.time <= moment }
    delivered = max(delivered ?? moment, moment)
    // The present state of each adapter is reported again.
    let passed = health.prefix { $0.noticed <= moment }
    note(passed.map(\.health))
    health.removeFirst(passed.count)
    let anew = states.map { state in
      var state = state
      state.time = moment
      return (noticed: moment, health: state)
    }
    health = anew + health
  }

  /// Whether everything up to the end is delivered, or passed during a rest.
  fileprivate var isOver: Bool {
    guard let end, let delivered else { return false }
    return delivered >= end
  }

  private mutating func note(_ changes: [ScannerHealth]) {
    for change in changes {
      states.removeAll { $0.isAbout(change) || $0.adapter == nil || change.adapter == nil }
      states.append(change)
    }
  }

  fileprivate mutating func record(_ demand: ScanDemand) {
    if demands.last != demand { demands.append(demand) }
  }

  fileprivate mutating func deliver(
    until now: MonotonicTime, from start: MonotonicTime, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    if let failure { throw failure }
    let reached = max(min(now, end ?? now), delivered ?? start)
    let count = script.prefix { $0.time <= reached }.count
    sightings = Array(script[..<count])
    script.removeFirst(count)
    // A sighting that was added too late is received now, because time does not go back.
    if let delivered {
      for index in sightings.indices {
        sightings[index].time = max(sightings[index].time, delivered)
      }
    }
    delivered = reached
    counts.packets += count
    counts.advertisingPackets += count
    counts.reports += count
    counts.sightings += count
    let reported = health.prefix { $0.noticed <= reached }.map(\.health)
    health.removeFirst(reported.count)
    note(reported)
    return ScanProgress(began: start, reached: reached, isOver: isOver, health: reported)
  }
}
