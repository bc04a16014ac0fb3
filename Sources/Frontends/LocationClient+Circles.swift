package import Positioning
import Scanning
package import ServiceCore

extension LocationClient {
  /// Makes these the only circles of the client's group, and returns the names of stored circles
  /// that were removed. A circle that was stored resumes with its state, which the events begin
  /// with. Another one begins outside, so a machine that is there already enters.
  package func replaceCircles(
    with circles: [CircularRegion], _ events: inout MonitorEvents
  ) throws(LocationServiceError) -> [String] {
    let stored = self.circles.map(\.region)
    let removed = stored.map(\.identifier).filter { name in
      !circles.contains { $0.identifier == name }
    }
    for name in removed { unregister(name) }
    for circle in circles {
      var state = GeofenceState.outside
      var insideSince: WallClockTime?
      if stored.contains(circle), let known = snapshot(ofCircle: circle.identifier) {
        if known.state != .unknown { state = known.state }
        if state == .inside { insideSince = known.since }
      }
      try register(MonitoredCircle(circle), assuming: state)
      if let snapshot = snapshot(ofCircle: circle.identifier) {
        events.begin(with: snapshot, insideSince: insideSince)
      }
    }
    return removed
  }
}
