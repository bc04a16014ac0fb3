package import Clocks
internal import RealModule

/// The orientation of a device, for its compass.
package enum HeadingOrientation: Int32, Hashable, Sendable, Codable, CaseIterable {
  case unknown
  case portrait
  case portraitUpsideDown
  /// Turned counterclockwise from ``portrait``: its right edge points ahead.
  case landscapeLeft
  /// Turned clockwise from ``portrait``: its left edge points ahead.
  case landscapeRight
  case faceUp
  case faceDown

  /// The direction ahead, in degrees clockwise from the top of the device; `nil` if undetermined.
  package var offset: Double? {
    switch self {
    case .portrait: 0
    case .landscapeLeft: 90
    case .portraitUpsideDown: 180
    case .landscapeRight: 270
    case .unknown, .faceUp, .faceDown: nil
    }
  }
}

/// The angle from true to magnetic north at a place and time.
package struct NorthDifference: Hashable, Sendable, Codable {
  /// Degrees, positive if magnetic north lies east of true north.
  package var declination: Double
  /// The standard deviation of ``declination``, in degrees.
  package var accuracy = 0.0
}

extension NorthDifference {
  /// Creates the angle of a magnetic field. Returns `nil` near the magnetic poles.
  package init?(_ field: MagneticField) {
    guard !field.isInBlackoutZone else { return nil }
    self.init(declination: field.declination, accuracy: field.declinationAccuracy)
  }
}

/// The direction of the device.
package struct Heading: Hashable, Sendable, Codable {
  package var time: MonotonicTime
  package var timestamp: WallClockTime
  /// Degrees clockwise from magnetic north, in 0..<360.
  package var magneticHeading: Double
  /// Degrees clockwise from true north, in 0..<360; `nil` if the place is unknown.
  package var trueHeading: Double?
  /// The standard deviation of the true heading, or else of the magnetic one; `nil` if unknown.
  package var accuracy: Double?
  /// The magnetic field along the axes of the device, in microteslas.
  package var field: SIMD3<Double>?
}

/// The headings for a client: the first one, changes by the filter's angle or more since the last
/// delivery, and each one that gains or loses a true heading.
package struct HeadingFilter: Hashable, Sendable {
  /// The least change, in degrees; `nil` delivers each reading.
  package var filter: Double?
  private var offset = 0.0
  private var delivered: Heading?

  package init(filter: Double? = 1) { self.filter = filter }

  /// Sets the orientation; ``HeadingOrientation/unknown``, face up and face down change nothing.
  package mutating func set(_ orientation: HeadingOrientation) {
    offset = orientation.offset ?? offset
  }

  /// Receives a reading from the top of the device, and returns the heading to deliver, if any.
  package mutating func receive(_ reading: CompassReading, north: NorthDifference?) -> Heading? {
    let magnetic = Self.turn(reading.magneticHeading + offset)
    let heading = Heading(
      time: reading.time, timestamp: reading.timestamp, magneticHeading: magnetic,
      trueHeading: north.map { Self.turn(magnetic + $0.declination) },
      accuracy: reading.accuracy.map { Double.hypot($0, north?.accuracy ?? 0) },
      field: reading.field)
    if let delivered, let filter,
      abs((magnetic - delivered.magneticHeading).remainder(dividingBy: 360)) < filter,
      (heading.trueHeading == nil) == (delivered.trueHeading == nil)
    {
      return nil
    }
    delivered = heading
    return heading
  }

  /// Returns the same direction, in 0..<360 degrees.
  private static func turn(_ degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    let turned = rest < 0 ? rest + 360 : rest
    return turned == 360 ? 0 : turned
  }
}
