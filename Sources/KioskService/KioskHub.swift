package import Advertising
package import Positioning
import Ranging
package import Records
package import Regions
package import Scanning
package import ServiceCore
import Storage
import Synchronization

/// The published state of the service: the regions and their states, the latest ranging report, the receivers' states, and
/// the journal of what led there.
///
/// The journal's changes come in at one side, in order. At the other, ``KioskServer`` answers requests.
package final class KioskHub: Sendable {
  fileprivate struct State {
    var kiosk = KioskState()
    /// The latest report, and its beacons as a JSON array; `nil` before the first, and while the receiver rests.
    var report: [UInt8]?
    var beacons: [UInt8]?
    /// The number of the latest report.
    var reports = 0
    var isRanging = false
    /// The latest fix and heading, as JSON objects; `nil` before the first, and while their source rests.
    var fix: [UInt8]?
    var heading: [UInt8]?
    /// The numbers of the latest fix and of the latest heading.
    var fixes = 0
    var headings = 0
    var isLocating = false
    var signals = SignalHistory()
    var faults: [String: String] = [:]
    var latencies = LatencyHistogram()
    /// Whether a change of the regions is on its way to the journal.
    var isChanging = false
    /// The beacons of the regions, of a revision.
    var filter: (revision: Int, filter: ConstraintFilter)?
  }

  package let journal: Journal
  private let state: Mutex<State>
  /// The streams that wait.
  let waiters = Waiters()
  private let interest = InterestMeter()
  private let began = ContinuousClock.now
  private let version: String
  private let format: EventFormat
  private let isRecorded: Bool
  /// Whether the service has locations.
  let hasLocations: Bool
  /// Called with each change, on the journal's queue, after the hub has it.
  private let listener: @Sendable (JournalChange) -> Void
  /// Where the time is taken from: a recording has its own.
  private let now: @Sendable () -> WallClockTime
  private let isReceiving: @Sendable () -> (isReceiving: Bool, isNeeded: Bool)

  /// Creates a hub of a journal, and observes it.
  ///
  /// - Parameters:
  ///   - journal: The journal.
  ///   - format: What makes the journal's records.
  ///   - isRecorded: Whether the source is a recording.
  ///   - hasLocations: Whether the service has locations.
  ///   - version: The version that clients are shown.
  ///   - now: Returns the time of the source.
  ///   - isReceiving: Returns whether the source receives, and whether something needs it.
  ///   - listener: Is called with each change after the hub has it; it must not wait.
  package init(
    _ journal: Journal, format: EventFormat, isRecorded: Bool, hasLocations: Bool = false,
    version: String,
    now: @escaping @Sendable () -> WallClockTime,
    isReceiving: @escaping @Sendable () -> (isReceiving: Bool, isNeeded: Bool),
    listener: @escaping @Sendable (JournalChange) -> Void = { _ in }
  ) {
    self.journal = journal
    self.format = format
    self.isRecorded = isRecorded
    self.hasLocations = hasLocations
    self.version = version
    self.now = now
    self.isReceiving = isReceiving
    self.listener = listener
    journal.load()
    var state = State()
    state.kiosk = KioskState(position: journal.latest)
    self.state = Mutex(state)
    journal.observe { [weak self] in self?.receive($0) }
  }

  // MARK: From the core

  /// Takes a change of the journal.
  private func receive(_ change: JournalChange) {
    if case .unregistered(_, _, let name) = change {
      format.forget(LocationService.circle(ofStored: name) ?? name)
    }
    let changesRegions = state.withLock { state in
      if case .entry(let entry) = change {
        if entry.event is RegionsChanged { state.isChanging = false }
        if entry.kind == "enter", let line = entry.line,
          let time = line.reason?.lastSighting?.time, !isRecorded
        {
          state.latencies.add(MonotonicTime.now.seconds(since: time))
        }
      }
      return state.kiosk.receive(change) == .regions
    }
    if changesRegions { announceRegions() }
    listener(change)
    waiters.wake()
  }

  /// Has everybody be given the regions. One event stands for all changes that come together.
  package func announceRegions() {
    let isNew = state.withLock { state in
      defer { state.isChanging = true }
      return !state.isChanging
    }
    if isNew { journal.append(RegionsChanged(time: now())) }
  }

  /// Adds a region that an earlier process stored, before anything is received.
  package func restore(_ known: RegionSnapshot, in group: ClientGroup) {
    format.begin(with: known)
    let registered = BeaconRegistrationState(state: known.status.state, since: known.since)
    _ = state.withLock { state in
      state.kiosk.receive(
        .registered(
          BeaconService.name, group, known.region.identifier, known.region, state: registered))
    }
  }

  /// Adds a circle that an earlier process stored, before anything is received.
  package func restore(_ known: CircleSnapshot, in group: ClientGroup) {
    format.begin(with: known)
    let state = known.since.map { LocationRegistrationState.circle(known.state, since: $0) }
    _ = self.state.withLock {
      $0.kiosk.receive(
        .registered(
          LocationService.name, group, known.circle.region.identifier,
          LocationRegistration.circle(known.circle), state: state))
    }
  }

  /// Sets the rules of regions that have none of their own.
  package func setRules(_ rules: RegionRules) {
    format.setRules(rules)
    state.withLock { $0.kiosk.reportsEachBeacon = rules.reportsEachBeacon }
  }

  /// Takes a ranging report.
  package func receive(_ report: RangingReport) {
    let time = report.wallClockTime
    var beacons: [UInt8] = Array("[".utf8)
    for (index, beacon) in report.beacons.enumerated() {
      if index > 0 { beacons.append(UInt8(ascii: ",")) }
      Self.beacon.append(beacon, to: &beacons)
    }
    beacons.append(UInt8(ascii: "]"))
    var data: [UInt8] = []
    Self.report.append(RegionReport(time: time, region: nil, beacons: report.beacons), to: &data)
    state.withLock { [beacons, data] state in
      // One that was on its way when the receiver began to rest is old.
      guard state.isRanging else { return }
      state.report = data
      state.beacons = beacons
      state.reports += 1
      state.signals.receive(report.beacons, at: time)
      state.kiosk.count(ranged: report.beacons.count)
    }
    waiters.wake()
  }

  /// Sets whether beacons are ranged. While they are not, there is no latest report: what was received is old when the
  /// receiver works again.
  package func setRanging(_ isRanging: Bool) {
    state.withLock { state in
      state.isRanging = isRanging
      guard !isRanging else { return }
      state.report = nil
      state.beacons = nil
    }
  }

  /// Takes a fix, and returns it as a JSON object.
  @discardableResult
  package func receive(_ fix: Fix) -> [UInt8] {
    var json: [UInt8] = []
    LocateLine.fix.append(.fix(fix), to: &json)
    state.withLock { [json] state in
      guard state.isLocating else { return }
      state.fix = json
      state.fixes += 1
      state.kiosk.countFix()
    }
    waiters.wake()
    return json
  }

  /// Takes a heading.
  package func receive(_ heading: Heading) {
    var json: [UInt8] = []
    LocateLine.heading.append(.heading(heading), to: &json)
    state.withLock { [json] state in
      guard state.isLocating else { return }
      state.heading = json
      state.headings += 1
    }
    waiters.wake()
  }

  /// Sets whether there are location updates. While there are none, there is no latest fix.
  package func setLocating(_ isLocating: Bool) {
    state.withLock { state in
      state.isLocating = isLocating
      guard !isLocating else { return }
      state.fix = nil
      state.heading = nil
    }
  }

  static let beacon = RangedBeacon.record(showsRaw: true, showsSides: false)
  static let report = RegionReport.record(of: beacon)

  /// Sets or removes what is wrong with a part of the service, as a sentence.
  package func setFault(_ sentence: String?, of part: String) {
    state.withLock { $0.faults[part] = sentence }
  }

  // MARK: For those who ask

  /// A value of which the newest counts, as an event stream has it.
  enum Value: String {
    case range, fix, heading
  }

  /// How far a stream is: the latest entry of the journal, and the number of the latest value of each kind.
  struct Place: Equatable, Sendable {
    var position: Int64
    fileprivate var report: Int
    fileprivate var fix: Int
    fileprivate var heading: Int

    fileprivate init(_ state: State) {
      position = state.kiosk.position
      report = state.reports
      fix = state.fixes
      heading = state.headings
    }
  }

  /// The latest entry that the state has, and the latest values.
  var place: Place { state.withLock { Place($0) } }

  /// Returns the values that are newer than a place, and brings the place up to them.
  func values(after place: inout Place) -> [(kind: Value, json: [UInt8])] {
    let (latest, found) = state.withLock { [place] state in
      let latest = Place(state)
      let values = [
        (Value.range, latest.report != place.report ? state.report : nil),
        (.fix, latest.fix != place.fix ? state.fix : nil),
        (.heading, latest.heading != place.heading ? state.heading : nil),
      ]
      return (latest, values)
    }
    let position = place.position
    place = latest
    place.position = position
    return found.compactMap { kind, json in json.map { (kind, $0) } }
  }

  /// Waits until a condition holds, for a time at most.
  func wait(_ limit: Duration, until isReady: @escaping @Sendable () -> Bool) async {
    guard !isReady() else { return }
    await withTaskGroup { tasks in
      tasks.addTask { [waiters] in
        while !isReady(), await waiters.wait(unless: isReady) {}
      }
      tasks.addTask { try? await Task.sleep(for: limit) }
      await tasks.next()
      tasks.cancelAll()
    }
  }

  /// The latest report; `nil` where there is none.
  var latestReport: [UInt8]? { state.withLock { $0.report } }

  /// Everything that is known, and the place of what it has.
  func snapshot() -> (record: SnapshotRecord, place: Place) {
    let health = health
    return state.withLock { state in
      let snapshot = SnapshotRecord(
        time: now(), regions: state.kiosk.sortedRegions, beacons: state.beacons ?? Array("[]".utf8),
        health: health, location: location(state))
      return (snapshot, Place(state))
    }
  }

  private func location(_ state: State) -> LocationRecord? {
    guard hasLocations else { return nil }
    var location = LocationRecord()
    location.fix = state.fix
    location.heading = state.heading
    location.visit = state.kiosk.visit
    return location
  }

  /// Where the machine is, as JSON; `nil` where the service has no locations.
  var locationJSON: [UInt8]? {
    guard let location = state.withLock({ location($0) }) else { return nil }
    var json: [UInt8] = []
    LocationRecord.record.append(location, to: &json)
    return json
  }

  /// Whether there is a fix.
  var hasFix: Bool { state.withLock { $0.fix != nil } }

  var snapshotJSON: (json: [UInt8], place: Place) {
    let (record, place) = snapshot()
    var json: [UInt8] = []
    SnapshotRecord.record.append(record, to: &json)
    return (json, place)
  }

  /// The latest report; an empty one where there is none.
  var reportJSON: [UInt8] {
    if let report = latestReport { return report }
    var json: [UInt8] = []
    Self.report.append(RegionReport(time: now(), region: nil, beacons: []), to: &json)
    return json
  }

  /// The regions, by name.
  package var regions: [RegionRecord] { state.withLock { $0.kiosk.sortedRegions } }

  /// Returns the region of a name; `nil` where there is none.
  package func region(_ name: String) -> RegionRecord? {
    state.withLock { $0.kiosk.regions[name] }
  }

  /// Returns whether a beacon is in a region.
  package func include(_ beacon: BeaconIdentity) -> Bool {
    state.withLock { state in
      let revision = state.kiosk.revision
      if state.filter?.revision != revision {
        let requests = state.kiosk.regions.values.compactMap { region in
          region.constraint.map { RangingRequest($0) }
        }
        state.filter = (revision, ConstraintFilter(requests))
      }
      return state.filter?.filter.matches(beacon) ?? false
    }
  }

  var regionsJSON: [UInt8] {
    list("regions", regions) { region, json in RegionRecord.record.append(region, to: &json) }
  }

  /// Returns a region as JSON; `nil` where there is none of that name.
  func regionJSON(_ name: String) -> [UInt8]? {
    guard let region = region(name) else { return nil }
    var json: [UInt8] = []
    RegionRecord.record.append(region, to: &json)
    return json
  }

  var health: ServiceHealth {
    let (isReceiving, isNeeded) = isReceiving()
    let uptime = began.duration(to: .now) / .seconds(1)
    let storeFault = journal.fault
    return state.withLock { state in
      ServiceHealth(
        isReceiving: isReceiving, isNeeded: isNeeded, receivers: state.kiosk.receivers,
        locationSources: state.kiosk.locationSources, uptime: uptime, version: version,
        faults: state.faults.sorted { $0.key < $1.key }.map(\.value)
          + (storeFault.map { [$0] } ?? []))
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

  /// Returns events as JSON, and whether there may be more.
  func historyJSON(
    after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?, limit: Int
  ) throws(StorageError) -> [UInt8] {
    // Without a start, the latest ones are wanted.
    let isForward = id != nil || since != nil
    let found = try journal.entries(
      matching: EntryQuery(
        after: id, since: since?.microseconds, until: until?.microseconds, region: region,
        kinds: EventFormat.historyKinds, limit: limit + 1, leavesNewest: !isForward))
    let events = isForward ? Array(found.prefix(limit)) : Array(found.suffix(limit))
    var json = list("events", events) { event, json in
      NumberedEvent.record.append(
        NumberedEvent(id: journal.text(of: event.id), json: event.record), to: &json)
    }
    json.removeLast()
    let next =
      isForward && found.count > limit ? events.last.map { "\"\(journal.text(of: $0.id))\"" } : nil
    json += ",\"next\":\(next ?? "null")}".utf8
    return json
  }

  /// Returns what a client that comes back has missed up to a position of the journal, and whether some of it is gone.
  func missed(after text: String, through end: Int64) -> (events: [JournalEntry], isWhole: Bool) {
    // One that is not there belongs to another journal, or could not be written before its process ended.
    guard let given = EntryID(text), given.generation == journal.generation,
      journal.hasGiven(given.number)
    else { return ([], false) }
    var events: [JournalEntry] = []
    var position = given.number
    while position < end {
      let batch = journal.missed(after: position)
      events += batch.entries.filter { $0.id > position && $0.id <= end }
      guard !batch.hasMissed, events.count < Journal.maximumEntries else {
        return (events.suffix(Journal.maximumEntries), false)
      }
      guard batch.position > position else { break }
      position = batch.position
    }
    return (events, true)
  }

  /// The numbers that ``Metrics`` shows.
  var tally: EventTally { state.withLock { $0.kiosk.tally } }
  var latencies: LatencyHistogram { state.withLock { $0.latencies } }

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

extension JournalEntry {
  /// The line of a region's event, as the journal's observers have it.
  var line: MonitorEvent? { detail as? MonitorEvent }
}
