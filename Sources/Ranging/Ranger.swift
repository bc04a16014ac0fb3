internal import Advertising
public import Scanning

/// The distances of beacons: a state machine that receives sightings and the times of reports.
///
/// Memory is bounded by ``Configuration/maximumBeacons``. A beacon that leaves the list is kept for
/// an hour, so that its filter keeps its interval and noise if the beacon returns.
public struct Ranger: Sendable {
  /// The settings of a ranger.
  public struct Configuration: Sendable {
    /// The calibration of the site and the adapter.
    public var calibration = Calibration()
    /// The calibrations of single beacons. The first that matches takes precedence.
    public var beaconCalibrations: [(beacons: BeaconConstraint, calibration: Calibration)] = []
    /// The limits of the zones.
    public var limits = ProximityLimits.standard
    /// The most beacons to range, at least 8. Beyond it, those received longest ago are evicted.
    public var maximumBeacons = 32768

    /// Creates the default settings.
    public init() {}

    fileprivate func calibration(of beacon: BeaconIdentity) -> Calibration {
      calibration.of(beacon, among: beaconCalibrations)
    }
  }

  package let configuration: Configuration

  fileprivate var table: BeaconTable<State>

  fileprivate struct State {
    var filter = RSSIFilter()
    var zones = ProximityZones()
    /// Computed from the power of the first sighting, and again when the power changes.
    var thresholds = ProximityThresholds.none
    var sum: Int32 = 0
    var measured: Int32 = 0
    var sightings: Int32 = 0
    var measuredPower: Int8 = .max
    /// The time at which the beacon entered the list; `nil` while it is not in it.
    var firstReceived: MonotonicTime?
    /// The time without reception since the last sighting, in nanoseconds.
    var lostTime: Int64 = 0
    /// The sender of the last sighting; `nil` before the first.
    var sender: (address: BluetoothAddress, type: AddressType)?
    /// Whether a measured power that contradicts the signal was reported.
    var isPowerReported = false
  }

  /// The time without a signal, in seconds or, if longer, in intervals, up to which a beacon counts
  /// as present, and after which it is removed from the list; then the time after which its state
  /// is discarded.
  static let (recentSeconds, recentIntervals) = (5.0, 3.0)
  static let (keptSeconds, keptIntervals) = (10.0, 6.0)
  static let forgottenSeconds = 3600.0

