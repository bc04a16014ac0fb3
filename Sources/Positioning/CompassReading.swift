package import Clocks

/// What a magnetometer measured at one time.
package struct CompassReading: Hashable, Sendable, Codable {
  /// When the reading was received. Logic uses this time.
  package var time: MonotonicTime
  /// The time that the source states for the reading; for people.
  package var timestamp: WallClockTime
  /// Degrees clockwise from magnetic north, at least 0 and less than 360.
  package var magneticHeading: Double
  /// The standard deviation of ``magneticHeading``, in degrees; `nil` where it is not known.
  package var accuracy: Double?
  /// The magnetic field along the axes of the device, in microteslas; `nil` where only the heading is known.
  package var field: SIMD3<Double>?

  package init(
    time: MonotonicTime, timestamp: WallClockTime, magneticHeading: Double, accuracy: Double? = nil,
    field: SIMD3<Double>? = nil
  ) {
    self.time = time
    self.timestamp = timestamp
    self.magneticHeading = magneticHeading
    self.accuracy = accuracy
    self.field = field
  }
}
