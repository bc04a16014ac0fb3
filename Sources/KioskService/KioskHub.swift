package import Advertising
import Ranging
package import Records
import Regions
package import Scanning
package import ServiceCore
import Synchronization

/// What the service knows, for all who ask: the regions and their states, the latest report, the receivers' states, and
/// the events that led there.
///
/// The core's events come in at one side. At the other, ``KioskServer`` answers requests, and what else wants events
/// is called with each.
package final class KioskHub: Sendable {
  /// Keeps events for later processes.
  package protocol Recorder: Sendable {
    /// Stores an event, and returns its number; the number that it has already where it was stored before.
    ///
    /// - Throws: What prevents it, whose description is a sentence. The event is offered no second time.
    func record(_ event: NewEvent) throws -> (id: Int64, isNew: Bool)
    /// Returns events behind a number, the oldest first, at most as many as a number.
    /// Of more than that, the newest are returned where that is wanted. `nil` where the recorder has nothing to read yet.
    func events(
      after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?, limit: Int,
      leavesNewest: Bool
    ) throws -> [FeedEvent]?
    /// The number of the oldest event that is kept; `nil` where none is.
    var oldest: Int64? { get }
    /// The number of the latest event.
    var latest: Int64 { get }
    /// What distinguishes these numbers from those of other databases: eight hexadecimal digits.
    var generation: String { get }
  }

  /// An event without a number.
  package struct NewEvent: Sendable {
    package var kind: String
    package var time: WallClockTime
    package var region: String?
    package var beacon: BeaconIdentity?
    package var dwell: Double?
    package var data: [UInt8]
  }

  private struct State {
    var regions: [String: RegionRecord] = [:]
    var receivers: [(health: ScannerHealth, time: WallClockTime)] = []
    var beacons: [UInt8] = Array("[]".utf8)
    var reportTime: WallClockTime?
    var signals = SignalHistory()
    var faults: [String: String] = [:]
    var tally = EventTally()
  }

  package let feed: EventFeed
  private let recorder: (any Recorder)?
  private let state = Mutex(State())
  /// Held while an event gets its number, so that events are in the order of their numbers everywhere.
  private let order: Mutex<Int64>
  private let interest = InterestMeter()
  private let began = ContinuousClock.now
  private let version: String
  /// What distinguishes the numbers of these events from those of other processes or databases.
  let generation: String
  private let listeners = Mutex<[@Sendable (FeedEvent) -> Void]>([])
  /// Where the time is taken from: a recording has its own.
  private let now: @Sendable () -> WallClockTime
  private let isReceiving: @Sendable () -> (isReceiving: Bool, isNeeded: Bool)

  /// Creates a hub.
  ///
  /// - Parameters:
  ///   - recorder: Keeps events; without one, they end with the process.
  ///   - version: The version that clients are shown.
  ///   - now: Returns the time of the source.
  ///   - isReceiving: Returns whether the source receives, and whether something needs it.
  package init(
    recorder: (any Recorder)?, version: String, now: @escaping @Sendable () -> WallClockTime,
    isReceiving: @escaping @Sendable () -> (isReceiving: Bool, isNeeded: Bool)
  ) {
    self.recorder = recorder
    self.version = version
    self.now = now
    self.isReceiving = isReceiving
    let events =
      (try? recorder?.events(
        after: nil, since: nil, until: nil, region: nil, limit: EventFeed.maximumEvents,
        leavesNewest: true)) ?? []
    let latest = recorder?.latest ?? 0
    generation = recorder?.generation ?? Self.randomGeneration()
    feed = EventFeed(events, latest: latest)
    order = Mutex(latest)
  }

  // MARK: From the core

  /// Calls a function with each event, on the thread that has it and in order. It must not wait.
  package func addListener(_ body: @escaping @Sendable (FeedEvent) -> Void) {
    listeners.withLock { $0.append(body) }
  }

  /// Takes an event of a region.
  package func receive(_ event: MonitorEvent) {
    var data: [UInt8] = []
    event.record.append(event, to: &data)
    let new = NewEvent(
      kind: event.kind.rawValue, time: event.time, region: event.region, beacon: event.beacon,
      dwell: event.dwell, data: data)
    publish(new) { [data] state in
      state.tally.count(event)
      // Of a region that reports each of its beacons, the region has no event of its own.
      guard var region = state.regions[event.region] else { return }
      if let inside = event.beaconsInside { region.beacons = inside }
      let isInside = event.beacon == nil ? event.state == .inside : (region.beacons ?? 0) > 0
      let now: RegionState = isInside ? .inside : .outside
      if region.state != now { (region.state, region.since) = (now, event.time) }
      region.last = data
      state.regions[event.region] = region
    }
  }

  /// Takes a change of a receiver.
  package func receive(_ health: ScannerHealth, at time: WallClockTime) {
    var data: [UInt8] = []
    ScannerHealth.record.append((health, time), to: &data)
    let new = NewEvent(kind: "health", time: time, data: data)
    publish(new) { state in
      // A report about all adapters replaces those of each.
      state.receivers.removeAll {
        $0.health.adapter == health.adapter || health.adapter == nil || $0.health.adapter == nil
      }
      if state.receivers.count < 64 { state.receivers.append((health, time)) }
      state.tally.healthChanges += 1
    }
  }

  /// Takes a ranging report.
  package func receive(_ report: RangingReport) {
    let (record, time) = (Self.report, report.wallClockTime)
    var data: [UInt8] = []
    record.append(RegionReport(time: time, region: nil, beacons: report.beacons), to: &data)
    var beacons: [UInt8] = Array("[".utf8)
    for (index, beacon) in report.beacons.enumerated() {
      if index > 0 { beacons.append(UInt8(ascii: ",")) }
      Self.beacon.append(beacon, to: &beacons)
    }
    beacons.append(UInt8(ascii: "]"))
    state.withLock { [beacons] state in
      (state.beacons, state.reportTime) = (beacons, time)
      state.signals.receive(report.beacons, at: time)
      state.tally.ranged = report.beacons.count
      state.tally.reports += 1
    }
    feed.setReport(data)
  }

  static let beacon = RangedBeacon.record(showsRaw: true, showsSides: false)
  static let report = RegionReport.record(of: beacon)

  /// Replaces the regions: those that were known keep their latest event.
  package func setRegions(_ regions: [RegionRecord]) {
    let hasChanged = state.withLock { state in
      var new: [String: RegionRecord] = [:]
      for var region in regions {
        region.last = state.regions[region.name]?.last
        new[region.name] = region
      }
      let hasChanged =
        Set(new.keys) != Set(state.regions.keys)
        || new.values.contains { region in
          let old = state.regions[region.name]
          return old?.constraint != region.constraint || old?.isRemovable != region.isRemovable
            || old?.reportsEachBeacon != region.reportsEachBeacon
        }
      state.regions = new
      return hasChanged
    }
    guard hasChanged else { return }
    publish(NewEvent(kind: "regions", time: now(), data: regionsJSON)) { _ in }
  }

  /// Gives an event its number, and hands it to all.
  private func publish(_ new: NewEvent, _ change: @Sendable (inout State) -> Void) {
    order.withLock { latest in
      var id = latest + 1
      var fault: String?
      do {
        if let recorder {
          let (stored, isNew) = try recorder.record(new)
          // It was delivered to a process that was killed before it could confirm that.
          guard isNew else { return state.withLock { change(&$0) } }
          id = max(stored, id)
        }
      } catch {
        fault = "\(error)"
      }
      latest = id
      let event = FeedEvent(id: id, kind: new.kind, data: new.data)
      state.withLock { state in
        state.faults["history"] = fault
        change(&state)
        feed.append(event)
      }
      for listener in listeners.withLock({ $0 }) { listener(event) }
    }
  }

  /// Sets or removes what is wrong with a part of the service, as a sentence; the recorder is `history`.
  package func setFault(_ sentence: String?, of part: String) {
    state.withLock { $0.faults[part] = sentence }
  }

  // MARK: For those who ask

  /// Everything that is known, and the place in the feed that it belongs to.
  func snapshot() -> (record: SnapshotRecord, place: EventFeed.Place) {
    let health = health
    return state.withLock { state in
      let snapshot = SnapshotRecord(
        time: now(), regions: Self.sorted(state.regions), beacons: state.beacons, health: health)
      return (snapshot, feed.end)
    }
  }

  var snapshotJSON: (json: [UInt8], place: EventFeed.Place) {
    let (record, place) = snapshot()
    var json: [UInt8] = []
    SnapshotRecord.record.append(record, to: &json)
    return (json, place)
  }

  /// The latest report; an empty one before the first.
  var reportJSON: [UInt8] {
    if let report = feed.report { return report }
    var json: [UInt8] = []
    Self.report.append(RegionReport(time: now(), region: nil, beacons: []), to: &json)
    return json
  }

  /// The regions, by name.
  package var regions: [RegionRecord] { state.withLock { Self.sorted($0.regions) } }

  private static func sorted(_ regions: [String: RegionRecord]) -> [RegionRecord] {
    regions.values.sorted { $0.name < $1.name }
  }

  var regionsJSON: [UInt8] {
    list("regions", regions) { region, json in RegionRecord.record.append(region, to: &json) }
  }

  /// Returns a region as JSON; `nil` where there is none of that name.
  func regionJSON(_ name: String) -> [UInt8]? {
    guard let region = state.withLock({ $0.regions[name] }) else { return nil }
    var json: [UInt8] = []
    RegionRecord.record.append(region, to: &json)
    return json
  }

  var health: ServiceHealth {
    let (isReceiving, isNeeded) = isReceiving()
    let uptime = began.duration(to: .now) / .seconds(1)
    return state.withLock { state in
      ServiceHealth(
        isReceiving: isReceiving, isNeeded: isNeeded, receivers: state.receivers, uptime: uptime,
        version: version,
        faults: state.faults.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  var healthJSON: [UInt8] {
    var json: [UInt8] = []
    ServiceHealth.record.append(health, to: &json)
    return json
  }

  var signalJSON: [UInt8] {
    let signals = state.withLock { $0.signals.nearest(64) }
    return list("beacons", signals) { signal, json in SignalRecord.record.append(signal, to: &json)
    }
  }

  static func randomGeneration() -> String {
    let digits = String(UInt32.random(in: 0...UInt32.max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Returns the text by which a client continues behind an event.
  package func text(ofID id: Int64) -> String {
    EventID(generation: generation, number: id).description
  }

  /// Returns events as JSON, and whether there may be more.
  func historyJSON(
    after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?, limit: Int
  ) throws -> [UInt8] {
    let found = try storedEvents(
      after: id, since: since, until: until, region: region, limit: limit + 1)
    // Without a start, the latest ones are wanted.
    let isForward = id != nil || since != nil
    let events = isForward ? Array(found.prefix(limit)) : Array(found.suffix(limit))
    var json = list("events", events) { event, json in
      NumberedEvent.record.append(
        NumberedEvent(id: text(ofID: event.id), json: event.data), to: &json)
    }
    json.removeLast()
    let next =
      isForward && found.count > limit ? events.last.map { "\"\(text(ofID: $0.id))\"" } : nil
    json += ",\"next\":\(next ?? "null")}".utf8
    return json
  }

  /// Returns events of the history, or of the feed where there is none.
  private func storedEvents(
    after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?, limit: Int
  ) throws -> [FeedEvent] {
    if let stored = try recorder?.events(
      after: id, since: since, until: until, region: region, limit: limit,
      leavesNewest: id == nil && since == nil)
    {
      return stored
    }
    // A feed has no times and no names: without a history, there are only its events.
    let all = feed.read(after: EventFeed.Place(event: id ?? 0)).events.filter {
      $0.kind != "regions"
    }
    return id == nil ? Array(all.suffix(limit)) : Array(all.prefix(limit))
  }

  /// Returns what a client that comes back has missed: events of the feed, or of the history where they are older; and
  /// whether some are gone.
  func missed(after text: String) -> (events: [FeedEvent], isWhole: Bool) {
    // A number that was never given belongs to another history.
    guard let given = EventID(text), given.generation == generation, given.number <= feed.latest
    else { return ([], false) }
    let id = given.number
    let batch = feed.read(after: EventFeed.Place(event: id))
    guard batch.hasMissed, let recorder else { return (batch.events, !batch.hasMissed) }
    guard let oldest = recorder.oldest, oldest <= id + 1,
      let stored = try? recorder.events(
        after: id, since: nil, until: nil, region: nil, limit: EventFeed.maximumEvents,
        leavesNewest: false), stored.count < EventFeed.maximumEvents
    else { return (batch.events, false) }
    let end = stored.last?.id ?? id
    return (stored + batch.events.filter { $0.id > end }, true)
  }

  /// The numbers that ``Metrics`` shows.
  var tally: EventTally { state.withLock { $0.tally } }

  private func list<Element>(
    _ key: String, _ elements: [Element], _ append: (Element, inout [UInt8]) -> Void
  ) -> [UInt8] {
    var json = Array("{\"\(key)\":[".utf8)
    for (index, element) in elements.enumerated() {
      if index > 0 { json.append(UInt8(ascii: ",")) }
      append(element, &json)
    }
    json += "]}".utf8
    return json
  }

  // MARK: Interest in beacons

  /// Calls a function when somebody begins to want the beacons, and when nobody has for a while.
  package func onInterest(_ body: @escaping @Sendable (Bool) -> Void) { interest.onChange(body) }

  /// Records that somebody wants the beacons until the end of a closure.
  func withInterest<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    beginInterest()
    defer { endInterest() }
    return try await body()
  }

  func beginInterest() { interest.begin() }

  func endInterest() { interest.end() }
}

/// What was counted since the start.
struct EventTally: Sendable {
  /// By region: entries and exits.
  var transitions: [String: (enters: Int, exits: Int)] = [:]
  var healthChanges = 0
  /// The beacons of the latest report.
  var ranged = 0
  var reports = 0

  mutating func count(_ event: MonitorEvent) {
    // Names come over HTTP too: their number is bounded as that of the regions is.
    guard transitions[event.region] != nil || transitions.count < 4096 else { return }
    switch event.kind {
    case .enter: transitions[event.region, default: (0, 0)].enters += 1
    case .exit: transitions[event.region, default: (0, 0)].exits += 1
    case .state: break
    }
  }
}

/// The text by which a client continues behind an event: `e0bcc55d-17`.
struct EventID: CustomStringConvertible {
  /// What distinguishes the numbers of one database, or one process, from those of others.
  let generation: String
  let number: Int64

  init(generation: String, number: Int64) {
    (self.generation, self.number) = (generation, number)
  }

  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 8,
      parts[0].allSatisfy({ $0.isHexDigit && !$0.isUppercase }), parts[1].utf8.count <= 18,
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(parts[1])
    else { return nil }
    self.init(generation: String(parts[0]), number: number)
  }

  var description: String { "\(generation)-\(number)" }
}
