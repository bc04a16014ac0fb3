import Advertising
public import Scanning
import Synchronization

/// A scanner that receives what a test has scripted, when its clock comes to it.
///
/// ```swift
/// let scanner = ScriptedScanner()
/// scanner.add(BeaconFrame(uuid: lobby, major: 1, minor: 7), rssi: -62, every: 0.1, from: 0, to: 30)
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = scanner
/// …
/// scanner.clock.advance(by: 60)
/// ```
public final class ScriptedScanner: Scanner {
  /// The clock by which it receives.
  public let clock: ManualClock
  /// Whether time stands still while delegates are called.
  public let isRecorded: Bool
  /// The name that a person knows.
  public let name = "script"

  private let start: MonotonicTime
  private let state = Mutex(State())

  fileprivate struct State {
    /// What is still to be received, sorted by time.
    var script: [Sighting] = []
    /// The changes that are still to be reported, each with when it is noticed, sorted by that.
    var health: [(noticed: MonotonicTime, health: ScannerHealth)] = []
    /// The state of each adapter, as it was reported last.
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
  ///   - clock: The clock by which it receives; the script's seconds count from its time now.
  ///   - isRecorded: Whether time stands still while delegates are called, as in a recording, or goes on, as at a
  ///     radio.
  public init(clock: ManualClock = ManualClock(), isRecorded: Bool = true) {
    self.clock = clock
    self.isRecorded = isRecorded
    start = clock.now
  }

  /// The demands, each time that they changed; `ScanDemand.none` is a rest.
  public var demands: [ScanDemand] { state.withLock { $0.demands } }

  /// The moment up to which it has delivered what it received; its start, before the first call.
  public var delivered: MonotonicTime { state.withLock { $0.delivered } ?? start }

  /// How much it has delivered: of each sighting one packet and one report.
  public var counts: ScanCounts { state.withLock { $0.counts } }

  /// Whether the scanner can be used.
  public var availability: ScannerAvailability {
    get { state.withLock { $0.availability } }
    set { state.withLock { $0.availability = newValue } }
  }

  /// Adds a frame that is received once, in seconds from the start; at once, if that is before the clock's time.
  ///
  /// The signal strength is in dBm; `nil` where it is not measured.
  public func add(_ frame: BeaconFrame, rssi: Int8?, at seconds: Double, adapter: UInt16 = 0) {
    insert([frame.sighting(at: moment(seconds), rssi: rssi, adapter: adapter)])
  }

  /// Adds a frame that is received again and again, at intervals in seconds: first at `from`, no more at `to`, in
  /// seconds from the start.
  ///
  /// The signal strength is in dBm; `nil` where it is not measured.
  public func add(
    _ frame: BeaconFrame, rssi: Int8?, every interval: Double, from: Double, to: Double,
    adapter: UInt16 = 0
  ) {
    precondition(interval > 0, "an interval is longer than nothing")
    let times = stride(from: from, to: to, by: interval)
    insert(times.map { frame.sighting(at: moment($0), rssi: rssi, adapter: adapter) })
  }

  /// Adds a change of the receiver state. The script alone decides what is received meanwhile.
  ///
  /// The state begins, and is noticed later where that is given, in seconds from the start. The sentence is by
  /// default the condition's name. Without an adapter, all of them change. Nothing at all is received, unless given
  /// otherwise, where the condition is a fault, as with one adapter.
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

  /// Ends the script at a moment, in seconds from the start.
  public func finish(at seconds: Double) {
    let end = moment(seconds)
    state.withLock { $0.end = end }
  }

  /// Fails from now on.
  public func fail(_ error: any Error) { state.withLock { $0.failure = error } }

  /// Waits until the clock has advanced, and delivers what the script has until then.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    sightings.removeAll(keepingCapacity: true)
    let resumed = clock.now
    let delivered = state.withLock { state in
      // A radio that rested has received nothing meanwhile.
      if !isRecorded, state.demands.last == ScanDemand.none { state.skip(to: resumed) }
      state.record(demand)
      return state.failure == nil && state.end != state.delivered ? state.delivered : nil
    }
    if let delivered { clock.wait(after: delivered, atMost: Self.maximumReceiveTime) }
    let now = clock.now
    let progress: ScanProgress
    (sightings, progress) = try state.withLock { try $0.deliver(until: now, from: start) }
    return progress
  }

  /// Records that there is no demand.
  public func rest() { state.withLock { $0.record(.none) } }

  private func moment(_ seconds: Double) -> MonotonicTime {
    start.advanced(by: Int64((seconds * 1e9).rounded()))
  }

  private func insert(_ sightings: [Sighting]) {
    state.withLock { state in
      state.script += sightings
      // Sorting is stable: of two at one moment, the one added first is received first.
      state.script.sort { $0.time < $1.time }
    }
  }
}

extension ScriptedScanner.State {
  fileprivate mutating func skip(to moment: MonotonicTime) {
    script.removeAll { $0.time <= moment }
    delivered = max(delivered ?? moment, moment)
    // The state of each adapter is reported anew, as it is now.
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

  private mutating func note(_ changes: [ScannerHealth]) {
    for change in changes {
      states.removeAll { $0.isAbout(change) || $0.adapter == nil || change.adapter == nil }
      states.append(change)
    }
  }

  fileprivate mutating func record(_ demand: ScanDemand) {
    if demands.last != demand { demands.append(demand) }
  }

  /// Returns what is received until a moment.
  fileprivate mutating func deliver(
    until now: MonotonicTime, from start: MonotonicTime
  ) throws -> ([Sighting], ScanProgress) {
    if let failure { throw failure }
    let reached = max(min(now, end ?? now), delivered ?? start)
    let count = script.prefix { $0.time <= reached }.count
    var received = Array(script[..<count])
    script.removeFirst(count)
    // What was added too late is received now: time does not go back.
    if let delivered {
      for index in received.indices { received[index].time = max(received[index].time, delivered) }
    }
    delivered = reached
    counts.packets += count
    counts.advertisingPackets += count
    counts.reports += count
    counts.sightings += count
    let reported = health.prefix { $0.noticed <= reached }.map(\.health)
    health.removeFirst(reported.count)
    note(reported)
    let isOver = reached == end
    return (
      received, ScanProgress(began: start, reached: reached, isOver: isOver, health: reported)
    )
  }
}
