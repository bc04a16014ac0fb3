package import Positioning
package import Scanning

package enum LocationRegistration: Codable, Sendable {
  case circle(MonitoredCircle)
  case visits
  case significantChanges

  package var circle: CircularRegion? {
    if case .circle(let circle) = self { circle.region } else { nil }
  }
}

package enum LocationRegistrationState: Codable, Sendable {
  case circle(GeofenceState, since: WallClockTime)
  /// The offset belongs to the time line of the detector.
  case visits(VisitDetector, WallClockOffset)
  case significantChanges(SignificantChange, WallClockOffset)
}
