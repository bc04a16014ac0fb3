/// A place on the WGS 84 ellipsoid.
package struct Coordinate: Hashable, Sendable, BitwiseCopyable, Codable {
  /// Degrees north, from −90 to 90.
  package let latitude: Double
  /// Degrees east, at least −180 and less than 180.
  package let longitude: Double

  /// Creates a place; `nil` if the latitude is beyond a pole or a number is not finite.
  package init?(latitude: Double, longitude: Double) {
    guard abs(latitude) <= 90, longitude.isFinite else { return nil }
    self.latitude = latitude
    let turned = longitude.remainder(dividingBy: 360)
    self.longitude = turned == 180 ? -180 : turned
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    guard
      let place = Coordinate(
        latitude: try values.decode(Double.self, forKey: .latitude),
        longitude: try values.decode(Double.self, forKey: .longitude))
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .latitude, in: values, debugDescription: "the place is not on the earth")
    }
    self = place
  }
}
