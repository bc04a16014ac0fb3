public import Foundation

/// What a ``CLMonitor`` watches for.
public protocol CLCondition: Codable, Sendable {}

extension CLMonitor {
  /// That a beacon of a UUID, of a major of it, or of one identity is heard.
  public struct BeaconIdentityCondition: CLCondition {
    /// Whose beacons.
    public let uuid: UUID
    /// Which group; `nil` for all.
    public let major: CLBeaconMajorValue?
    /// Which one of the group; `nil` for all.
    public let minor: CLBeaconMinorValue?

    /// Means all beacons of a UUID.
    ///
    /// - Parameter uuid: Whose beacons.
    public init(uuid: UUID) {
      (self.uuid, self.major, self.minor) = (uuid, nil, nil)
    }

    /// Means the beacons of one group.
    ///
    /// - Parameters:
    ///   - uuid: Whose beacons.
    ///   - major: Which group.
    public init(uuid: UUID, major: CLBeaconMajorValue) {
      (self.uuid, self.major, self.minor) = (uuid, major, nil)
    }

    /// Means the beacons of one identity.
    ///
    /// - Parameters:
    ///   - uuid: Whose beacons.
    ///   - major: Which group.
    ///   - minor: Which one of the group.
    public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
      (self.uuid, self.major, self.minor) = (uuid, major, minor)
    }
  }

  /// That the device is in a circle. It cannot be watched yet: its event says
  /// ``CLMonitor/Event/conditionUnsupported``.
  public struct CircularGeographicCondition: CLCondition {
    /// The centre.
    public let center: CLLocationCoordinate2D
    /// The radius, in metres.
    public let radius: CLLocationDistance

    /// Means a circle.
    ///
    /// - Parameters:
    ///   - center: Its centre.
    ///   - radius: Its radius, in metres.
    public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
      (self.center, self.radius) = (center, radius)
    }

    private enum CodingKeys: CodingKey {
      case latitude, longitude, radius
    }

    /// Reads a circle.
    ///
    /// - Parameter decoder: Where from.
    /// - Throws: `DecodingError` if a part is not there.
    public init(from decoder: any Decoder) throws {
      let parts = try decoder.container(keyedBy: CodingKeys.self)
      center = CLLocationCoordinate2D(
        latitude: try parts.decode(Double.self, forKey: .latitude),
        longitude: try parts.decode(Double.self, forKey: .longitude))
      radius = try parts.decode(Double.self, forKey: .radius)
    }

    /// Writes the circle.
    ///
    /// - Parameter encoder: Where to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
      var parts = encoder.container(keyedBy: CodingKeys.self)
      try parts.encode(center.latitude, forKey: .latitude)
      try parts.encode(center.longitude, forKey: .longitude)
      try parts.encode(radius, forKey: .radius)
    }
  }
}
