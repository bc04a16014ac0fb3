public import Scanning

/// A region: the beacons that belong to it, and the rules by which it is entered and left.
public struct MonitoredRegion: Sendable, Hashable, Codable {
  /// The region's name: a region that is added with the same identifier replaces it.
  public let identifier: String
  /// The beacons that belong to it.
  public let constraint: BeaconConstraint
  /// The rules by which it is entered and left.
  public let rules: RegionRules

  /// Creates a region.
  ///
  /// - Parameters:
  ///   - identifier: The region's name.
  ///   - constraint: The beacons that belong to it.
  ///   - rules: The rules by which it is entered and left.
  public init(identifier: String, constraint: BeaconConstraint, rules: RegionRules = .standard) {
    self.identifier = identifier
    self.constraint = constraint
    self.rules = rules
  }
}
