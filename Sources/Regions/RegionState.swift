/// The known presence of a region's beacons.
public enum RegionState: UInt8, Sendable, Hashable, Codable, CaseIterable {
  /// Not determined yet.
  case unknown
  /// At least one beacon is inside, by the region's rules.
  case inside
  /// No beacon is inside.
  case outside
}
