import CaptureFiles
import Dispatch
import Frontends
import LocationSources
import Positioning
import Ranging
import Records
import Regions
import Scanning
import ServiceCore
import Synchronization

/// Makes lines of the services' events, and keeps them until the program takes them. The lock is
/// not held during calls of the program or of the services.
final class EventFeed: Sendable {
  typealias Consumer = @Sendable ([UInt8]) -> Void

  static let limit = 10_000

  private struct State: ~Copyable {
    var lines: EventLines<ServiceDelivery>
    let signal: WakeSignal
    /// Whether the descriptor is readable.
    var isReady = false
    var events: MonitorEvents
    var services: Services?
    /// The number of services that may still deliver something.
    var running = 0
    /// The line that the program is dealing with.
    var current: ServiceDelivery?
    /// Whether the start's states of the beacon regions and of the circles were written.
    var areStatesWritten = (beacons: false, circles: false)
    var isOver = false
    var isStopped = false
    var consumer: Consumer?
    var isDraining = false

    /// Makes the descriptor readable while ``next()`` has something to do. That includes marking
    /// the current line as dealt with, for which a recording may wait.
    mutating func updateSignal() {
      let hasWork = consumer == nil && (!lines.isEmpty || current != nil)
      guard hasWork != isReady else { return }
      isReady = hasWork
      if hasWork { signal.send() } else { signal.reset() }
    }

    /// Removes the oldest line, or makes the one that counts the lines dropped before it.
    mutating func takeLine() -> [UInt8]? {
      defer { updateSignal() }
      if let missed = lines.takeMissed() { return EventFeed.missed.json(missed) }
      guard let entry = lines.removeFirst() else { return nil }
      current = entry.token
      return entry.line
    }
  }

  struct Services {
    var client: ServiceClient
    var beacons: BeaconService?
    var locations: LocationService?
    var tracks: TrackReplay?
  }

  /// The state of the services when an event comes.
  private struct Moment {
    /// The time at which the reception of beacons began; `nil` before.
    var began: WallClockTime?
    var offset = WallClockOffset.zero
    /// The latest time of the locations; `nil` before the first fix of a recording.
    var located: WallClockTime?
    /// The failure of the recording that ended the service; `nil` without one.
    var failure: String?
    /// The summary of what was received, with the last event of a service.
    var summary: ScanSummary?
    var tracks: [TrackSummary] = []
  }

  private static let missed = RecordType<Int>("missed", [Field("count", .count) { $0 }])
  private static let end = RecordType<String?>("end", [Field("error", .text.orNull) { $0 }])

  private let state: Mutex<State>
  private let options: EmbeddingOptions
  private let regions: [NamedRegion]
  private let report: RecordType<RegionReport>
  private let queue = DispatchQueue(label: "beaconscan.events")
  private static let isQueue = DispatchSpecificKey<ObjectIdentifier>()

  /// Creates a feed; `nil` if the process has no file descriptors left.
  init?(_ options: EmbeddingOptions, events: MonitorEvents, limit: Int) {
    let signal = WakeSignal()
    guard signal.descriptor >= 0 else { return nil }
    state = Mutex(State(lines: EventLines(limit: limit), signal: signal, events: events))
    self.options = options
    regions = options.regions
    report = RegionReport.record(
      of: RangedBeacon.record(showsRaw: options.showsRaw, showsSides: false))
    queue.setSpecific(key: Self.isQueue, value: ObjectIdentifier(self))
  }

  func begin(_ services: Services, _ events: MonitorEvents) {
    state.withLock { state in
      state.events = events
      state.services = services
      state.running = (services.beacons == nil ? 0 : 1) + (services.locations == nil ? 0 : 1)
    }
  }

  var descriptor: Int32 { state.withLock { $0.signal.descriptor } }
  var isOver: Bool { state.withLock { $0.isOver } }

