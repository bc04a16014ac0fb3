internal import Advertising
internal import Scanning

/// The monitored regions, by identifier and by constraint.
struct RegionIndex: Sendable {
  struct Record: Sendable {
    var region: MonitoredRegion
    /// The serial number of the region at this place; 0 for none.
    var serial: UInt32
    var state: RegionState
    /// The moment of the last change of state; `nil` if it is only assumed.
    var since: MonotonicTime?
    /// Whether the state follows from sightings or their absence.
    var isDetermined = false
    /// The number of received beacons that are inside.
    var holders = 0
    /// If the rules report each beacon, the assumed beacons that were not received yet, with the
    /// end of their timeouts in reception time; before the wait, with the timeouts.
    var expected: [BeaconIdentity: Int64] = [:]
    /// Whether it was unknown, when the region was added, which beacons are inside.
    var areBeaconsUnknown = false
    /// The timeout for a first beacon, in seconds.
    var timeout: Double
    /// The start and end of the wait, in reception time; `.max` before it.
    var began = Int64.max
    var deadline = Int64.max

    /// Whether the initial timeout runs for the first time.
    var isFirstLook: Bool

    var beaconsInside: Int { holders + expected.count }

    var isInitial: Bool { serial != 0 && state == .unknown && !isDetermined }
  }

  private(set) var identifiers: [String: Int32] = [:]
  var records: [Record] = []
  private var free: [Int32] = []
  private var matching: [BeaconConstraint: [Int32]] = [:]
  /// The number of constraints by UUID, which makes a foreign beacon cost one look-up.
  private var uuids: [ProximityUUID: Int] = [:]
  /// The version of the regions, by which beacons notice changes.
  private(set) var generation: UInt32 = 0
  private var serials: UInt32 = 0
  private(set) var firstLooks = 0
  private(set) var gated = 0

  subscript(identifier: String) -> Record? {
    identifiers[identifier].map { records[Int($0)] }
  }

  func isCurrent(_ link: Link) -> Bool { records[Int(link.place)].serial == link.serial }

  mutating func add(
    _ region: MonitoredRegion, state: RegionState, timeout: Double, isFirstLook: Bool,
    expecting expected: [BeaconIdentity: Int64]
  ) {
    remove(region.identifier)
    serials = serials == .max ? 1 : serials + 1
    let record = Record(
      region: region, serial: serials, state: state, expected: expected,
      areBeaconsUnknown: state != .outside && expected.isEmpty, timeout: timeout,
      isFirstLook: isFirstLook)
    if isFirstLook { firstLooks += 1 }
    if region.rules.hasGates { gated += 1 }
    let place: Int32
    if let vacant = free.popLast() {
      place = vacant
      records[Int(place)] = record
    } else {
      place = Int32(records.count)
      records.append(record)
    }
    identifiers[region.identifier] = place
    matching[region.constraint, default: []].append(place)
    uuids[region.constraint.uuid, default: 0] += 1
    generation &+= 1
  }

  mutating func endFirstLook(_ place: Int32) {
    guard records[Int(place)].isFirstLook else { return }
    records[Int(place)].isFirstLook = false
    firstLooks -= 1
  }

  @discardableResult
  mutating func remove(_ identifier: String) -> MonitoredRegion? {
    guard let place = identifiers.removeValue(forKey: identifier) else { return nil }
    let region = records[Int(place)].region
    records[Int(place)].serial = 0
    records[Int(place)].expected = [:]
    if region.rules.hasGates { gated -= 1 }
    endFirstLook(place)
    free.append(place)
    matching[region.constraint]?.removeAll { $0 == place }
    if matching[region.constraint]?.isEmpty == true { matching[region.constraint] = nil }
    uuids[region.constraint.uuid, default: 1] -= 1
    if uuids[region.constraint.uuid] == 0 { uuids[region.constraint.uuid] = nil }
    generation &+= 1
    return region
  }

  func matches(_ uuid: ProximityUUID) -> Bool { uuids[uuid] != nil }

  /// Returns the places of the regions that match a beacon, by four look-ups.
  func places(for beacon: BeaconIdentity) -> [Int32] {
    let shapes: [(major: UInt16?, minor: UInt16?)] = [
      (nil, nil), (beacon.major, nil), (beacon.major, beacon.minor), (nil, beacon.minor),
    ]
    return shapes.flatMap { shape in
      matching[BeaconConstraint(uuid: beacon.uuid, major: shape.major, minor: shape.minor)] ?? []
    }
  }
}
