package import Clocks

/// A measurement of a receiver's own place.
package struct Fix: Hashable, Sendable, Codable {
  /// The time of reception, which logic uses.
  package var time: MonotonicTime
  /// The time that the source states, for people.
  package var timestamp: WallClockTime
  package var place: Coordinate
  /// The radius in meters around ``place`` that contains the receiver with a probability of 68 %.
  package var horizontalAccuracy: Double
  /// Meters above mean sea level; `nil` if unknown.
  package var altitude: Double?
  /// Meters above the ellipsoid; `nil` if unknown.
  package var ellipsoidalAltitude: Double?
  /// The standard deviation of the altitudes, in meters; `nil` if unknown.
  package var verticalAccuracy: Double?
  /// Meters per second over the ground; `nil` if unknown.
  package var speed: Double?
  /// The standard deviation of ``speed``, in meters per second; `nil` if unknown.
  package var speedAccuracy: Double?
  /// The direction of movement, in degrees clockwise from true north, in 0..<360; `nil` if unknown.
  package var course: Double?
  /// The standard deviation of ``course``, in degrees; `nil` if unknown.
  package var courseAccuracy: Double?

  package init(
    time: MonotonicTime, timestamp: WallClockTime, place: Coordinate, horizontalAccuracy: Double
  ) {
    self.time = time
    self.timestamp = timestamp
    self.place = place
    self.horizontalAccuracy = horizontalAccuracy
  }
}
