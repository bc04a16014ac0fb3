package import Advertising
import Scanning

/// The beacons of requests. A few constraints are compared one by one; many are looked up.
package struct ConstraintFilter: Sendable {
  let isOpen: Bool
  let isEmpty: Bool

  private let constraints: Set<BeaconConstraint>
  private let few: [BeaconConstraint]

  private static let maximumFew = 4

  package init(_ requests: some Sequence<RangingRequest> = []) {
    isOpen = requests.contains { $0.constraint == nil }
    constraints = Set(requests.compactMap(\.constraint))
    few = constraints.count <= Self.maximumFew ? Array(constraints) : []
    isEmpty = !isOpen && constraints.isEmpty
  }

  @inline(__always)
  package func matches(_ beacon: BeaconIdentity) -> Bool {
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
