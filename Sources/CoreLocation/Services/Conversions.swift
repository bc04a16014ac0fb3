import Advertising
import Foundation
import Ranging
import RegionStorage
import Regions
package import Scanning

// From the values of the engine to those of the framework, and back.

extension ProximityUUID {
  init(_ uuid: UUID) {
    var bytes = uuid.uuid
    // Sixteen bytes are two words, the most significant octet first.
    let (high, low) = unsafe withUnsafeBytes(of: &bytes) { bytes in
      unsafe (
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self.init(high: high, low: low)
  }
}

extension UUID {
  init(_ uuid: ProximityUUID) {
    var words = (uuid.high.bigEndian, uuid.low.bigEndian)
    self.init(
      uuid: unsafe withUnsafeBytes(of: &words) { unsafe $0.loadUnaligned(as: uuid_t.self) })
  }
}

extension BeaconConstraint {
  init(_ constraint: CLBeaconIdentityConstraint) {
    self.init(
      uuid: ProximityUUID(constraint.uuid), major: constraint.major, minor: constraint.minor)
  }

  init(_ region: CLBeaconRegion) {
    self.init(
      uuid: ProximityUUID(region.uuid), major: region.major?.uint16Value,
      minor: region.minor?.uint16Value)
  }
}

extension CLBeaconIdentityConstraint {
  package convenience init(_ constraint: BeaconConstraint) {
    self.init(
      uuid: UUID(constraint.uuid), anyMajor: constraint.major, anyMinor: constraint.minor)
  }
}

extension CLProximity {
  init(_ proximity: Proximity) {
    switch proximity {
    case .unknown: self = .unknown
    case .immediate: self = .immediate
    case .near: self = .near
    case .far: self = .far
    }
  }
}

extension CLRegionState {
  init(_ state: RegionState) {
    switch state {
    case .unknown: self = .unknown
    case .inside: self = .inside
    case .outside: self = .outside
    }
  }
}

extension CLBeaconRegion {
  /// A region of this class with the same values, whatever class this one is of.
  func duplicate() -> CLBeaconRegion {
    let region = CLBeaconRegion(
      beaconIdentityConstraint: beaconIdentityConstraint, identifier: identifier)
    region.notifyOnEntry = notifyOnEntry
    region.notifyOnExit = notifyOnExit
    region.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    region.rules = rules
    return region
  }
}

extension MonitoredRegion {
  /// A manager's region.
  init(_ region: CLBeaconRegion, rules: RegionRules) {
    self.init(
      identifier: region.identifier, constraint: BeaconConstraint(region),
      rules: region.rules ?? rules)
  }
}

extension CLError {
  /// An error with a sentence that says what, where and what to do.
  init(_ code: Code, _ sentence: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
  }
}
