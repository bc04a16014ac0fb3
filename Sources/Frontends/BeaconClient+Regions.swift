import Regions
import Scanning
package import ServiceCore

extension BeaconClient {
  /// Registers regions for the client's group, and no others: those that are stored resume with their states, which the events
  /// begin with. The others count as outside, so that someone who is there already enters.
  ///
  /// - Returns: The names of stored regions that were removed.
  package func replaceRegions(
    with regions: [BeaconRegion], _ events: inout MonitorEvents
  ) throws(BeaconServiceError) -> [String] {
    let stored = self.regions
    let removed = stored.map(\.identifier).filter { name in
      !regions.contains { $0.identifier == name }
    }
    for name in removed { unregister(name) }
    for region in regions {
      var state = RegionState.outside
      var insideSince: WallClockTime?
      // Other rules for the same beacons begin with what is known of them.
      if stored.contains(where: {
        $0.identifier == region.identifier && $0.constraint == region.constraint
      }), let known = snapshot(ofRegion: region.identifier) {
        if known.status.state != .unknown { state = known.status.state }
        if state == .inside { insideSince = known.since }
      }
      try register(region, assuming: state)
      if let snapshot = snapshot(ofRegion: region.identifier) {
        events.begin(with: snapshot, insideSince: insideSince)
      }
    }
    return removed
  }
}
