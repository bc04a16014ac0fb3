/// A circle on the earth: the places whose geodesic distance to its center is at most its radius.
package struct CircularRegion: Hashable, Sendable, Codable {
  /// The largest radius, in meters.
  ///
  /// A circle of this radius holds the largest countries. Where more is given, the number is most likely of another
  /// unit. The arithmetic would bear any radius: a distance is exact up to the opposite side of the earth.
  package static let maximumRadius = 2_000_000.0

  package let identifier: String
  package let center: Coordinate
  /// The radius in meters, greater than 0 and at most ``maximumRadius``.
  package let radius: Double

  /// Creates a circle.
  ///
  /// - Throws: ``GeofenceError/radius(_:)``.
  package init(
    identifier: String, center: Coordinate, radius: Double
  ) throws(GeofenceError) {
    guard radius > 0, radius <= Self.maximumRadius else { throw .radius(radius) }
    (self.identifier, self.center, self.radius) = (identifier, center, radius)
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      identifier: values.decode(String.self, forKey: .identifier),
      center: values.decode(Coordinate.self, forKey: .center),
      radius: values.decode(Double.self, forKey: .radius))
  }

  /// The radius with which a smaller circle is monitored, in meters: 50. Receivers do not know their place better, indoors
  /// above all; Apple's systems treat small circles likewise.
  package static let leastMonitoredRadius = 50.0

  /// Returns the distance from a place to the boundary as it is monitored, in meters: negative inside.
  package func distanceOutside(_ place: Coordinate) -> Double {
    center.distance(to: place) - max(radius, Self.leastMonitoredRadius)
  }
}

/// A circle that cannot be monitored.
package enum GeofenceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A radius in meters.
  case radius(Double)
  /// More circles than can be monitored at once.
  case tooMany(limit: Int)

  /// One sentence: what, the number, and what would be valid.
  package var description: String {
    switch self {
    case .radius(let radius):
      "the radius of a circle (\(radius) m) must be greater than 0 and at most"
        + " \(Int(CircularRegion.maximumRadius)) m"
    case .tooMany(let limit): "at most \(limit) circles can be monitored at once"
    }
  }
}
