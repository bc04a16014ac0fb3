public import Scanning

/// A region: beacons that are meant, and rules that say when it is entered and left.
public struct MonitoredRegion: Sendable, Hashable, Codable {
  /// Which region it is: one that is added with the same identifier replaces it.
  public let identifier: String
  /// Which beacons are meant.
  public let constraint: BeaconConstraint
  /// When it is entered and left.
  public let rules: RegionRules

  /// Makes a region.
  ///
  /// - Parameters:
  ///   - identifier: Which region it is.
  ///   - constraint: Which beacons are meant.
  ///   - rules: When it is entered and left.
  public init(identifier: String, constraint: BeaconConstraint, rules: RegionRules = .standard) {
    self.identifier = identifier
    self.constraint = constraint
    self.rules = rules
  }
}
