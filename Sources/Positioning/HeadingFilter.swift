package import Clocks
internal import RealModule

/// How a device is held, as far as its compass is concerned.
package enum HeadingOrientation: String, Hashable, Sendable, Codable, CaseIterable {
  case unknown
  case portrait
  case portraitUpsideDown
  /// Turned counterclockwise from ``portrait``: its right edge points ahead.
  case landscapeLeft
  /// Turned clockwise from ``portrait``: its left edge points ahead.
  case landscapeRight
  case faceUp
  case faceDown

  /// The direction that points ahead, in degrees clockwise from the top of the device; `nil` where the orientation
  /// does not determine it.
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

/// The angle from true to magnetic north at one place and time.
package struct NorthDifference: Hashable, Sendable, Codable {
  /// Degrees, positive where magnetic north lies east of true north.
  package var declination: Double
  /// The standard deviation of ``declination``, in degrees.
  package var accuracy: Double

  package init(declination: Double, accuracy: Double = 0) {
    self.declination = declination
    self.accuracy = accuracy
  }

  /// Creates the angle of a magnetic field; `nil` near the magnetic poles, where a compass is useless.
  package init?(_ field: MagneticField) {
    guard !field.isInBlackoutZone else { return nil }
    self.init(declination: field.declination, accuracy: field.declinationAccuracy)
  }
}

/// The direction that the device points to.
package struct Heading: Hashable, Sendable, Codable {
  package var time: MonotonicTime
  package var timestamp: WallClockTime
  /// Degrees clockwise from magnetic north, at least 0 and less than 360.
  package var magneticHeading: Double
  /// Degrees clockwise from true north, at least 0 and less than 360; `nil` where the place is not known.
  package var trueHeading: Double?
  /// The standard deviation, in degrees, of the heading, with that of the declination where there is a true
  /// heading; `nil` where it is not known.
  package var accuracy: Double?
  /// The magnetic field along the axes of the device, in microteslas.
  package var field: SIMD3<Double>?
}

/// The headings that a client of the heading service receives: the first one, then changes of at least the filter's
/// angle from the one that was delivered last, and the first that has a true heading or has lost it.
package struct HeadingFilter: Hashable, Sendable {
  /// The least change, in degrees; `nil` delivers each reading.
  package var filter: Double?
  private var offset = 0.0
  private var delivered: Heading?

  /// Creates a filter; of 1 degree unless given.
  package init(filter: Double? = 1) { self.filter = filter }

  /// Sets how the device is held; ``HeadingOrientation/unknown``, face up and face down change nothing.
  package mutating func set(_ orientation: HeadingOrientation) {
    offset = orientation.offset ?? offset
  }

  /// Receives a reading.
  ///
  /// - Parameters:
  ///   - reading: What the compass measured, from the top of the device.
  ///   - north: The declination at the present place; `nil` where the place is not known.
  /// - Returns: The heading to deliver, or `nil`.
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

  /// Returns the same direction, at least 0 and less than 360 degrees.
  private static func turn(_ degrees: Double) -> Double {
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    let turned = rest < 0 ? rest + 360 : rest
    return turned == 360 ? 0 : turned
  }
}