  func receive(_ delivery: ServiceDelivery) {
    guard let services = state.withLock({ $0.services }) else {
      return delivery.complete()
    }
    let event = delivery.event
    let moment = moment(of: event, services)
    var dropped: [ServiceDelivery] = []
    let (isTaken, isHeld, startsDrain, before, after) = state.withLock { state in
      let before = state.areStatesWritten
      guard !state.isStopped, !state.isOver else { return (false, false, false, before, before) }
      var lines = lines(of: event, moment, &state)
      if let (kind, value) = value(of: event) {
        if options.isLive { state.lines.replace(kind, with: value) } else { lines += value }
      }
      // A recording waits until its line was dealt with. Events of regions are stored until then.
      let isKept = !options.isLive || options.keepsEvents && event.isOfRegistration
      let isHeld = isKept && !lines.isEmpty
      for (index, line) in lines.enumerated() {
        let token = isHeld && index == lines.count - 1 ? delivery : nil
        if let old = state.lines.append(line, token) { dropped.append(old) }
      }
      state.updateSignal()
      return (true, isHeld, shouldDrain(&state), before, state.areStatesWritten)
    }
    for old in dropped { old.finish() }
    // The first moment is known; the requests that were made to learn it end.
    if after.beacons != before.beacons {
      services.beacons.map { BeaconClient(services.client, of: $0).stopSightings() }
    }
    if after.circles != before.circles, !options.isLive, !options.circles.isEmpty,
      !options.locates
    {
      services.locations.map { LocationClient(services.client, of: $0).stopUpdates() }
    }
    if startsDrain { queue.async { self.drain() } }
    if isTaken, !isHeld { delivery.acknowledge() }
    if !isHeld { delivery.finish() }
  }

  private func moment(of event: any ServiceEvent, _ services: Services) -> Moment {
    var moment = Moment()
    // A daemon is asked for this.
    if let beacons = services.beacons, !state.withLock({ $0.areStatesWritten.beacons }) {
      moment.offset = beacons.wallClockOffset
      moment.began = beacons.received?.from.wallClockTime(moment.offset)
    }
    if let locations = services.locations {
      moment.located =
        options.isLive
        ? .now : locations.latestFix.map { $0.time.wallClockTime(locations.wallClockOffset) }
    }
    guard let isFailure = event.end?.isFailure else { return moment }
    // These errors name the file.
    switch event is BeaconEvent ? services.beacons?.failure : services.locations?.failure {
    case let error as CaptureError: moment.failure = "\(error)"
    case let error as TrackError: moment.failure = "\(error)"
    default: break
    }
    if let beacons = services.beacons, let counts = beacons.scanner?.counts,
      // A file that is not a recording has nothing to report.
      !isFailure || counts.packets > 0
    {
      let found = regions.isEmpty ? beacons.beaconsRanged : beacons.beaconsMonitored
      moment.summary = ScanSummary(
        counts: counts, beacons: found.count, evictions: found.evictions)
    }
    if let tracks = services.tracks?.counts,
      !isFailure || tracks.contains(where: { $0.counts.records > 0 })
    {
      moment.tracks = tracks.map { TrackSummary(file: $0.name, counts: $0.counts) }
    }
    return moment
  }

  /// Returns the lines of an event that replaces earlier ones of its kind; `nil` for another event.
  private func value(
    of event: any ServiceEvent
  ) -> (EventLines<ServiceDelivery>.ValueKind, [[UInt8]])? {
    switch event {
    case BeaconEvent.ranging(let report):
      (.ranging, regions.records(of: report).map { self.report.json($0) })
    case LocationEvent.fixes(let fixes) where options.locates:
      (.fix, fixes.map { LocateLine.fix.json(.fix($0)) })
    case LocationEvent.heading(let heading):
      (.heading, [LocateLine.heading.json(.heading(heading))])
    default: nil
    }
  }

  /// Returns the lines of an event, in the order of the command's.
  private func lines(
    of event: any ServiceEvent, _ moment: Moment, _ state: inout State
  ) -> [[UInt8]] {
    switch event {
    case let event as BeaconEvent: lines(of: event, moment, &state)
    case let event as LocationEvent: lines(of: event, moment, &state)
    default: []
    }
  }

