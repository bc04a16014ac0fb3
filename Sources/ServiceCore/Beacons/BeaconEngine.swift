import Advertising
import Ranging
import Regions
import Scanning

/// The processing of sightings for ranging and regions, on one time line, without clock or thread.
/// It stops where it has something to deliver, because a client may then change its requests.
struct BeaconEngine {
  enum News {
    case ranged(MonotonicTime, [RangedBeacon])
    case region(RegionTransition)
    case health(ScannerHealth)
    /// A problem with a beacon that is ranged or monitored.
    case identity(IdentityFinding)
  }

  /// The moment through which everything is processed; `nil` before the first one.
  private(set) var now: MonotonicTime?
  private(set) var began: MonotonicTime?
  private var news: [News] = []
  var monitor: RegionMonitor
  private(set) var ranged = ConstraintFilter()

  private let configuration: Ranger.Configuration
  private let pins: [BeaconIdentity: BluetoothAddress]
  private var ranger: Ranger
  private var adapters: AdapterChoice
  private var sides: SideFinder?
  private var isResting = false
  /// The moment since which reception is lost; `nil` otherwise.
  private(set) var receptionLostSince: MonotonicTime?
  private var schedule: RangingSchedule

  init(_ configuration: BeaconService.Configuration, isRecorded: Bool) {
    let ranging = configuration.ranging
    self.configuration = ranging
    pins = configuration.pins
    ranger = Ranger(ranging)
    sides = configuration.sides.map { SideFinder($0, maximumBeacons: ranging.maximumBeacons) }
    let monitoring = configuration.monitoring
    adapters = AdapterChoice(maximumBeacons: max(ranging.maximumBeacons, monitoring.maximumBeacons))
    let nanoseconds = configuration.rangingInterval * 1e9
    schedule = RangingSchedule(
      interval: nanoseconds >= 1 && nanoseconds < 9e18
        ? Int64(nanoseconds) : MonotonicTime.nanosecondsPerSecond,
      rests: isRecorded)
    monitor = RegionMonitor(monitoring)
  }

  var beaconsRanged: (count: Int, evictions: Int) { (ranger.beaconsReceived, ranger.evictions) }

  /// The moment of the next delivery of ``advance(to:)``, if no sighting comes before.
  var nextDeadline: MonotonicTime? {
    mutating get {
      let regions = monitor.regionCount > 0 ? monitor.nextDeadline() : nil
      guard !ranged.isEmpty, let report = schedule.due else { return regions }
      return regions.map { min($0, report) } ?? report
    }
  }

  /// Replaces the ranged beacons. Without any, the sightings so far are forgotten.
  mutating func range(_ beacons: ConstraintFilter) {
    let wasEmpty = ranged.isEmpty
    ranged = beacons
    guard ranged.isEmpty != wasEmpty else { return }
    if ranged.isEmpty {
      ranger = Ranger(configuration)
      sides?.removeAll()
    }
    schedule.reset()
    if let now, !isResting, receptionLostSince == nil { schedule.start(at: now) }
  }

  /// Pauses without demand. Exit timeouts and ranging reports do not run during a pause.
  mutating func rest() {
    guard let now, !isResting else { return }
    isResting = true
    append(monitor.receptionLost(from: now))
    schedule.reset()
  }

  var hasNews: Bool { !news.isEmpty }

