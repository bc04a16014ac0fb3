import Regions
import Scanning
package import ServiceCore

extension BeaconClient {
  /// Makes these the only regions of the client's group, and returns the names of stored regions
  /// that were removed. A region that was stored resumes with its state, which the events begin
  /// with. Another one begins outside, so someone who is there already enters.
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
      // A region with the same beacons and other rules keeps its state.
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
