internal import Advertising
internal import HeapModule
public import Ranging
public import Scanning

/// The states of regions: a state machine that turns sightings and times into transitions.
///
/// The changes depend on the sightings alone, not on how often the time is given: an exit bears the
/// moment at which the exit timeout passed, and exits come in order.
///
/// A sighting costs one look-up of its beacon, and a look at each region with gates or that the
/// beacon has not entered. Memory is bounded by ``Configuration/maximumRegions``,
/// ``Configuration/maximumBeacons`` and ``Configuration/maximumLinks``.
public struct RegionMonitor: Sendable {
  /// The settings of a monitor.
  public struct Configuration: Sendable {
    /// The calibration of the site and the adapter, for distance gates.
    public var calibration = Calibration()
    /// The calibrations of single beacons. The first that matches takes precedence.
    public var beaconCalibrations: [(beacons: BeaconConstraint, calibration: Calibration)] = []
    /// The wait for a first beacon after which a region of unknown state is outside, in seconds at
    /// full duty. The default suffices for a beacon sent once a second.
    public var initialTimeout = 3.0
    /// The wait for the confirmation of an assumed state, and the exit timeout of a beacon after
    /// its first packet, in seconds. A fixed exit timeout replaces it.
    public var confirmationTimeout = 30.0
    /// The most regions at once.
    public var maximumRegions = 16384
    /// The most beacons to track at once. Beyond it, those received longest ago are evicted, except
    /// the only beacon in a region; if all are such, new ones are ignored.
    public var maximumBeacons = 16384
    /// The most pairs of a tracked beacon and a region that matches it.
    public var maximumLinks = 262_144

    /// Creates the default settings.
    public init() {}

    func calibration(of beacon: BeaconIdentity) -> Calibration {
      calibration.of(beacon, among: beaconCalibrations)
    }

    /// The settings in their ranges.
    var bounded: Configuration {
      func seconds(_ seconds: Double, default usual: Double) -> Double {
        seconds.isNaN ? usual : min(max(seconds, 0), RegionRules.longest)
      }
      var bounded = self
      bounded.initialTimeout = seconds(initialTimeout, default: Configuration().initialTimeout)
      bounded.confirmationTimeout = seconds(
        confirmationTimeout, default: Configuration().confirmationTimeout)
      bounded.maximumRegions = min(max(maximumRegions, 1), Int(Int32.max))
      bounded.maximumBeacons = min(max(maximumBeacons, 1), Int(Int32.max))
      bounded.maximumLinks = min(max(maximumLinks, 1), Int(Int32.max))
      return bounded
    }
  }

  package let configuration: Configuration
  package internal(set) var evictions = 0

  var clock = ReceptionClock()
  var isFullDuty = true
  var index = RegionIndex()
  var beacons: [TrackedBeacon] = []
  var places = PlaceTable()
  var vacant: [Int32] = []
  var links = 0
  var serials: UInt32 = 0
  var deadlines = Heap<Deadline>()
  package var identities = IdentityWatch()
  /// The regions that were added before the first moment.
  var waiting: [String] = []

  /// Creates a monitor without regions. Settings are limited to valid ranges.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration.bounded
  }

  package var identifiers: [String] { index.identifiers.keys.sorted() }
  package var regionCount: Int { index.identifiers.count }
  package var beaconCount: Int { places.count }

  /// Advances to a moment, or the latest one if that is later, and returns the changes that the
  /// absence of sightings caused before it, in order.
  public mutating func advance(to time: MonotonicTime) -> [RegionTransition] {
    var transitions: [RegionTransition] = []
    run(to: clock.advance(to: time), &transitions)
    return transitions
  }

  /// Receives a sighting, advances to its time, and returns all changes.
  public mutating func receive(_ sighting: Sighting) -> [RegionTransition] {
    var transitions: [RegionTransition] = []
    let now = clock.advance(to: sighting.time, isSighting: true)
    run(to: now, &transitions)
    let place = place(of: sighting.beacon)
    if place >= 0 {
      if beacons[Int(place)].sender?.address != sighting.address {
        changeSender(sighting, place: Int(place))
      }
      receive(sighting, at: now, place: Int(place), &transitions)
    }
    return transitions
  }

  private mutating func changeSender(_ sighting: Sighting, place: Int) {
    let previous = beacons[place].sender
    beacons[place].changeSender(to: sighting)
    if let previous { identities.receive(sighting, after: previous) }
  }

  /// Stops all timeouts until ``receptionRestored(at:)``, from a moment that may be past, but no
  /// earlier than the last sighting. Returns the changes that the absence of sightings caused
  /// before it.
  public mutating func receptionLost(from time: MonotonicTime) -> [RegionTransition] {
    guard !isReceptionLost else { return advance(to: time) }
    let isPast = clock.latest.map { time.nanoseconds <= $0 } ?? false
    let transitions = isPast ? [] : advance(to: time)
    clock.receptionLost(from: time)
    return transitions
  }

  /// Resumes all timeouts at the moment of reception.
  public mutating func receptionRestored(at time: MonotonicTime) {
    clock.receptionRestored(at: time)
  }

  package var isReceptionLost: Bool { clock.lostSince != nil }

  /// Returns the moment of the next report of ``advance(to:)`` without a sighting, if any is due.
  public mutating func nextDeadline() -> MonotonicTime? {
    guard !isReceptionLost, clock.latest != nil else { return nil }
    while let entry = deadlines.min {
      let due = due(entry)
      if due == entry.time { return clock.moment(ReceptionClock.add(entry.time, 1)) }
      deadlines.removeMin()
      if due != nil { reschedule(entry) }
    }
    return nil
  }
}
