import Advertising
package import Regions
package import Scanning

package struct BeaconRegistrationState: Codable, Sendable {
  package var state: RegionState
  package var since: WallClockTime?
  var exitTimeout: Double?
  /// The beacons inside, by `MAJOR:MINOR`, where the rules report each beacon.
  package var beacons: [String: BeaconState]?

  package init(
    state: RegionState, since: WallClockTime? = nil, exitTimeout: Double? = nil,
    beacons: [String: BeaconState]? = nil
  ) {
    self.state = state
    self.since = since
    self.exitTimeout = exitTimeout
    self.beacons = beacons
  }

  mutating func update(
    _ beacon: BeaconIdentity, _ change: RegionTransition.Change, at time: WallClockTime,
    exitTimeout: Double?
  ) {
    var beacons = beacons ?? [:]
    let name = "\(beacon.major):\(beacon.minor)"
    beacons[name] =
      change.state == .inside
      ? BeaconState(
        since: beacons[name]?.since ?? time, exitTimeout: exitTimeout)
      : nil
    let state: RegionState = beacons.isEmpty ? .outside : .inside
    if self.state != state || since == nil { since = time }
    (self.state, self.beacons) = (state, beacons)
  }

  func beacons<Value>(
    of constraint: BeaconConstraint, _ value: (BeaconState) -> Value
  ) -> [BeaconIdentity: Value] {
    var found: [BeaconIdentity: Value] = [:]
    for (name, state) in beacons ?? [:] {
      guard let one = BeaconConstraint("\(constraint.uuid):\(name)"), let major = one.major,
        let minor = one.minor
      else { continue }
      found[BeaconIdentity(uuid: one.uuid, major: major, minor: minor)] = value(state)
    }
    return found
  }

  package struct BeaconState: Codable, Sendable {
    var since: WallClockTime
    var exitTimeout: Double?
  }
}
