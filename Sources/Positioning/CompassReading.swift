package import Clocks

/// A measurement of a magnetometer, with the times of a ``Fix``.
package struct CompassReading: Hashable, Sendable, Codable {
  package var time: MonotonicTime
  package var timestamp: WallClockTime
  /// Degrees clockwise from magnetic north, at least 0 and less than 360.
  package var magneticHeading: Double
  /// The standard deviation of ``magneticHeading``, in degrees; `nil` if unknown.
  package var accuracy: Double?
  /// The magnetic field along the axes of the device, in microteslas; `nil` if unknown.
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
