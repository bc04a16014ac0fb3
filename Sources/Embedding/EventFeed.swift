import Dispatch
import Frontends
import Ranging
import Records
import Regions
import Scanning
import ServiceCore
import Synchronization

/// Makes lines of a service's events, and keeps them until the program takes them.
///
/// Events come on threads of the service, and are taken on the program's threads, or passed to its function on a queue
/// of the feed. Nothing of the program or of the service is called under the lock.
final class EventFeed: Sendable {
  /// What the program does with a line.
  typealias Consumer = @Sendable ([UInt8]) -> Void

  /// The number of events that wait at most.
  static let limit = 10_000

  private struct State: ~Copyable {
    var lines: EventLines<ServiceDelivery>
    var signal: ReadySignal
    var events: MonitorEvents
    /// Where the events come from; `nil` before the start.
    var source: (beacons: BeaconService, client: ClientIdentifier)?
    /// The line that the program is dealing with.
    var current: ServiceDelivery?
    var areStatesWritten = false
    /// Whether the last line was appended.
    var isOver = false
    var isStopped = false
    var consumer: Consumer?
    /// Whether the function is being called, or will be soon.
    var isDraining = false

    /// Makes the descriptor readable while ``next()`` has something to do: also where it only has to find that the line
    /// before was dealt with, for which a recording may wait.
    mutating func updateSignal() {
      signal.set(consumer == nil && (!lines.isEmpty || current != nil))
    }

    /// Removes the oldest line, or makes one of those that were dropped before it.
    mutating func takeLine() -> [UInt8]? {
      defer { updateSignal() }
      if let missed = lines.takeMissed() { return StreamRecord.missed.bytes(missed) }
      guard let entry = lines.removeFirst() else { return nil }
      current = entry.token
      return entry.line
    }
  }

  private let state: Mutex<State>
  private let regions: [NamedRegion]
  private let beacon: RecordType<RangedBeacon>
  private let report: RecordType<RegionReport>
  /// Whether a recording stands still until its line was dealt with.
  private let isRecorded: Bool
  /// Whether events of regions are stored until they were dealt with.
  private let isStored: Bool
  private let isMonitoring: Bool
  private let queue = DispatchQueue(label: "beaconscan.events")
  private static let isQueue = DispatchSpecificKey<ObjectIdentifier>()

  /// Creates a feed; `nil` where the process has no file descriptors left.
  init?(
    _ options: EmbeddingOptions, events: MonitorEvents, limit: Int
  ) {
    guard let signal = ReadySignal() else { return nil }
    state = Mutex(State(lines: EventLines(limit: limit), signal: signal, events: events))
    regions = options.regions
    beacon = RangedBeacon.record(showsRaw: options.showsRaw, showsSides: false)
    report = RegionReport.record(of: beacon)
    (isRecorded, isStored) = (!options.isLive, options.stateFile != nil)
    isMonitoring = !regions.isEmpty
    queue.setSpecific(key: Self.isQueue, value: ObjectIdentifier(self))
  }

  /// Begins with the events of a client.
  func begin(_ beacons: BeaconService, _ client: ClientIdentifier, _ events: MonitorEvents) {
    state.withLock { state in
      state.events = events
      state.source = (beacons, client)
    }
  }

  /// The descriptor that is readable while a line waits.
  var descriptor: Int32 { state.withLock { $0.signal.descriptor } }

  /// Whether the last event was appended.
  var isOver: Bool { state.withLock { $0.isOver } }

  // MARK: From the service

  /// Receives an event, on any thread.
  func receive(_ delivery: ServiceDelivery) {
    guard let event = delivery.event as? BeaconEvent,
      let (beacons, client) = state.withLock({ $0.source })
    else {
      delivery.acknowledge()
      return delivery.finish()
    }
    let offset = beacons.wallClockOffset
    let summary = summary(of: event, beacons)
    let began = beacons.received?.from.wallClockTime(offset)
    var dropped: [ServiceDelivery] = []
    let (isTaken, isHeld, startsDrain, wroteStates) = state.withLock { state in
      guard !state.isStopped, !state.isOver else { return (false, false, false, false) }
      if case .ranging(let report) = event, !isRecorded {
        state.lines.replaceRanging(with: lines(of: report))
        state.updateSignal()
        return (true, false, shouldDrain(&state), false)
      }
      let hadStates = state.areStatesWritten
      let lines = lines(of: event, began, offset, summary, &state)
      let isHeld = !lines.isEmpty && (isRecorded || isStored && event.isRegion)
      for (index, line) in lines.enumerated() {
        let token = isHeld && index == lines.count - 1 ? delivery : nil
        if let old = state.lines.append(line, token) { dropped.append(old) }
      }
      state.updateSignal()
      return (true, isHeld, shouldDrain(&state), !hadStates && state.areStatesWritten)
    }
    for old in dropped { old.finish() }
    // The first moment is known; the sightings have done their work.
    if wroteStates { beacons.stopSightings(for: client) }
    if startsDrain { queue.async { self.drain() } }
    if isTaken, !isHeld { delivery.acknowledge() }
    if !isHeld { delivery.finish() }
  }

