internal import RealModule

/// A place as the unit vector of its vertical, which has neither poles nor an antimeridian.
/// Distances are chords on a sphere, within 0.6 % up to 1,000 km.
struct SurfaceVector: Hashable, Sendable, Codable {
  /// A vector of length 1 for a place; a sum of weighted places has another length.
  var vector: SIMD3<Double>

  private static let radius = 6_371_008.8

  init(_ vector: SIMD3<Double>) { self.vector = vector }

  init(_ place: Coordinate) {
    let north = Angle(radians: place.latitude * .pi / 180)
    let east = Angle(radians: place.longitude * .pi / 180)
    vector = SIMD3(north.cos * east.cos, north.cos * east.sin, north.sin)
  }

  /// Returns the vector scaled to length 1, or the zero vector unchanged.
  func normalized() -> SurfaceVector {
    let length = (vector * vector).sum().squareRoot()
    return length > 0 ? SurfaceVector(vector / length) : self
  }

  /// The place in this direction; `nil` if there is no finite one.
  var place: Coordinate? {
    let across = Double.hypot(vector.x, vector.y)
    return Coordinate(
      latitude: Double.atan2(y: vector.z, x: across) * 180 / .pi,
      longitude: Double.atan2(y: vector.y, x: vector.x) * 180 / .pi)
  }

  /// Returns the length of the chord to another place, in meters.
  func distance(to other: SurfaceVector) -> Double {
    let difference = other.vector - vector
    return (difference * difference).sum().squareRoot() * Self.radius
  }
}
