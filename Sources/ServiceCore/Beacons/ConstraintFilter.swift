import Advertising
import Scanning

/// Which beacons are asked for: a few constraints are compared one by one, many are looked up.
struct ConstraintFilter {
  /// Whether every beacon is.
  var isOpen = false {
    didSet { isEmpty = !isOpen && constraints.isEmpty }
  }
  /// Whether none is.
  private(set) var isEmpty = true

  private var constraints: Set<BeaconConstraint> = []
  private var few: [BeaconConstraint] = []

  private static let mostFew = 4

  /// Asks for these.
  mutating func set(_ constraints: Set<BeaconConstraint>) {
    self.constraints = constraints
    few = constraints.count <= Self.mostFew ? Array(constraints) : []
    isEmpty = !isOpen && constraints.isEmpty
  }

  /// Whether a beacon is asked for.
  @inline(__always)
  func matches(_ beacon: BeaconIdentity) -> Bool {
    if isOpen { return true }
    if isEmpty { return false }
    return few.isEmpty ? lookUp(beacon) : few.contains { $0.matches(beacon) }
  }

  private func lookUp(_ beacon: BeaconIdentity) -> Bool {
    let (uuid, major, minor) = (beacon.uuid, beacon.major, beacon.minor)
    return constraints.contains(BeaconConstraint(uuid: uuid))
      || constraints.contains(BeaconConstraint(uuid: uuid, major: major))
      || constraints.contains(BeaconConstraint(uuid: uuid, major: major, minor: minor))
      || constraints.contains(BeaconConstraint(uuid: uuid, minor: minor))
  }
}

extension BeaconConstraint {
  /// All constraints that mean a beacon; for each report, not for each sighting.
  static func meaning(_ beacon: BeaconIdentity) -> [BeaconConstraint] {
    let (uuid, major, minor) = (beacon.uuid, beacon.major, beacon.minor)
    return [
      BeaconConstraint(uuid: uuid), BeaconConstraint(uuid: uuid, major: major),
      BeaconConstraint(uuid: uuid, major: major, minor: minor),
      BeaconConstraint(uuid: uuid, minor: minor),
    ]
  }
}