  /// Creates a ranger that has received nothing.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    table = BeaconTable(capacity: configuration.maximumBeacons)
  }

  /// The number of different beacons, which counts an evicted or forgotten one again on its return.
  package var beaconsReceived: Int { forgotten + table.beaconsReceived }
  /// The number of evicted beacons.
  package var evictions: Int { table.evictions }

  private var forgotten = 0
  /// The watch for identities that several senders use at once, with the findings about these and
  /// about measured powers.
  package var identities = IdentityWatch()

  /// Receives a sighting.
  public mutating func receive(_ sighting: Sighting) {
    var previous: (address: BluetoothAddress, type: AddressType)?
    var isPowerKnown = true
    table.update(sighting.beacon, at: sighting.time) {
      State()
    } update: { state in
      if state.sender?.address != sighting.address {
        previous = state.sender
        state.sender = (sighting.address, sighting.addressType)
      }
      isPowerKnown = state.measuredPower == sighting.measuredPower
      if isPowerKnown { state.receive(sighting) }
    }
    if !isPowerKnown {
      // Outside the closure above, because there each sighting would copy the configuration.
      let thresholds = ProximityThresholds(
        limits: configuration.limits, calibration: configuration.calibration(of: sighting.beacon),
        advertisedPower: Double(sighting.measuredPower))
      table.update(sighting.beacon, at: sighting.time) {
        State()
      } update: { state in
        state.measuredPower = sighting.measuredPower
        state.thresholds = thresholds
        state.receive(sighting)
      }
    }
    if let previous { identities.receive(sighting, after: previous) }
  }

  /// Receives sightings in order, up to the first one that gives a finding. Returns their number.
  package mutating func receive(_ sightings: Span<Sighting>) -> Int {
    var index = 0
    while true {
      index = table.updateKnown(sightings, from: index) { state, sighting in
        guard state.sender?.address == sighting.address,
          state.measuredPower == sighting.measuredPower
        else { return false }
        state.receive(sighting)
        return true
      }
      guard index < sightings.count else { return index }
      receive(sightings[index])
      index += 1
      guard identities.findings.isEmpty else { return index }
    }
  }

  /// Records a loss of reception from one time to another. Each beacon stays in the list for that
  /// much longer, while its distance is unknown.
  public mutating func receptionLost(from start: MonotonicTime, to end: MonotonicTime) {
    table.updateAll { entry in
      let missed = end.nanoseconds(since: max(start, entry.lastReceived))
      if missed > 0 { entry.state.lostTime &+= missed }
    }
  }

  /// Reports the sightings since the previous report.
  ///
  /// - Parameter time: The moment of the report, on the clock of the sightings.
  /// - Returns: The beacons, closest first, unknown last. One that was not received lately is
  ///   unknown, and later left out.
  public mutating func report(at time: MonotonicTime) -> [RangedBeacon] {
    let before = table.count
    table.removeAll {
      $0.state.firstReceived == nil
        && time.seconds(since: $0.lastReceived) > Self.forgottenSeconds
    }
    forgotten += before - table.count
    var beacons: [RangedBeacon] = []
    var found: [IdentityFinding] = []
    table.updateAll { [configuration] entry in
      guard let beacon = Self.report(&entry, at: time, configuration) else { return }
      if let finding = Self.contradiction(beacon, &entry.state, at: time) { found.append(finding) }
      beacons.append(beacon)
    }
    for finding in found { identities.add(finding) }
    // Beacons are large: moving each once takes a fifth of the time of sorting them.
    return beacons.indices.sorted { RangedBeacon.isCloser(beacons[$0], beacons[$1]) }
      .map { beacons[$0] }
  }

  /// Returns the report of one beacon, or `nil` if it is not in the list, and starts its next one.
  private static func report(
    _ entry: inout BeaconTable<State>.Entry, at time: MonotonicTime, _ configuration: Configuration
  ) -> RangedBeacon? {
    let filter = entry.state.filter
    // A sighting without a signal strength shows presence, but no distance.
    let unmeasured = time.seconds(since: MonotonicTime(nanoseconds: filter.lastTime))
    let isMeasured = filter.count > 0 && unmeasured <= recent(filter)
    if isMeasured {
      if entry.state.zones.proximity == .unknown {
        entry.state.locate(at: time.nanoseconds)
      }
    } else if filter.forgets(after: Float(unmeasured)) {
      entry.state.zones.reset()
    }
    let silence = time.seconds(since: entry.lastReceived.advanced(by: entry.state.lostTime))
    if silence > limit(keptSeconds, keptIntervals, filter) { entry.state.firstReceived = nil }
    defer {
      entry.state.sum = 0
      entry.state.measured = 0
      entry.state.sightings = 0
    }
    guard let firstReceived = entry.state.firstReceived else { return nil }
    let state = entry.state
    var beacon = RangedBeacon(
      beacon: entry.beacon, proximity: .unknown, measuredPower: state.measuredPower,
      sightings: Int(state.sightings), firstReceived: firstReceived,
      lastReceived: entry.lastReceived)
    let calibration = configuration.calibration(of: entry.beacon)
    let power = Double(state.measuredPower)
    if state.measured > 0 {
      let mean = Double(state.sum) / Double(state.measured)
      beacon.rssi = Int(mean.rounded())
      beacon.rawDistance = calibration.distance(rssi: mean, advertisedPower: power)
    }
    guard isMeasured, state.zones.proximity != .unknown else { return beacon }
    beacon.proximity = state.zones.proximity
    beacon.smoothed = Double(filter.mean)
    beacon.smoothedError = Double(filter.variance).squareRoot()
    let level = filter.distanceLevel(at: time.nanoseconds, law: state.thresholds.law)
    beacon.estimate = calibration.estimate(
      level: Double(level.mean), variance: Double(level.variance), advertisedPower: power)
    return beacon
  }

  /// The number of packets needed to judge a measured power, and the most dB by which a signal can
  /// exceed it: 40 dB is a distance of 1 cm.
  private static let (judgedPackets, greatestGain) = (UInt32(10), 40.0)

  private static func contradiction(
    _ beacon: RangedBeacon, _ state: inout State, at time: MonotonicTime
  ) -> IdentityFinding? {
    guard !state.isPowerReported, let rssi = beacon.smoothed, state.filter.count >= judgedPackets
    else { return nil }
    let power = Double(beacon.measuredPower)
    guard !MeasuredPower.isPlausible(power) || rssi - power > greatestGain else { return nil }
    state.isPowerReported = true
    return IdentityFinding(
      beacon: beacon.beacon, time: time, problem: .measuredPower(beacon.measuredPower, rssi: rssi))
  }

  /// Returns the time, in seconds, for which a beacon counts as present after a measured signal.
  static func recent(_ filter: RSSIFilter) -> Double {
    limit(recentSeconds, recentIntervals, filter)
  }

  private static func limit(_ seconds: Double, _ intervals: Double, _ filter: RSSIFilter) -> Double
  {
    max(seconds, intervals * Double(filter.interval))
  }
}

extension Ranger.State {
  /// Receives a sighting of this beacon. Its measured power must be that of the thresholds.
  @inline(__always)
  fileprivate mutating func receive(_ sighting: Sighting) {
    sightings &+= 1
    lostTime = 0
    if firstReceived == nil { firstReceived = sighting.time }
    guard let rssi = sighting.rssi else { return }
    measured &+= 1
    sum &+= Int32(rssi)
    let time = sighting.time.nanoseconds
    if filter.update(rssi: Float(rssi), at: time, law: thresholds.law) { locate(at: time) }
  }

  /// The packets or the time, whichever comes first, after which a beacon is not new.
  private static let newPackets: UInt32 = 3
  private static let newNanoseconds = MonotonicTime.nanosecondsPerSecond

  fileprivate mutating func locate(at time: Int64) {
    // One or two packets of a new beacon are little evidence.
    if zones.proximity == .unknown, filter.measurements < Self.newPackets {
      let start = firstReceived ?? MonotonicTime(nanoseconds: time)
      let age = MonotonicTime(nanoseconds: time).nanoseconds(since: start)
      if age < Self.newNanoseconds { return }
    }
    zones.update(mean: filter.mean, at: time, thresholds: thresholds)
  }
}
