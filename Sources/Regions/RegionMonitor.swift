internal import Advertising
internal import HeapModule
public import Ranging
public import Scanning

/// The states of regions: a state machine that is given sightings and the time, and returns what changed.
///
/// It owns no clock. What it returns depends on the sightings alone, not on how often it is given the
/// time: an exit bears the moment at which the exit timeout passed, and exits come in order.
///
/// A sighting costs one look-up of its beacon; beyond that, only regions that the beacon has not entered
/// and those with gates look at it. Deadlines lie in a heap and are moved when they come up, not with
/// each sighting. Memory is bounded by ``Configuration/maximumRegions``, ``Configuration/maximumBeacons``
/// (about 500 bytes each) and ``Configuration/maximumLinks`` (about 80 bytes each).
public struct RegionMonitor: Sendable {
  /// The settings of a monitor.
  public struct Configuration: Sendable {
    /// The calibration of the site and the adapter, for distance gates.
    public var calibration = Calibration()
    /// The calibrations of some beacons: the first that matches a beacon counts, over ``calibration``.
    public var beaconCalibrations: [(beacons: BeaconConstraint, calibration: Calibration)] = []
    /// How long a region of unknown state waits for a first beacon until it is outside, in seconds of
    /// reception at full duty: 3 unless set, in which a beacon that is sent once a second is received.
    public var initialTimeout = 3.0
    /// How long an assumed state waits to be confirmed, and the exit timeout of a beacon of which only one
    /// packet was received, in seconds: 30 unless set. A fixed exit timeout is used instead, if there is one.
    public var confirmationTimeout = 30.0
    /// The most regions at once.
    public var maximumRegions = 16384
    /// The most beacons that are tracked at once. With more, those received longest ago are evicted, but none
    /// that alone holds a region; where all do, new ones are passed over.
    public var maximumBeacons = 16384
    /// The most pairs of a tracked beacon and a region that matches it.
    public var maximumLinks = 262_144

    /// Creates the default settings.
    public init() {}

    /// The settings with each number in its range: times from 0 to a week, where what is
    /// not a number counts as the default; bounds from 1 to 2³¹ - 1.
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

  /// The settings, each number in its range.
  package let configuration: Configuration
  /// The number of beacons that were evicted.
  package internal(set) var evictions = 0

  var clock = ReceptionClock()
  /// Whether the scanner receives all the time.
  var isFullDuty = true
  var index = RegionIndex()
  var beacons: [TrackedBeacon] = []
  var places = PlaceTable()
  var vacant: [Int32] = []
  var links = 0
  var serials: UInt32 = 0
  var deadlines = Heap<Deadline>()
  private var identities = IdentityWatch()
  /// The identities that several senders use at once, until ``removeFindings()``; at most 64.
  package private(set) var findings: [IdentityFinding] = []
  private static let maximumFindings = 64
  /// The regions that were added before the first moment.
  var waiting: [String] = []

  /// Creates a monitor without regions.
  ///
  /// - Parameter configuration: The settings. A time beyond 0 to a week and a bound below 1
  ///   become the nearest of these; a time that is not a number becomes the default.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration.bounded
  }

  /// The identifiers of the regions, sorted.
  package var identifiers: [String] { index.identifiers.keys.sorted() }
  /// The number of regions.
  package var regionCount: Int { index.identifiers.count }
  /// The number of beacons that are tracked.
  package var beaconCount: Int { places.count }

  /// Advances to a moment.
  ///
  /// - Parameter time: The moment now; an earlier one is taken as the latest.
  /// - Returns: What the absence of sightings changed before then, in order.
  public mutating func advance(to time: MonotonicTime) -> [RegionTransition] {
    var transitions: [RegionTransition] = []
    run(to: clock.advance(to: time), &transitions)
    return transitions
  }

  /// Receives a sighting, and advances to its time.
  ///
  /// - Parameter sighting: The sighting.
  /// - Returns: What the absence of sightings changed until then, and what the sighting changed.
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

  /// Records that another sender than before uses the identity of the beacon at a place.
  private mutating func changeSender(_ sighting: Sighting, place: Int) {
    let previous = beacons[place].sender
    beacons[place].sender = (sighting.address, sighting.addressType)
    guard let previous, let finding = identities.receive(sighting, after: previous),
      findings.count < Self.maximumFindings
    else { return }
    findings.append(finding)
  }

  /// Removes and returns the identities that several senders use at once, each once.
  package mutating func removeFindings() -> [IdentityFinding] {
    defer { findings.removeAll() }
    return findings
  }

  /// Stops all timeouts, because nothing can be received until ``receptionRestored(at:)``.
  ///
  /// - Parameter time: The moment since which reception is lost. It may be past, but what was decided since
  ///   stays decided, and it is taken to be no earlier than the last sighting.
  /// - Returns: What the absence of sightings changed until then.
  public mutating func receptionLost(from time: MonotonicTime) -> [RegionTransition] {
    guard clock.lostSince == nil else { return advance(to: time) }
    var transitions: [RegionTransition] = []
    if let latest = clock.latest, time.nanoseconds <= latest {
      clock.receptionLost(from: time)
    } else {
      transitions = advance(to: time)
      clock.receptionLost(from: time)
    }
    return transitions
  }

  /// Resumes all timeouts.
  ///
  /// - Parameter time: The moment since which there is reception again.
  public mutating func receptionRestored(at time: MonotonicTime) {
    clock.receptionRestored(at: time)
  }

  /// Whether reception is lost.
  package var isReceptionLost: Bool { clock.lostSince != nil }

  /// Returns when ``advance(to:)`` next has something to report, unless a sighting comes before.
  ///
  /// - Returns: The moment; `nil` if nothing is due, or while reception is lost.
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
