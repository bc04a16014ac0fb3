import Advertising
import Ranging
import Regions
import Scanning

/// What is done with sightings: ranging and regions, on one line of time. It owns no clock and no
/// thread, and answers with what is to be told.
///
/// It stops where something is to be told, because who is told may start and stop services: what is
/// heard after that moment is then heard by the new rules, in a replay always in the same way.
struct BeaconEngine {
  /// What is to be told.
  enum News {
    /// The beacons that are ranged, closest first.
    case ranged(MonotonicTime, [RangedBeacon])
    /// What happened to a region.
    case region(RegionTransition)
    /// How well the scanner hears from now on.
    case health(ScannerHealth)
  }

  /// The moment up to which everything is done; `nil` before the first is known.
  private(set) var now: MonotonicTime?
  /// The first moment that was listened to.
  private(set) var began: MonotonicTime?
  /// What is to be delivered, in order.
  private var news: [News] = []
  /// Regions and their states.
  var monitor: RegionMonitor
  /// Which beacons are ranged.
  private(set) var ranged = ConstraintFilter()

  private let configuration: Ranger.Configuration
  private let interval: Int64
  private let restsWhenEmpty: Bool
  private var ranger: Ranger
  private var adapters: AdapterChoice
  private var isResting = false
  /// Since when the scanner says that it hears nothing.
  private(set) var receptionLostSince: MonotonicTime?
  private var schedule: RangingSchedule

  /// Makes an engine that is asked for nothing.
  ///
  /// - Parameters:
  ///   - ranging: How to range.
  ///   - monitoring: How to monitor.
  ///   - interval: Nanoseconds between two ranging reports.
  ///   - restsWhenEmpty: Whether empty reports end after a while, as for recordings.
  init(
    ranging: Ranger.Configuration = .init(), monitoring: RegionMonitor.Configuration = .init(),
    interval: Int64 = MonotonicTime.nanosecondsPerSecond, restsWhenEmpty: Bool = false
  ) {
    configuration = ranging
    self.interval = interval
    self.restsWhenEmpty = restsWhenEmpty
    ranger = Ranger(ranging)
    adapters = AdapterChoice(maximumBeacons: max(ranging.maximumBeacons, monitoring.maximumBeacons))
    schedule = RangingSchedule(interval: interval, rests: restsWhenEmpty)
    monitor = RegionMonitor(monitoring)
  }

  /// How many beacons were ranged, and how many of them had to make room for others.
  var beaconsRanged: (count: Int, evictions: Int) { (ranger.beaconsReceived, ranger.evictions) }

  /// When ``advance(to:)`` next has something to tell, if nothing is heard before.
  var nextDeadline: MonotonicTime? {
    mutating get {
      let regions = monitor.regionCount > 0 ? monitor.nextDeadline() : nil
      guard !ranged.isEmpty, let report = schedule.due else { return regions }
      return regions.map { min($0, report) } ?? report
    }
  }

  /// Ranges these beacons from now on. When nothing was ranged before, the first report comes an
  /// interval from now; when nothing is any more, what was heard is forgotten.
  mutating func range(_ constraints: Set<BeaconConstraint>, isOpen: Bool = false) {
    let wasEmpty = ranged.isEmpty
    ranged.set(constraints)
    ranged.isOpen = isOpen
    guard ranged.isEmpty != wasEmpty else { return }
    if ranged.isEmpty { ranger = Ranger(configuration) }
    schedule = RangingSchedule(interval: interval, rests: restsWhenEmpty)
    if let now, !isResting, receptionLostSince == nil { schedule.start(at: now) }
  }

  /// Is told that nobody listens. What passes until something is heard again is not silence, and no time
  /// for reports.
  mutating func rest() {
    guard let now, !isResting else { return }
    isResting = true
    append(monitor.receptionLost(from: now))
    schedule = RangingSchedule(interval: interval, rests: restsWhenEmpty)
  }

  /// Whether there is something to deliver.
  var hasNews: Bool { !news.isEmpty }

  /// Returns what is to be delivered, and forgets it.
  mutating func takeNews() -> [News] {
    guard !news.isEmpty else { return [] }
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  /// Whether everything is done that is due until a moment.
  func isPast(_ moment: MonotonicTime) -> Bool { now.map { moment <= $0 } ?? false }

  /// Is told how well the scanner hears. What it cannot hear is not silence: while it is deaf no region is
  /// left, no list of beacons comes, and none leaves a list. What it hears all the same counts.
  ///
  /// What is due until then is to be done before: see ``advance(to:)``. What was noticed late is taken back as
  /// far as it was not told.
  mutating func update(_ health: ScannerHealth) {
    begin(at: health.time)
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

  /// Is told the first moment that is listened to.
  mutating func begin(at moment: MonotonicTime) {
    if isResting, let now, moment > now {
      isResting = false
      self.now = moment
      // A scanner that was deaf when it was put to rest is so until it says otherwise.
      if receptionLostSince == nil {
        monitor.receptionRestored(at: moment)
        schedule.start(at: moment)
      }
    }
    guard now == nil else { return }
    (now, began) = (moment, moment)
    if receptionLostSince == nil { schedule.start(at: moment) }
    // A monitor without regions takes the time from the first one on.
    append(monitor.advance(to: moment))
  }

  /// Takes sightings in the order of time, until there is something to tell.
  ///
  /// - Returns: How many it took.
  mutating func receive(_ sightings: ArraySlice<Sighting>) -> Int {
    if let first = sightings.first { begin(at: first.time) }
    let monitors = monitor.regionCount > 0
    let ranges = !ranged.isEmpty
    var taken = 0
    for sighting in sightings {
      if ranges, let due = schedule.due, due <= sighting.time {
        guard advance(to: sighting.time) else { return taken }
      }
      taken += 1
      var sighting = sighting
      switch adapters.receive(sighting) {
      case .followed: break
      case .presence: sighting.rssi = nil
      case .passedOver: continue
      }
      if ranges, ranged.matches(sighting.beacon) {
        schedule.receive()
        ranger.receive(sighting)
      }
      if monitors {
        let transitions = monitor.receive(sighting)
        if !transitions.isEmpty {
          append(transitions)
          now = max(now ?? sighting.time, sighting.time)
          return taken
        }
      }
    }
    if let last = sightings.last { now = max(now ?? last.time, last.time) }
    return taken
  }

  /// Lets time pass, until there is something to tell.
  ///
  /// - Returns: Whether it came to that moment.
  mutating func advance(to moment: MonotonicTime) -> Bool {
    begin(at: moment)
    while news.isEmpty {
      let deadline = monitor.regionCount > 0 ? monitor.nextDeadline() : nil
      if !ranged.isEmpty, let due = schedule.due, due <= moment, due < deadline ?? .end {
        if let time = schedule.takeDue(by: moment) { report(at: time) }
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

  /// Is told that nothing more will come: what was heard since the last report is reported.
  mutating func finish() {
    guard let now, !ranged.isEmpty, schedule.hasNews else { return }
    report(at: now)
  }

  private mutating func report(at time: MonotonicTime) {
    now = max(now ?? time, time)
    let beacons = ranger.report(at: time)
    schedule.report(isEmpty: beacons.isEmpty)
    news.append(.ranged(time, beacons))
  }

  private mutating func append(_ transitions: [RegionTransition]) {
    for transition in transitions { news.append(.region(transition)) }
  }
}

extension MonotonicTime {
  /// After every moment.
  fileprivate static let end = MonotonicTime(nanoseconds: .max)
}
