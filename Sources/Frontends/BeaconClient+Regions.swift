package import Regions
import Scanning
package import ServiceCore

extension BeaconClient {
  /// Makes these the only regions of the client's group, and returns the names of stored ones that
  /// were removed. A region that was stored resumes with its state. Another one begins outside.
  package func replaceRegions(
    with regions: [BeaconRegion], _ events: inout MonitorEvents
  ) throws(BeaconServiceError) -> [String] {
    let removed = self.regions.map(\.identifier).filter { name in
      !regions.contains { $0.identifier == name }
    }
    for name in removed { unregister(name) }
    for region in regions {
      let state = assumedState(of: region)
      let insideSince = state == .inside ? snapshot(ofRegion: region.identifier)?.since : nil
      try register(region, assuming: state)
      if let snapshot = snapshot(ofRegion: region.identifier) {
        events.begin(with: snapshot, insideSince: insideSince)
      }
    }
    return removed
  }

  /// Returns the state to register a region with: the present one if only the rules change, or
  /// else outside, so someone who is there already enters.
  package func assumedState(of region: BeaconRegion) -> RegionState {
    guard let known = snapshot(ofRegion: region.identifier), known.status.state != .unknown,
      known.region.constraint == region.constraint
    else { return .outside }
    return known.status.state
  }
}
