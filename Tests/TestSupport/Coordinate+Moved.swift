import Glibc
package import Positioning

extension Coordinate {
  /// Returns the place at a distance of at most 50 km, on a course in degrees clockwise
  /// from true north. The distance is exact within a micrometer; a pole must not be near.
  package func moved(_ meters: Double, toward course: Double) -> Coordinate {
    guard meters != 0 else { return self }
    // The ellipsoid of WGS 84: its equatorial radius, and the square of its eccentricity.
    let radius = 6_378_137.0
    let eccentricity = 0.006_694_379_990_141_3
    var end = self
    var length = meters
    for _ in 0..<8 {
      let sine = sin((latitude + end.latitude) / 2 * .pi / 180)
      let share = 1 - eccentricity * sine * sine
      // The radii of curvature across the meridian, and along it.
      let across = radius / share.squareRoot()
      let along = across * (1 - eccentricity) / share
      let north = length * cos(course * .pi / 180) / along
      let east = length * sin(course * .pi / 180) / (across * (1 - sine * sine).squareRoot())
      end =
        Coordinate(
          latitude: latitude + north * 180 / .pi, longitude: longitude + east * 180 / .pi) ?? self
      length *= abs(meters) / distance(to: end)
    }
    return end
  }
}
