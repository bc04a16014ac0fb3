package import Advertising

/// How near the nearest of a region's beacons came to entering it since it was last inside, and the
/// first rule that it did not meet.
package struct RegionApproach: Sendable, Hashable, Codable {
  /// The values that the rules for entering compare.
  package struct Values: Sendable, Hashable, Codable {
    /// The signal strength of a single sighting, in dBm; `nil` if none was measured.
    package var rssi: Int8?
    /// The distance from that signal strength alone, in meters.
    package var distance: Double?
    /// The share, from 0 to 1, of the evidence that opens the gate of ``RegionApproach/rule``.
    package var evidence: Double
    /// The number of the last sightings inside the gates.
    package var count: Int
    /// The seconds inside the gates.
    package var dwell: Double
  }

  /// The beacon that came nearest.
  package let beacon: BeaconIdentity
  /// The number of its sightings.
  package let sightings: Int
  /// The first rule that was not met when the beacon was nearest.
  package let rule: RegionTransition.Rule
  /// The best value of each rule.
  package let nearest: Values
  /// The values at the last sighting.
  package let latest: Values
}
