import Positioning

/// A point on the earth, in the WGS 84 frame. As on Apple's systems, it does not conform to
/// `Equatable`, `Hashable` or `Codable`, so an app can declare its own conformances.
@frozen
public struct CLLocationCoordinate2D: Sendable {
  /// Degrees north of the equator; south is negative.
  public var latitude: CLLocationDegrees
  /// Degrees east of Greenwich; west is negative.
  public var longitude: CLLocationDegrees

  /// Creates the point at latitude 0, longitude 0.
  public init() { (latitude, longitude) = (0, 0) }

  /// Creates a point from degrees north and east; see ``CLLocationCoordinate2DIsValid(_:)``.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// A coordinate that is not valid: latitude and longitude are -180.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Creates a coordinate from degrees north and east, without a check, in the spelling of C.
public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D { CLLocationCoordinate2D(latitude: latitude, longitude: longitude) }

/// Returns whether the latitude lies within ±90 degrees and the longitude within ±180.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  abs(coord.latitude) <= 90 && abs(coord.longitude) <= 180
}

extension CLLocationCoordinate2D {
  /// Returns the length in meters of the shortest line to another point; not a number if one is
  /// invalid.
  func geodesicDistance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
    guard let start = Coordinate(latitude: latitude, longitude: longitude),
      let end = Coordinate(latitude: other.latitude, longitude: other.longitude)
    else { return .nan }
    return start.distance(to: end)
  }
}
