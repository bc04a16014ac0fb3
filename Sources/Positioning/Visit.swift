package import Clocks

/// A stay at one place.
package struct Visit: Hashable, Sendable, Codable {
  /// The robust mean of the fixes there.
  package var place: Coordinate
  /// The radius around ``place`` that contains the place with a probability of 68 %, in meters.
  package var horizontalAccuracy: Double
  /// `nil` where the stay began before the detector was started.
  package var arrival: MonotonicTime?
  /// `nil` while the stay lasts.
  package var departure: MonotonicTime?

  package init(
    place: Coordinate, horizontalAccuracy: Double, arrival: MonotonicTime?,
    departure: MonotonicTime? = nil
  ) {
    self.place = place
    self.horizontalAccuracy = horizontalAccuracy
    self.arrival = arrival
    self.departure = departure
  }
}
