import Advertising
import Scanning

/// The beacons of requests: a few constraints are compared one by one, many are looked up.
struct ConstraintFilter {
  /// Whether every beacon matches.
  var isOpen = false {
    didSet { isEmpty = !isOpen && constraints.isEmpty }
  }
  /// Whether no beacon matches.
  private(set) var isEmpty = true

  private var constraints: Set<BeaconConstraint> = []
  private var few: [BeaconConstraint] = []

  private static let maximumFew = 4

  /// Replaces the constraints.
  mutating func set(_ constraints: Set<BeaconConstraint>) {
    self.constraints = constraints
    few = constraints.count <= Self.maximumFew ? Array(constraints) : []
    isEmpty = !isOpen && constraints.isEmpty
  }

  /// Returns whether a beacon matches.
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
  /// Returns all constraints that a beacon matches; for each report, not for each sighting.
  static func meaning(_ beacon: BeaconIdentity) -> [BeaconConstraint] {
    let (uuid, major, minor) = (beacon.uuid, beacon.major, beacon.minor)
    return [
      BeaconConstraint(uuid: uuid), BeaconConstraint(uuid: uuid, major: major),
      BeaconConstraint(uuid: uuid, major: major, minor: minor),
      BeaconConstraint(uuid: uuid, minor: minor),
    ]
  }
}
