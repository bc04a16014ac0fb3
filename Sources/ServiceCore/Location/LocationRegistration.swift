package import Positioning
package import Scanning

/// A registration of a group with the location service.
package enum LocationRegistration: Codable, Sendable {
  case circle(MonitoredCircle)
  case visits
  case significantChanges

  /// The circle that is registered; `nil` for another registration.
  package var circle: CircularRegion? {
    if case .circle(let circle) = self { circle.region } else { nil }
  }
}

/// The state of a registration with the location service, as it outlives the process.
package enum LocationRegistrationState: Codable, Sendable {
  case circle(GeofenceState, since: WallClockTime)
  /// The offset is that of the line of the detector's times.
  case visits(VisitDetector, WallClockOffset)
  case significantChanges(SignificantChange, WallClockOffset)
}
