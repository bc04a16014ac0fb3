internal import Advertising
public import Ranging
public import Scanning

/// Monitors regions: it is told sightings and the time, and answers with what changed.
///
/// It owns no clock. What it answers depends on the sightings alone, not on how often it is told the
/// time: exits by silence come at the moment at which the limit was reached, in order.
///
/// A sighting costs one look-up of its beacon; beyond that, only regions that the beacon has not entered
/// and those with gates look at it. Deadlines lie in a heap and are moved when they come up, not with
/// each sighting. Memory is bounded by ``Configuration/mostRegions``, ``Configuration/mostBeacons``
/// (about 500 bytes each) and ``Configuration/mostLinks`` (about 80 bytes each).
public struct RegionMonitor: Sendable {
  /// How to monitor.
  public struct Configuration: Sendable {
    /// What is known of the site and the adapter, for distance gates.
    public var calibration = Calibration()
    /// What is known of some beacons: the first that means a beacon counts, over ``calibration``.
    public var beaconCalibrations: [(beacons: BeaconConstraint, calibration: Calibration)] = []
    /// How long a region waits for a first beacon until it counts as outside, and for the second packet
    /// of a beacon of which only one was ever heard, in seconds. It bears on adaptive silence only; a
    /// fixed limit is its own.
    public var startLimit = 30.0
    /// The most regions at once.
    public var mostRegions = 16384
    /// The most beacons that are tracked at once. With more, those heard longest ago go.
    public var mostBeacons = 16384
    /// The most pairs of a tracked beacon and a region that means it.
    public var mostLinks = 262_144

    /// The defaults.
    public init() {}
  }

  /// How to monitor.
  public let configuration: Configuration
  /// How many beacons had to make room for others.
  public internal(set) var evictions = 0

  var clock = HearingClock()
  /// Whether the scanner listens all the time.
  var listensFully = true
  var index = RegionIndex()
  var beacons: [TrackedBeacon] = []
  var places = PlaceTable()
  var vacant: [Int32] = []
  var links = 0
  var serials: UInt32 = 0
  var heap = DeadlineHeap()
  /// Regions that were added before any time was told.
  var waiting: [String] = []

  /// Makes a monitor without regions.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// The identifiers of the regions, sorted.
  public var identifiers: [String] { index.identifiers.keys.sorted() }
  /// How many regions are monitored.
  public var regionCount: Int { index.identifiers.count }
  /// How many beacons are tracked.
  public var beaconCount: Int { places.count }

  /// Takes the time.
  ///
  /// - Parameter time: The time now; one that goes back is taken as the same.
  /// - Returns: The exits by silence until then, that moment included, in order.
  public mutating func advance(to time: MonotonicTime) -> [RegionTransition] {
    var transitions: [RegionTransition] = []
    run(to: clock.advance(to: time), &transitions)
    return transitions
  }

  /// Takes a sighting.
  ///
  /// - Parameter sighting: The sighting; its time is taken as told.
  /// - Returns: The exits by silence until then, and what the sighting changed.
  public mutating func hear(_ sighting: Sighting) -> [RegionTransition] {
    var transitions: [RegionTransition] = []
    let now = clock.advance(to: sighting.time, hearing: true)
    run(to: now, &transitions)
    let place = place(of: sighting.beacon, &transitions)
    if place >= 0 { hear(sighting, at: now, place: Int(place), &transitions) }
    return transitions
  }

  /// Is told that the radio cannot hear. Until ``hearing(at:)``, silence is not counted.
  ///
  /// - Parameter time: Since when; it may be past, but what was decided since stays so, and it is never
  ///   taken to be before the last sighting.
  /// - Returns: The exits by silence until then.
  public mutating func deaf(from time: MonotonicTime) -> [RegionTransition] {
    guard clock.deafSince == nil else { return advance(to: time) }
    var transitions: [RegionTransition] = []
    if let latest = clock.latest, time.nanoseconds <= latest {
      clock.deaf(from: time)
    } else {
      transitions = advance(to: time)
      clock.deaf(from: time)
    }
    return transitions
  }

  /// Is told that the radio hears again.
  ///
  /// - Parameter time: Since when.
  public mutating func hearing(at time: MonotonicTime) {
    clock.hearing(at: time)
  }

  /// Whether the radio is known to be deaf.
  public var isDeaf: Bool { clock.deafSince != nil }

  /// When ``advance(to:)`` next has something to say, unless something is heard before.
  ///
  /// - Returns: The moment; `nil` if nothing is due, or while the radio is deaf.
  public mutating func nextDeadline() -> MonotonicTime? {
    guard !isDeaf, clock.latest != nil else { return nil }
    while let entry = heap.first {
      if let due = due(entry) {
        if due == entry.time { return clock.moment(due) }
        heap.removeFirst()
        reschedule(entry, at: due)
      } else {
        heap.removeFirst()
      }
    }
    return nil
  }
}