  private func lines(
    of event: BeaconEvent, _ moment: Moment, _ state: inout State
  ) -> [[UInt8]] {
    switch event {
    case .sightings: return states(moment, &state)
    case .region(let event):
      let line = state.events.line(of: event)
      return [line.record.json(line)]
    case .health(let health, let time):
      return [ScannerHealth.record.json((health, time))] + states(moment, &state)
    case .identity(let finding, let time):
      return [IdentityFinding.record.json((finding, time))]
    case .refused: return end(EmbeddedScanner.forbidden, &state)
    case .ended(let sentence, let isFailure):
      return end(sentence, isFailure: isFailure, moment, &state)
    case .ranging, .regionState, .registered: return []
    }
  }

  private func lines(
    of event: LocationEvent, _ moment: Moment, _ state: inout State
  ) -> [[UInt8]] {
    switch event {
    case .circle(let event):
      return circleStates(at: event.wallClockTime, &state)
        + (state.events.line(of: event).map { [$0.record.json($0)] } ?? [])
    case .fixes(let fixes): return circleStates(at: fixes.first?.timestamp, &state)
    case .visit(let visit):
      return [LocateLine.visit.json(.visit(visit, at: moment.located ?? .now))]
    case .health(let health, let time):
      return [LocationHealth.record.json((health, time))]
        + (options.isLive ? circleStates(at: time, &state) : [])
    case .refused: return end(EmbeddedScanner.forbidden, &state)
    case .ended(let sentence, let isFailure):
      return end(sentence, isFailure: isFailure, moment, &state)
    default: return []
    }
  }

  private func states(_ moment: Moment, _ state: inout State) -> [[UInt8]] {
    guard let began = moment.began, !state.areStatesWritten.beacons else { return [] }
    state.areStatesWritten.beacons = true
    return state.events.removeStates(at: began, moment.offset).map { $0.record.json($0) }
  }

  private func circleStates(at time: WallClockTime?, _ state: inout State) -> [[UInt8]] {
    guard let time, !state.areStatesWritten.circles else { return [] }
    state.areStatesWritten.circles = true
    return state.events.removeCircleStates(at: time).map { $0.record.json($0) }
  }

  /// Returns the lines for the end of a service. The last service or a failure ends the stream.
  private func end(
    _ sentence: String, isFailure: Bool, _ moment: Moment, _ state: inout State
  ) -> [[UInt8]] {
    state.running -= 1
    guard isFailure || state.running == 0 else { return [] }
    var lines: [[UInt8]] = []
    if moment.summary != nil { lines += states(moment, &state) }
    if moment.located != nil { lines += circleStates(at: moment.located, &state) }
    lines += moment.tracks.map { TrackSummary.record.json($0) }
    if let summary = moment.summary { lines.append(ScanSummary.record.json(summary)) }
    return lines + end(isFailure ? moment.failure ?? sentence : nil, &state)
  }

  private func end(_ sentence: String?, _ state: inout State) -> [[UInt8]] {
    state.isOver = true
    return [Self.end.json(sentence)]
  }

  /// Returns the next line; `nil` if none waits or a function takes them. The line before is done.
  func next() -> [UInt8]? {
    guard state.withLock({ $0.consumer == nil }) else { return nil }
    finishCurrent()
    return state.withLock { $0.takeLine() }
  }

  /// Passes every line to a function from now on, one at a time. With `nil`, waits until the
  /// earlier function has returned, unless that function is the caller.
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
    current?.complete()
  }

  /// Ends the feed and the calls of the function. Waiting lines count as not delivered.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.consumer = nil
    }
    waitForConsumer()
    finishCurrent()
    let left = state.withLock { state in
      defer { state.updateSignal() }
      state.services = nil
      return state.lines.removeAll()
    }
    for delivery in left { delivery.finish() }
  }
}

extension ServiceEvent {
  /// Whether the event belongs to a registration: such events are kept until they were dealt with.
  fileprivate var isOfRegistration: Bool {
    switch self as any ServiceEvent {
    case BeaconEvent.region, LocationEvent.circle, LocationEvent.visit: true
    default: false
    }
  }

  /// The reason that a service has ended, and whether it is a failure; `nil` for other events.
  fileprivate var end: (sentence: String, isFailure: Bool)? {
    switch self as any ServiceEvent {
    case BeaconEvent.ended(let sentence, let isFailure),
      LocationEvent.ended(let sentence, let isFailure):
      (sentence, isFailure)
    default: nil
    }
  }
}