  mutating func removeNews() -> [News] {
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  /// Returns whether everything that is due through a moment is processed.
  func isPast(_ moment: MonotonicTime) -> Bool { now.map { moment <= $0 } ?? false }

  /// Updates the receiver's state, after ``advance(to:)``. While reception is lost, no region is
  /// exited, and no ranging report comes, but sightings count. A loss takes effect from its start.
  mutating func update(_ health: ScannerHealth) {
    begin(at: health.time)
    sides?.update(health)
    if health.isReceptionLost, receptionLostSince == nil {
      receptionLostSince = health.time
      schedule.pause()
      append(monitor.receptionLost(from: health.time))
    } else if !health.isReceptionLost, let since = receptionLostSince {
      let moment = max(now ?? health.time, health.time)
      receptionLostSince = nil
      ranger.receptionLost(from: since, to: moment)
      if !isResting {
        monitor.receptionRestored(at: moment)
        schedule.start(at: moment)
      }
    }
    news.append(.health(health))
  }

  /// Starts at the first moment of reception, or resumes after a pause.
  mutating func begin(at moment: MonotonicTime) {
    if isResting, let now, moment > now {
      isResting = false
      self.now = moment
      // Reception that was lost before the pause stays lost until the scanner reports otherwise.
      if receptionLostSince == nil {
        monitor.receptionRestored(at: moment)
        schedule.start(at: moment)
      }
    }
    guard now == nil else { return }
    (now, began) = (moment, moment)
    if receptionLostSince == nil { schedule.start(at: moment) }
    // A monitor without regions starts its time with the first region.
    append(monitor.advance(to: moment))
  }

  /// Processes sightings in order, until there is something to deliver. Returns their number.
  mutating func receive(_ sightings: ArraySlice<Sighting>) -> Int {
    if let first = sightings.first { begin(at: first.time) }
    let monitors = monitor.regionCount > 0
    let ranges = !ranged.isEmpty
    let isPinned = !pins.isEmpty
    let findsSides = ranges && sides != nil
    var count = 0
    if ranges, !monitors, !isPinned, !findsSides, ranged.isOpen {
      count = range(sightings.span)
      if !ranger.identities.findings.isEmpty {
        appendFindings()
        let last = sightings[sightings.startIndex + count - 1].time
        now = max(now ?? last, last)
        return count
      }
    }
    for sighting in sightings.dropFirst(count) {
      if ranges, let due = schedule.due, due <= sighting.time {
        guard advance(to: sighting.time) else { return count }
      }
      count += 1
      if isPinned, let pin = pins[sighting.beacon], pin != sighting.address { continue }
      if findsSides, ranged.matches(sighting.beacon) { sides?.receive(sighting) }
      let hasChanged: Bool
      switch adapters.receive(sighting) {
      case .followed: hasChanged = process(sighting, ranges: ranges, monitors: monitors)
      case .presence:
        var sighting = sighting
        sighting.rssi = nil
        hasChanged = process(sighting, ranges: ranges, monitors: monitors)
      case .passedOver: continue
      }
      if hasChanged {
        now = max(now ?? sighting.time, sighting.time)
        return count
      }
    }
    if let last = sightings.last { now = max(now ?? last.time, last.time) }
    return count
  }

  /// Ranges the only adapter's first sightings before the next report. Returns their number, up to
  /// one that gives a finding.
  private mutating func range(_ sightings: Span<Sighting>) -> Int {
    let due = schedule.due ?? .end
    var count = 0
    while count < sightings.count, sightings[count].time < due,
      adapters.isOnly(sightings[count].adapter)
    {
      count += 1
    }
    guard count > 0 else { return 0 }
    schedule.receive()
    return ranger.receive(sightings.extracting(first: count))
  }

  @inline(__always)
  private mutating func process(_ sighting: Sighting, ranges: Bool, monitors: Bool) -> Bool {
    var hasChanged = false
    if ranges, ranged.matches(sighting.beacon) {
      schedule.receive()
      ranger.receive(sighting)
      if !ranger.identities.findings.isEmpty {
        appendFindings()
        hasChanged = true
      }
    }
    guard monitors else { return hasChanged }
    let transitions = monitor.receive(sighting)
    append(transitions)
    if !monitor.identities.findings.isEmpty {
      let findings = monitor.identities.removeFindings()
      // The ranger finds those of ranged beacons itself.
      if !ranges || !ranged.matches(sighting.beacon) {
        news += findings.map { .identity($0) }
        hasChanged = true
      }
    }
    return hasChanged || !transitions.isEmpty
  }

  /// Advances until there is something to deliver. Returns whether the moment was reached.
  mutating func advance(to moment: MonotonicTime) -> Bool {
    begin(at: moment)
    while news.isEmpty {
      let deadline = monitor.regionCount > 0 ? monitor.nextDeadline() : nil
      if !ranged.isEmpty, let due = schedule.due, due <= moment, due < deadline ?? .end {
        if let time = schedule.removeDue(by: moment) { report(at: time) }
      } else if let deadline, deadline <= moment {
        append(monitor.advance(to: deadline))
        now = max(now ?? deadline, deadline)
      } else {
        append(monitor.advance(to: moment))
        now = max(now ?? moment, moment)
        return news.isEmpty
      }
    }
    return false
  }

  /// Reports the sightings since the last report, at the end.
  mutating func finish() {
    guard let now, !ranged.isEmpty, schedule.hasNews else { return }
    report(at: now)
  }

  private mutating func report(at time: MonotonicTime) {
    now = max(now ?? time, time)
    var beacons = ranger.report(at: time)
    if let sides {
      for index in beacons.indices {
        beacons[index].side = sides.side(of: beacons[index].beacon, at: time)
      }
    }
    schedule.report(isEmpty: beacons.isEmpty)
    news.append(.ranged(time, beacons))
    appendFindings()
  }

  private mutating func appendFindings() {
    for finding in ranger.identities.removeFindings() { news.append(.identity(finding)) }
  }

  private mutating func append(_ transitions: [RegionTransition]) {
    news += transitions.map { .region($0) }
  }
}

extension MonotonicTime {
  fileprivate static let end = MonotonicTime(nanoseconds: .max)
}
