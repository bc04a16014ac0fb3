package import Clocks

/// A stay at one place.
package struct Visit: Hashable, Sendable, Codable {
  /// The robust mean of the fixes there.
  package var place: Coordinate
  /// The radius in meters around ``place`` that contains the true place with a probability of 68 %.
  package var horizontalAccuracy: Double
  /// `nil` if the stay began before the detector started.
  package var arrival: MonotonicTime?
  /// `nil` while the stay lasts.
  package var departure: MonotonicTime?
}
