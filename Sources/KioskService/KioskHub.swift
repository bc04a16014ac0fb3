package import Advertising
import HTTPServing
package import Positioning
import Ranging
import Records
package import Regions
package import Scanning
package import ServiceCore
import Storage
import Synchronization

/// The published state of the service: the regions with their states, the latest ranging report,
/// the receivers' states, and the journal.
package final class KioskHub: Sendable {
  /// A kind of value, of which clients get the latest.
  enum ValueKind: String, CaseIterable {
    case range, fix, heading
  }

  fileprivate struct State {
    var kiosk = KioskState()
    /// The latest values as JSON. None before the first, and while they are not received.
    var values: [ValueKind: [UInt8]] = [:]
    var valueCounts: [ValueKind: Int] = [:]
    var beacons: [RangedBeacon] = []
    var isRanging = false
    var isLocating = false
    var signals = SignalHistory()
    var faults: [String: String] = [:]
    var latencies = LatencyHistogram()
    var isChanging = false
    var filter: (revision: Int, filter: ConstraintFilter)?
    var listener: (@Sendable (JournalChange) -> Void)?

    mutating func set(_ kind: ValueKind, _ json: [UInt8]) {
      values[kind] = json
      valueCounts[kind, default: 0] += 1
    }
  }

  package let journal: Journal
  private let state: Mutex<State>
  let waiters = Waiters()
  let interest = InterestMeter()
  private let began = ContinuousClock.now
  private let version: String
  private let format: EventFormat
  private let isRecorded: Bool
  let hasLocations: Bool
  /// The current time, or the time of a recording.
  private let now: @Sendable () -> WallClockTime
  private let isReceiving: @Sendable () -> (isReceiving: Bool, isNeeded: Bool)

  package init(
    _ journal: Journal, format: EventFormat, isRecorded: Bool, hasLocations: Bool = false,
    version: String,
    now: @escaping @Sendable () -> WallClockTime,
    isReceiving: @escaping @Sendable () -> (isReceiving: Bool, isNeeded: Bool)
  ) {
    self.journal = journal
    self.format = format
    self.isRecorded = isRecorded
    self.hasLocations = hasLocations
    self.version = version
    self.now = now
    self.isReceiving = isReceiving
    journal.load()
    var state = State()
    state.kiosk = KioskState(position: journal.latest)
    self.state = Mutex(state)
    journal.observe { [weak self] in self?.receive($0) }
  }

  /// Sets a function that receives each change after the hub. It must not block.
  package func onChange(_ listener: @escaping @Sendable (JournalChange) -> Void) {
    state.withLock { $0.listener = listener }
  }

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
      return state.kiosk.receive(change)
    }
    if changesRegions { announceRegions() }
    state.withLock { $0.listener }?(change)
    waiters.wake()
  }

  /// Announces the regions to all clients. One event stands for all changes that coincide.
  package func announceRegions() {
    let isNew = state.withLock { state in
      defer { state.isChanging = true }
      return !state.isChanging
    }
    if isNew { journal.append(RegionsChanged(time: now())) }
  }

  package func restore(_ known: RegionSnapshot, in group: ClientGroup) {
    format.begin(with: known)
    let registered = BeaconRegistrationState(state: known.status.state, since: known.since)
    _ = state.withLock { state in
      state.kiosk.receive(
        .registered(
          BeaconService.name, group, known.region.identifier, known.region, state: registered))
    }
  }

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

  package func setRules(_ rules: RegionRules) {
    format.setRules(rules)
    state.withLock { $0.kiosk.reportsEachBeacon = rules.reportsEachBeacon }
  }

  package func receive(_ report: RangingReport) {
    let time = report.wallClockTime
    let json = Self.report.json(RegionReport(time: time, region: nil, beacons: report.beacons))
    state.withLock { state in
      // A report that was on its way when the receiver was turned off is outdated.
      guard state.isRanging else { return }
      state.set(.range, json)
      state.beacons = report.beacons
      state.signals.receive(report.beacons, at: time)
      state.kiosk.tally.ranged = report.beacons.count
    }
    waiters.wake()
  }

  /// Sets whether beacons are ranged. While they are not, there is no latest report, since it would
  /// be outdated when ranging resumes.
  package func setRanging(_ isRanging: Bool) {
    state.withLock { state in
      state.isRanging = isRanging
      guard !isRanging else { return }
      state.values[.range] = nil
      state.beacons = []
    }
  }

  @discardableResult
  package func receive(_ fix: Fix) -> [UInt8] {
    let json = LocateLine.fix.json(.fix(fix))
    setLocation(.fix, json)
    return json
  }

  package func receive(_ heading: Heading) {
    setLocation(.heading, LocateLine.heading.json(.heading(heading)))
  }

  private func setLocation(_ kind: ValueKind, _ json: [UInt8]) {
    state.withLock { if $0.isLocating { $0.set(kind, json) } }
    waiters.wake()
  }

  /// Sets whether location updates run. While they do not, there is no latest fix or heading.
  package func setLocating(_ isLocating: Bool) {
    state.withLock { state in
      state.isLocating = isLocating
      guard !isLocating else { return }
      state.values[.fix] = nil
      state.values[.heading] = nil
    }
  }

  static let report = RegionReport.record(
    of: RangedBeacon.record(showsRaw: true, showsSides: false))

  package func setFault(_ sentence: String?, of part: String) {
    state.withLock { $0.faults[part] = sentence }
  }

  /// A stream's position: the last journal entry, and the number of the last value of each kind.
  struct Place: Equatable, Sendable {
    var position: Int64
    fileprivate var values: [ValueKind: Int]

    fileprivate init(_ state: State) {
      position = state.kiosk.position
      values = state.valueCounts
    }
  }

  var place: Place { state.withLock { Place($0) } }

  /// Returns the values that are newer than a place, and updates the place.
  func values(after place: inout Place) -> [(kind: String, json: [UInt8])] {
    let (counts, found) = state.withLock { [place] state in
      let kinds = ValueKind.allCases.filter { state.valueCounts[$0] != place.values[$0] }
      return (state.valueCounts, kinds.map { ($0.rawValue, state.values[$0]) })
    }
    place.values = counts
    return found.compactMap { kind, json in json.map { (kind, $0) } }
  }

  var valueCounts: [ValueKind: Int] { state.withLock { $0.valueCounts } }

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

  var latestReport: [UInt8]? { state.withLock { $0.values[.range] } }

  private func location(_ state: State) -> LocationRecord? {
    guard hasLocations else { return nil }
    var location = LocationRecord()
    location.fix = state.values[.fix]
    location.heading = state.values[.heading]
    location.visit = state.kiosk.visit
    return location
  }

  var locationJSON: [UInt8]? {
    state.withLock { location($0) }.map(LocationRecord.record.json)
  }

  var hasFix: Bool { state.withLock { $0.values[.fix] != nil } }

  var snapshotJSON: (json: [UInt8], place: Place) {
    let health = health
    let (snapshot, place) = state.withLock { state in
      let snapshot = SnapshotRecord(
        time: now(), regions: state.kiosk.sortedRegions, beacons: state.beacons, health: health,
        location: location(state))
      return (snapshot, Place(state))
    }
    return (SnapshotRecord.record.json(snapshot), place)
  }

  /// The latest report as JSON, or one without beacons.
  var reportJSON: [UInt8] {
    latestReport ?? Self.report.json(RegionReport(time: now(), region: nil, beacons: []))
  }

  package var regions: [RegionRecord] { state.withLock { $0.kiosk.sortedRegions } }

  package func region(_ name: String) -> RegionRecord? {
    state.withLock { $0.kiosk.regions[name] }
  }

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

  var regionsJSON: [UInt8] { Self.regionList.json(regions) }

  private static let regionList = RecordType<[RegionRecord]>(
    nil, [Field("regions", each: RegionRecord.record) { $0 }])

  func regionJSON(_ name: String, _ approach: Approach? = nil) -> [UInt8]? {
    region(name).map { region in
      var region = region
      region.approach = approach
      return RegionRecord.record.json(region)
    }
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

  var healthJSON: [UInt8] { ServiceHealth.record.json(health) }

  var signalJSON: [UInt8] {
    Self.signalList.json(state.withLock { $0.signals.nearest(64) })
  }

  private static let signalList = RecordType<[SignalRecord]>(
    nil, [Field("beacons", each: SignalRecord.record) { $0 }])

  /// Returns events as JSON, and the ID from which to continue if there are more.
  func historyJSON(
    after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?, limit: Int
  ) throws(StorageError) -> [UInt8] {
    // Without a start, the latest events are returned.
    let isForward = id != nil || since != nil
    let found = try journal.entries(
      matching: EntryQuery(
        after: id, since: since?.microseconds, until: until?.microseconds, region: region,
        kinds: EventFormat.historyKinds, limit: limit + 1, leavesNewest: !isForward))
    let events = isForward ? Array(found.prefix(limit)) : Array(found.suffix(limit))
    let next = isForward && found.count > limit ? events.last?.id : nil
    return Self.eventList.json(
      (
        events: events.map { NumberedEvent(id: journal.text(of: $0.id), json: $0.record) },
        next: next.map { journal.text(of: $0) }
      ))
  }

  private static let eventList = RecordType<(events: [NumberedEvent], next: String?)>(
    nil,
    [
      Field("events", each: NumberedEvent.record) { $0.events },
      Field("next", .text.orNull) { $0.next },
    ])

  /// Returns the events between an ID and a position. `isWhole` is `false` if some no longer exist.
  func missed(after text: String, through end: Int64) -> (events: [JournalEntry], isWhole: Bool) {
    // An unknown ID is from another journal, or was not written before its process ended.
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

  var tally: EventTally { state.withLock { $0.kiosk.tally } }
  var latencies: LatencyHistogram { state.withLock { $0.latencies } }

  package func onInterest(_ body: @escaping @Sendable (Bool) -> Void) { interest.onChange(body) }

  func withInterest<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    interest.begin()
    defer { interest.end() }
    return try await body()
  }
}

extension JournalEntry {
  var line: MonitorEvent? { self.detail as? MonitorEvent }
}
