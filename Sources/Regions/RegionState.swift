/// Whether a beacon of a region is here, as far as is known.
public enum RegionState: UInt8, Sendable, Hashable, Codable, CaseIterable {
  /// Not determined yet.
  case unknown
  /// At least one beacon of the region is here, by the region's rules.
  case inside
  /// None is.
  case outside
}
