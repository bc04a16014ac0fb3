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

/// A ``Visit`` in wall-clock time.
package struct VisitReport: Sendable, Hashable, Codable {
  package var place: Coordinate
  package var horizontalAccuracy: Double
  package var arrival: WallClockTime?
  package var departure: WallClockTime?

  package init(_ visit: Visit, _ offset: WallClockOffset) {
    (place, horizontalAccuracy) = (visit.place, visit.horizontalAccuracy)
    arrival = visit.arrival?.wallClockTime(offset)
    departure = visit.departure?.wallClockTime(offset)
  }
}
