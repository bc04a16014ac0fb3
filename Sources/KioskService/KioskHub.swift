package import Advertising
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
///
/// Changes arrive from the journal in order. ``KioskServer`` reads the state for its clients.
package final class KioskHub: Sendable {
  fileprivate struct State {
    var kiosk = KioskState()
    /// The latest report as JSON, and its beacons. None before the first, and while not ranging.
    var report: [UInt8]?
    var beacons: [RangedBeacon] = []
    var isRanging = false
    /// The latest fix and heading as JSON. `nil` before the first, and while not locating.
    var fix: [UInt8]?
    var heading: [UInt8]?
    var headings = 0
    var isLocating = false
    var signals = SignalHistory()
    var faults: [String: String] = [:]
    var latencies = LatencyHistogram()
    /// Whether an event about the regions is on its way to the journal.
    var isChanging = false
    /// The filter for the regions' beacons, at a revision.
    var filter: (revision: Int, filter: ConstraintFilter)?
    var listener: (@Sendable (JournalChange) -> Void)?
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

  /// Creates a hub, and observes the journal.
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

  // MARK: From the core

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

  /// Adds a stored region, before anything is received.
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
      state.report = json
      state.beacons = report.beacons
      state.signals.receive(report.beacons, at: time)
      state.kiosk.tally.ranged = report.beacons.count
      state.kiosk.tally.reports += 1
    }
    waiters.wake()
  }

  /// Sets whether beacons are ranged. While they are not, there is no latest report, since it would
  /// be outdated when ranging resumes.
  package func setRanging(_ isRanging: Bool) {
    state.withLock { state in
      state.isRanging = isRanging
      guard !isRanging else { return }
      state.report = nil
      state.beacons = []
    }
  }

  @discardableResult
  package func receive(_ fix: Fix) -> [UInt8] {
    let json = LocateLine.fix.json(.fix(fix))
    state.withLock { state in
      guard state.isLocating else { return }
      state.fix = json
      state.kiosk.tally.fixes += 1
    }
    waiters.wake()
    return json
  }

  package func receive(_ heading: Heading) {
    let json = LocateLine.heading.json(.heading(heading))
    state.withLock { state in
      guard state.isLocating else { return }
      state.heading = json
      state.headings += 1
    }
    waiters.wake()
  }

  /// Sets whether location updates run. While they do not, there is no latest fix or heading.
  package func setLocating(_ isLocating: Bool) {
    state.withLock { state in
      state.isLocating = isLocating
      guard !isLocating else { return }
      state.fix = nil
      state.heading = nil
    }
  }

  static let report = RegionReport.record(
    of: RangedBeacon.record(showsRaw: true, showsSides: false))

  /// Sets or removes the fault of a part of the service, as a sentence.
  package func setFault(_ sentence: String?, of part: String) {
    state.withLock { $0.faults[part] = sentence }
  }

  // MARK: For those who ask

  /// A stream's position: the last journal entry, and the number of the last value of each kind.
  struct Place: Equatable, Sendable {
    var position: Int64
    fileprivate var report: Int
    fileprivate var fix: Int
    fileprivate var heading: Int

    fileprivate init(_ state: State) {
      position = state.kiosk.position
      report = state.kiosk.tally.reports
      fix = state.kiosk.tally.fixes
      heading = state.headings
    }
  }

  var place: Place { state.withLock { Place($0) } }

  /// Returns the values that are newer than a place, with their events' kinds, and updates the
  /// place.
  func values(after place: inout Place) -> [(kind: String, json: [UInt8])] {
    let (latest, found) = state.withLock { [place] state in
      let latest = Place(state)
      let values = [
        ("range", latest.report != place.report ? state.report : nil),
        ("fix", latest.fix != place.fix ? state.fix : nil),
        ("heading", latest.heading != place.heading ? state.heading : nil),
      ]
      return (latest, values)
    }
    let position = place.position
    place = latest
    place.position = position
    return found.compactMap { kind, json in json.map { (kind, $0) } }
  }

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

  var latestReport: [UInt8]? { state.withLock { $0.report } }

  private func location(_ state: State) -> LocationRecord? {
    guard hasLocations else { return nil }
    var location = LocationRecord()
    location.fix = state.fix
    location.heading = state.heading
    location.visit = state.kiosk.visit
    return location
  }

  /// The location as JSON, or `nil` if the service has no location source.
  var locationJSON: [UInt8]? {
    state.withLock { location($0) }.map(LocationRecord.record.json)
  }

  var hasFix: Bool { state.withLock { $0.fix != nil } }

  /// The complete state as JSON, and its place.
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

  // MARK: Interest in beacons

  package func onInterest(_ body: @escaping @Sendable (Bool) -> Void) { interest.onChange(body) }

  /// Counts as interest in the beacons until the closure ends.
  func withInterest<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    interest.begin()
    defer { interest.end() }
    return try await body()
  }
}

extension JournalEntry {
  /// The encoded event of a region, for observers of the journal.
  var line: MonitorEvent? { self.detail as? MonitorEvent }
}
