internal import RealModule

// Replaced by the geodesic on the ellipsoid.
extension Coordinate {
  /// Returns the distance to another place, in meters, on a sphere.
  func distance(to other: Coordinate) -> Double {
    SurfaceVector(self).distance(to: SurfaceVector(other))
  }
}
