public import Scanning

/// A region: its beacons, and the rules for entering and leaving it.
public struct MonitoredRegion: Sendable, Hashable, Codable {
  /// The unique name of the region.
  public let identifier: String
  /// The beacons that belong to it.
  public let constraint: BeaconConstraint
  /// The rules for entering and leaving it.
  public let rules: RegionRules

  /// Creates a region, which replaces one with the same identifier when it is added.
  public init(identifier: String, constraint: BeaconConstraint, rules: RegionRules = .standard) {
    self.identifier = identifier
    self.constraint = constraint
    self.rules = rules
  }
}
