package import Clocks

/// What a receiver found out about its own place at one time.
package struct Fix: Hashable, Sendable, Codable {
  /// When the fix was received. Logic uses this time.
  package var time: MonotonicTime
  /// The time that the source states for the fix; for people.
  package var timestamp: WallClockTime
  package var place: Coordinate
  /// The radius around ``place`` that contains the receiver with a probability of 68 %, in meters.
  package var horizontalAccuracy: Double
  /// Meters above mean sea level; `nil` where the fix has none.
  package var altitude: Double?
  /// Meters above the ellipsoid; `nil` where the fix has none.
  package var ellipsoidalAltitude: Double?
  /// The standard deviation of the altitudes, in meters; `nil` where it is not known.
  package var verticalAccuracy: Double?
  /// Meters per second over the ground; `nil` where it is not known.
  package var speed: Double?
  /// The standard deviation of ``speed``, in meters per second; `nil` where it is not known.
  package var speedAccuracy: Double?
  /// The direction of the movement, in degrees clockwise from true north, at least 0 and less than 360; `nil` where
  /// it is not known.
  package var course: Double?
  /// The standard deviation of ``course``, in degrees; `nil` where it is not known.
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
