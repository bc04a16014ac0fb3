import Advertising
public import Scanning
import Synchronization

/// A scanner that hears what a test has written down, when its clock comes to it.
///
/// ```swift
/// let scanner = ScriptedScanner()
/// scanner.hear(BeaconFrame(uuid: lobby, major: 1, minor: 7), rssi: -62, every: 0.1, from: 0, to: 30)
/// var configuration = LocationServices.Configuration()
/// configuration.scanner = scanner
/// …
/// scanner.clock.advance(by: 60)
/// ```
public final class ScriptedScanner: Scanner {
  /// The time by which it hears.
  public let clock: ManualClock
  /// Whether time stands still while delegates are called.
  public let isRecorded: Bool
  /// What a person calls it.
  public let name = "script"

  private let start: MonotonicTime
  private let state = Mutex(State())

  fileprivate struct State {
    /// What is still to be heard, sorted by time.
    var script: [Sighting] = []
    /// What is still to be said of how well it hears, each with when it is noticed, sorted by that.
    var health: [(noticed: MonotonicTime, health: ScannerHealth)] = []
    var given: MonotonicTime?
    var demands: [ScanDemand] = []
    var availability = ScannerAvailability.available
    var end: MonotonicTime?
    var failure: (any Error)?
    var counts = ScanCounts()
  }

  /// Makes a scanner that has nothing to hear.
  ///
  /// - Parameters:
  ///   - clock: The time by which it hears; the script's seconds count from what it shows now.
  ///   - isRecorded: Whether time stands still while delegates are called, as in a recording, or goes on,
  ///     as at a radio.
  public init(clock: ManualClock = ManualClock(), isRecorded: Bool = true) {
    self.clock = clock
    self.isRecorded = isRecorded
    start = clock.now
  }

  /// What was asked for, each time that it changed; `ScanDemand.none` is a rest.
  public var demands: [ScanDemand] { state.withLock { $0.demands } }

  /// The moment up to which it has given what it heard; its start, before it was asked.
  public var given: MonotonicTime { state.withLock { $0.given } ?? start }

  /// How much it has given: of each sighting one packet and one report.
  public var counts: ScanCounts { state.withLock { $0.counts } }

  /// Whether it can be used.
  public var availability: ScannerAvailability {
    get { state.withLock { $0.availability } }
    set { state.withLock { $0.availability = newValue } }
  }

  /// Writes down that a frame is heard once.
  ///
  /// - Parameters:
  ///   - frame: What is heard.
  ///   - rssi: How loud, in dBm; `nil` where that is not measured.
  ///   - seconds: When, in seconds from the start; what lies behind the clock is heard at once.
  ///   - adapter: By which adapter.
  public func hear(
    _ frame: BeaconFrame, rssi: Int8?, at seconds: Double, adapter: UInt16 = 0
  ) {
    insert([frame.sighting(at: moment(seconds), rssi: rssi, adapter: adapter)])
  }

  /// Writes down that a frame is heard again and again.
  ///
  /// - Parameters:
  ///   - frame: What is heard.
  ///   - rssi: How loud, in dBm; `nil` where that is not measured.
  ///   - interval: Seconds between two.
  ///   - from: When the first one is heard, in seconds from the start.
  ///   - to: When no more is heard, in seconds from the start.
  ///   - adapter: By which adapter.
  public func hear(
    _ frame: BeaconFrame, rssi: Int8?, every interval: Double, from: Double, to: Double,
    adapter: UInt16 = 0
  ) {
    precondition(interval > 0, "an interval is longer than nothing")
    insert(
      stride(from: from, to: to, by: interval).map { seconds in
        frame.sighting(at: moment(seconds), rssi: rssi, adapter: adapter)
      })
  }

