import Advertising
import Foundation
import Positioning
import Ranging
import Regions
package import Scanning
import ServiceCore

// Conversions between the values of the engine and those of the framework.

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
    self.init(uuid: UUID(constraint.uuid), anyMajor: constraint.major, anyMinor: constraint.minor)
  }
}

// The raw values of the next types are equal to those of the engine.

extension CLProximity {
  init(_ proximity: Proximity) { self = Self(rawValue: proximity.rawValue) ?? .unknown }
}

extension CLRegionState {
  init(_ state: RegionState) { self = Self(rawValue: Int(state.rawValue)) ?? .unknown }

  init(_ state: GeofenceState) { self = Self(rawValue: Int(state.rawValue)) ?? .unknown }
}

extension CLMonitoringState {
  init(_ state: RegionState) { self = Self(rawValue: UInt(state.rawValue)) ?? .unknown }

  init(_ state: GeofenceState) { self = Self(rawValue: UInt(state.rawValue)) ?? .unknown }
}

extension CLAuthorizationStatus {
  init(_ status: AuthorizationStatus) {
    switch status {
    case .notDetermined: self = .notDetermined
    case .restricted: self = .restricted
    case .denied: self = .denied
    case .authorizedAlways: self = .authorizedAlways
    case .authorizedWhenInUse: self = .authorizedWhenInUse
    }
  }
}

extension BeaconRegion {
  init(_ region: CLBeaconRegion) {
    self.init(
      identifier: region.identifier, constraint: BeaconConstraint(region), rules: region.rules)
    notifiesOnEntry = region.notifyOnEntry
    notifiesOnExit = region.notifyOnExit
    notifiesEntryStateOnDisplay = region.notifyEntryStateOnDisplay
  }
}

extension CLBeaconRegion {
  convenience init(_ region: BeaconRegion) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(region.constraint),
      identifier: region.identifier)
    notifyOnEntry = region.notifiesOnEntry
    notifyOnExit = region.notifiesOnExit
    notifyEntryStateOnDisplay = region.notifiesEntryStateOnDisplay
    rules = region.rules
  }
}

extension Date {
  init(_ time: WallClockTime) { self.init(timeIntervalSince1970: Double(time.nanoseconds) / 1e9) }
}

extension CLError {
  /// Creates an error with a sentence that states the problem, its place and the remedy.
  init(_ code: Code, _ sentence: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
  }
}
