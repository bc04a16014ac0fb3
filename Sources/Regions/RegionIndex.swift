internal import Advertising
internal import Scanning

/// The regions that are monitored, found by identifier and by what they mean.
struct RegionIndex: Sendable {
  /// One region's place.
  struct Record: Sendable {
    var region: MonitoredRegion
    /// Which region it was that had this place; 0 for none.
    var serial: UInt32
    var state: RegionState
    /// When the state became what it is, on the line of sightings; `nil` if only assumed.
    var since: MonotonicTime?
    /// Whether anything was heard, or silent for long enough, that the state rests on.
    var isDetermined = false
    /// How many beacons hold it.
    var holders = 0
    /// How long it waits for a first beacon, in seconds.
    var startLimit: Double
  }

  private(set) var identifiers: [String: Int32] = [:]
  var records: [Record] = []
  private var free: [Int32] = []
  private var meant: [BeaconConstraint: [Int32]] = [:]
  /// How many constraints there are of a UUID, so that foreign beacons cost one look-up.
  private var uuids: [ProximityUUID: Int] = [:]
  /// Grows with each change, so that beacons know when to look for their regions anew.
  private(set) var generation: UInt32 = 0
  private var serials: UInt32 = 0

  subscript(identifier: String) -> Record? {
    identifiers[identifier].map { records[Int($0)] }
  }

  /// The region at a place, if it is still the same.
  func isCurrent(_ place: Int32, _ serial: UInt32) -> Bool {
    records[Int(place)].serial == serial
  }

  mutating func add(_ region: MonitoredRegion, state: RegionState, startLimit: Double) -> Int32 {
    remove(region.identifier)
    serials = serials == .max ? 1 : serials + 1
    let record = Record(
      region: region, serial: serials, state: state, startLimit: startLimit)
    let place: Int32
    if let vacant = free.popLast() {
      place = vacant
      records[Int(place)] = record
    } else {
      place = Int32(records.count)
      records.append(record)
    }
    identifiers[region.identifier] = place
    meant[region.constraint, default: []].append(place)
    uuids[region.constraint.uuid, default: 0] += 1
    generation &+= 1
    return place
  }

  @discardableResult
  mutating func remove(_ identifier: String) -> MonitoredRegion? {
    guard let place = identifiers.removeValue(forKey: identifier) else { return nil }
    let region = records[Int(place)].region
    records[Int(place)].serial = 0
    free.append(place)
    meant[region.constraint]?.removeAll { $0 == place }
    if meant[region.constraint]?.isEmpty == true { meant[region.constraint] = nil }
    uuids[region.constraint.uuid, default: 1] -= 1
    if uuids[region.constraint.uuid] == 0 { uuids[region.constraint.uuid] = nil }
    generation &+= 1
    return region
  }

  /// Whether any region is about beacons of a UUID.
  func isAbout(_ uuid: ProximityUUID) -> Bool { uuids[uuid] != nil }

  /// The places of the regions that mean a beacon: four look-ups.
  func places(for beacon: BeaconIdentity) -> [Int32] {
    var places: [Int32] = []
    for (major, minor) in [
      (nil, nil), (beacon.major, nil), (beacon.major, beacon.minor), (nil, beacon.minor),
    ] as [(UInt16?, UInt16?)] {
      let constraint = BeaconConstraint(uuid: beacon.uuid, major: major, minor: minor)
      if let some = meant[constraint] { places += some }
    }
    return places
  }
}
