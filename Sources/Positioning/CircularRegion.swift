/// A circle on the earth: the places within a geodesic radius of its center.
package struct CircularRegion: Hashable, Sendable, Codable {
  /// The largest radius, in meters. A greater number is most likely in another unit.
  package static let maximumRadius = 2_000_000.0

  package let identifier: String
  package let center: Coordinate
  /// The radius in meters, greater than 0 and at most ``maximumRadius``.
  package let radius: Double

  /// - Throws: ``GeofenceError/radius(_:)``.
  package init(
    identifier: String, center: Coordinate, radius: Double
  ) throws(GeofenceError) {
    guard radius > 0, radius <= Self.maximumRadius else { throw .radius(radius) }
    self.identifier = identifier
    self.center = center
    self.radius = radius
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      identifier: values.decode(String.self, forKey: .identifier),
      center: values.decode(Coordinate.self, forKey: .center),
      radius: values.decode(Double.self, forKey: .radius))
  }

  /// The least radius that is monitored, in meters, as on Apple's systems. Smaller circles are
  /// enlarged.
  package static let leastMonitoredRadius = 50.0

  /// Returns the distance from a place to the monitored boundary, in meters; negative inside.
  package func distanceOutside(_ place: Coordinate) -> Double {
    center.distance(to: place) - max(radius, Self.leastMonitoredRadius)
  }
}

/// An error of a circle that cannot be monitored.
package enum GeofenceError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  case radius(Double)
  case tooMany(limit: Int)

  package var description: String {
    switch self {
    case .radius(let radius):
      "the radius of a circle (\(radius) m) must be greater than 0 and at most"
        + " \(Int(CircularRegion.maximumRadius)) m"
    case .tooMany(let limit): "at most \(limit) circles can be monitored at once"
    }
  }
}