  /// What was received, where an event is the last one.
  private func summary(of event: BeaconEvent, _ beacons: BeaconService) -> ScanSummary? {
    guard case .ended(_, let isFailure) = event, let scanner = beacons.scanner else { return nil }
    let counts = scanner.counts
    // Of a file that is no recording at all there is nothing to report.
    guard !isFailure || counts.packets > 0 else { return nil }
    let found = isMonitoring ? beacons.beaconsMonitored : beacons.beaconsRanged
    return ScanSummary(counts: counts, beacons: found.count, evictions: found.evictions)
  }

  private func lines(of report: RangingReport) -> [[UInt8]] {
    regions.records(of: report).map { self.report.bytes($0) }
  }

  /// Returns the lines of an event, in the order of the command's.
  private func lines(
    of event: BeaconEvent, _ began: WallClockTime?, _ offset: WallClockOffset,
    _ summary: ScanSummary?, _ state: inout State
  ) -> [[UInt8]] {
    func states() -> [[UInt8]] {
      guard let began, !state.areStatesWritten else { return [] }
      state.areStatesWritten = true
      return state.events.removeStates(at: began, offset).map { $0.record.bytes($0) }
    }
    switch event {
    case .sightings: return states()
    case .ranging(let report): return lines(of: report)
    case .region(let event):
      let line = state.events.line(of: event)
      return [line.record.bytes(line)]
    case .health(let health, let time):
      return [ScannerHealth.record.bytes((health, time))] + states()
    case .identity(let finding, let time):
      return [IdentityFinding.record.bytes((finding, time))]
    case .refused:
      state.isOver = true
      return [StreamRecord.end.bytes(EmbeddedScanner.forbidden)]
    case .ended(let sentence, let isFailure):
      state.isOver = true
      return (summary == nil ? [] : states())
        + (summary.map { [ScanSummary.record.bytes($0)] } ?? [])
        + [StreamRecord.end.bytes(isFailure ? sentence : nil)]
    case .regionState, .registered: return []
    }
  }

  // MARK: To the program

  /// Returns the next line; `nil` where none waits, or a function takes them. The line before counts as dealt with.
  func next() -> [UInt8]? {
    guard state.withLock({ $0.consumer == nil }) else { return nil }
    finishCurrent()
    return state.withLock { $0.takeLine() }
  }

  /// Passes every line to a function from now on, one at a time; or to none, and waits until it has returned, unless it is
  /// the function that does so.
  func setConsumer(_ consumer: Consumer?) {
    let startsDrain = state.withLock { state in
      state.consumer = consumer
      state.updateSignal()
      return shouldDrain(&state)
    }
    if startsDrain { queue.async { self.drain() } }
    if consumer == nil { waitForConsumer() }
  }

  private func shouldDrain(_ state: inout State) -> Bool {
    guard state.consumer != nil, !state.isDraining, !state.lines.isEmpty else { return false }
    state.isDraining = true
    return true
  }

  /// Calls the function for each line that waits.
  private func drain() {
    while true {
      finishCurrent()
      let next = state.withLock { state -> (Consumer, [UInt8])? in
        guard let consumer = state.consumer, let line = state.takeLine() else {
          state.isDraining = false
          return nil
        }
        return (consumer, line)
      }
      guard let (consumer, line) = next else { return }
      consumer(line)
    }
  }

  private func waitForConsumer() {
    guard DispatchQueue.getSpecific(key: Self.isQueue) != ObjectIdentifier(self) else { return }
    queue.sync {}
  }

  private func finishCurrent() {
    let current = state.withLock { state in
      defer { state.updateSignal() }
      return state.current.take()
    }
    current?.acknowledge()
    current?.finish()
  }

  /// Ends the feed: what waits counts as not delivered, and the function is not called any more.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.consumer = nil
    }
    waitForConsumer()
    finishCurrent()
    let left = state.withLock { state in
      defer { state.updateSignal() }
      state.source = nil
      return state.lines.removeAll()
    }
    for delivery in left { delivery.finish() }
  }
}

extension BeaconEvent {
  fileprivate var isRegion: Bool { if case .region = self { true } else { false } }
}
