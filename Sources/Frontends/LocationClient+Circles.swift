package import Positioning
import Scanning
package import ServiceCore

extension LocationClient {
  /// Registers circles for the client's group, and no others: those that are stored resume with their states, which the events
  /// begin with. The others count as outside, so that a machine that is there already enters.
  ///
  /// - Returns: The names of stored circles that were removed.
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
