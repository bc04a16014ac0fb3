public import Foundation

/// A condition that a ``CLMonitor`` watches.
public protocol CLCondition: Codable, Sendable {}

extension CLMonitor {
  /// The condition that a beacon of a UUID, of a group or of one identity is received.
  public struct BeaconIdentityCondition: CLCondition {
    /// The UUID of the beacons.
    public let uuid: UUID
    /// The group of the beacons; `nil` for all groups.
    public let major: CLBeaconMajorValue?
    /// The number in the group; `nil` for all numbers.
    public let minor: CLBeaconMinorValue?

    /// Creates a condition for all beacons of a UUID.
    public init(uuid: UUID) { (self.uuid, self.major, self.minor) = (uuid, nil, nil) }

    /// Creates a condition for the beacons of one group.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      (self.uuid, self.major, self.minor) = (uuid, major, nil)
    }

    /// Creates a condition for the beacons of one identity.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }
  }

  /// The condition that the device is in a circle.
  public struct CircularGeographicCondition: CLCondition {
    /// The center.
    public let center: CLLocationCoordinate2D
    /// The radius, in meters.
    public let radius: CLLocationDistance

    /// Creates a condition for a circle with a radius in meters.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      (self.center, self.radius) = (center, radius)
    }

    private enum CodingKeys: CodingKey {
      case latitude, longitude, radius
    }

    /// Decodes a circle. Throws a `DecodingError` if a part is missing.
    public init(from decoder: any Decoder) throws {
      let parts = try decoder.container(keyedBy: CodingKeys.self)
      center = CLLocationCoordinate2D(
        latitude: try parts.decode(Double.self, forKey: .latitude),
        longitude: try parts.decode(Double.self, forKey: .longitude))
      radius = try parts.decode(Double.self, forKey: .radius)
    }

    /// Encodes the circle.
    public func encode(to encoder: any Encoder) throws {
      var parts = encoder.container(keyedBy: CodingKeys.self)
      try parts.encode(center.latitude, forKey: .latitude)
      try parts.encode(center.longitude, forKey: .longitude)
      try parts.encode(radius, forKey: .radius)
    }
  }
}
