package import Positioning
import Scanning
package import ServiceCore

extension LocationClient {
  /// Makes these the only circles of the client's group, and returns the names of stored ones that
  /// were removed. A circle that was stored resumes with its state. Another one begins outside.
  package func replaceCircles(
    with circles: [CircularRegion], _ events: inout MonitorEvents
  ) throws(LocationServiceError) -> [String] {
    let removed = self.circles.map(\.region.identifier).filter { name in
      !circles.contains { $0.identifier == name }
    }
    for name in removed { unregister(name) }
    for circle in circles {
      let state = assumedState(of: circle)
      let insideSince = state == .inside ? snapshot(ofCircle: circle.identifier)?.since : nil
      try register(MonitoredCircle(circle), assuming: state)
      if let snapshot = snapshot(ofCircle: circle.identifier) {
        events.begin(with: snapshot, insideSince: insideSince)
      }
    }
    return removed
  }

  /// Returns the state to register a circle with: that of an equal circle, or else outside, so a
  /// machine that is there already enters.
  package func assumedState(of circle: CircularRegion) -> GeofenceState {
    guard let known = snapshot(ofCircle: circle.identifier), known.state != .unknown,
      known.circle.region == circle
    else { return .outside }
    return known.state
  }
}