  /// Writes down that it hears worse, or well again. What is heard meanwhile is the script's matter.
  ///
  /// - Parameters:
  ///   - condition: How it is from then on.
  ///   - sentence: What is the matter; the condition's name, if not given.
  ///   - seconds: Since when, in seconds from the start.
  ///   - noticed: When that is noticed, if later, in seconds from the start.
  ///   - adapter: Which adapter it is about; `nil` for all.
  ///   - isReceptionLost: Whether nothing at all is heard; if not given, `isFault` of the condition
  ///     says it, as with one adapter.
  public func report(
    _ condition: ScannerHealth.Condition, _ sentence: String? = nil, at seconds: Double,
    noticed: Double? = nil, adapter: UInt16? = 0, isReceptionLost: Bool? = nil
  ) {
    let health = ScannerHealth(
      condition, at: moment(seconds), adapter: adapter.map { "hci\($0)" },
      address: adapter.map { BluetoothAddress(rawValue: 0x00AA_0100_0000 + UInt64($0)) },
      isReceptionLost: isReceptionLost ?? condition.isFault, sentence: sentence ?? condition.rawValue)
    let moment = moment(max(seconds, noticed ?? seconds))
    state.withLock { state in
      state.health.append((moment, health))
      state.health.sort { $0.noticed < $1.noticed }
    }
  }

  /// Writes down that nothing more comes after a moment, in seconds from the start.
  public func finish(at seconds: Double) {
    let end = moment(seconds)
    state.withLock { $0.end = end }
  }

  /// Fails from now on.
  public func fail(_ error: any Error) {
    state.withLock { $0.failure = error }
  }

  /// Waits until the clock has moved, and gives what the script has until then.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    sightings.removeAll(keepingCapacity: true)
    let resumed = clock.now
    let given = state.withLock { state in
      // A radio that rested has heard nothing meanwhile.
      if !isRecorded, state.demands.last == ScanDemand.none { state.skip(to: resumed) }
      state.note(demand)
      return state.failure == nil && state.end != state.given ? state.given : nil
    }
    if let given { clock.wait(after: given, atMost: Self.maximumReceiveTime) }
    let now = clock.now
    let (heard, progress) = try state.withLock { state in try state.give(until: now, from: start) }
    sightings = heard
    return progress
  }

  /// Notes that nobody listens.
  public func rest() {
    state.withLock { $0.note(.none) }
  }

  private func moment(_ seconds: Double) -> MonotonicTime {
    start.advanced(by: Int64((seconds * 1e9).rounded()))
  }

  private func insert(_ sightings: [Sighting]) {
    state.withLock { state in
      state.script += sightings
      // Sorting is stable: of two at one moment, the one written down first is heard first.
      state.script.sort { $0.time < $1.time }
    }
  }
}

extension ScriptedScanner.State {
  fileprivate mutating func skip(to moment: MonotonicTime) {
    // How well it hears it says also of the time in which nobody listened.
    script.removeAll { $0.time <= moment }
    given = max(given ?? moment, moment)
  }

  fileprivate mutating func note(_ demand: ScanDemand) {
    if demands.last != demand { demands.append(demand) }
  }

  /// What is heard until a moment.
  fileprivate mutating func give(until now: MonotonicTime, from start: MonotonicTime) throws
    -> ([Sighting], ScanProgress)
  {
    if let failure { throw failure }
    let reached = max(min(now, end ?? now), given ?? start)
    let count = script.prefix { $0.time <= reached }.count
    var heard = Array(script[..<count])
    script.removeFirst(count)
    // What was written down too late is heard now: time does not go back.
    if let given {
      for index in heard.indices { heard[index].time = max(heard[index].time, given) }
    }
    given = reached
    counts.packets += count
    counts.advertisingPackets += count
    counts.reports += count
    counts.sightings += count
    let said = health.prefix { $0.noticed <= reached }.map(\.health)
    health.removeFirst(said.count)
    return (
      heard, ScanProgress(began: start, reached: reached, isOver: reached == end, health: said)
    )
  }
}
