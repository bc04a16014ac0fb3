import Foundation

/// Distances on the WGS 84 ellipsoid, by Vincenty's inverse formula.
///
/// T. Vincenty, "Direct and Inverse Solutions of Geodesics on the Ellipsoid with Application of Nested Equations",
/// Survey Review 23 (176), 1975. It is exact to about a millimetre, and does not converge for points that lie
/// nearly opposite each other; those get the great circle on a sphere of the mean radius, which is wrong by at most
/// 0.6 %.
enum Geodesic {
  /// The equator's radius in meters (`a` of WGS 84).
  private static let equator = 6_378_137.0
  /// The flattening (`f` of WGS 84).
  private static let flattening = 1 / 298.257_223_563
  /// The mean radius in meters (R1 of the IUGG).
  private static let meanRadius = 6_371_008.8

  /// The distance in meters.
  static func distance(
    from start: CLLocationCoordinate2D, to end: CLLocationCoordinate2D
  ) -> CLLocationDistance {
    if start.latitude == end.latitude && start.longitude == end.longitude { return 0 }
    return vincenty(from: start, to: end) ?? haversine(from: start, to: end)
  }

  private static func vincenty(
    from start: CLLocationCoordinate2D, to end: CLLocationCoordinate2D
  ) -> CLLocationDistance? {
    let f = flattening
    let b = (1 - f) * equator
    let u1 = atan((1 - f) * tan(radians(start.latitude)))
    let u2 = atan((1 - f) * tan(radians(end.latitude)))
    let (sinU1, cosU1, sinU2, cosU2) = (sin(u1), cos(u1), sin(u2), cos(u2))
    // The shorter way round.
    let L = radians((end.longitude - start.longitude).remainder(dividingBy: 360))
    var lambda = L
    for _ in 0..<100 {
      let (sinLambda, cosLambda) = (sin(lambda), cos(lambda))
      let across = cosU2 * sinLambda
      let along = cosU1 * sinU2 - sinU1 * cosU2 * cosLambda
      let sinSigma = (across * across + along * along).squareRoot()
      if sinSigma == 0 { return cosLambda > 0 ? 0 : nil }
      let cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda
      let sigma = atan2(sinSigma, cosSigma)
      let sinAlpha = cosU1 * cosU2 * sinLambda / sinSigma
      let cos2Alpha = 1 - sinAlpha * sinAlpha
      // On the equator both are 0.
      let cos2SigmaM = cos2Alpha < 1e-15 ? 0 : cosSigma - 2 * sinU1 * sinU2 / cos2Alpha
      let c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha))
      let twist = -1 + 2 * cos2SigmaM * cos2SigmaM
      let before = lambda
      lambda =
        L + (1 - c) * f * sinAlpha
        * (sigma + c * sinSigma * (cos2SigmaM + c * cosSigma * twist))
      guard abs(lambda) <= .pi else { return nil }
      guard abs(lambda - before) < 1e-12 else { continue }
      let squared = cos2Alpha * (equator * equator - b * b) / (b * b)
      let A = 1 + squared / 16384 * (4096 + squared * (-768 + squared * (320 - 175 * squared)))
      let B = squared / 1024 * (256 + squared * (-128 + squared * (74 - 47 * squared)))
      let far = cos2SigmaM * (-3 + 4 * sinSigma * sinSigma) * (-3 + 4 * cos2SigmaM * cos2SigmaM)
      let correction = B * sinSigma * (cos2SigmaM + B / 4 * (cosSigma * twist - B / 6 * far))
      return b * A * (sigma - correction)
    }
    return nil
  }

  private static func haversine(
    from start: CLLocationCoordinate2D, to end: CLLocationCoordinate2D
  ) -> CLLocationDistance {
    let (north, south) = (radians(start.latitude), radians(end.latitude))
    let high = sin((south - north) / 2)
    let wide = sin(radians(end.longitude - start.longitude) / 2)
    let h = high * high + cos(north) * cos(south) * wide * wide
    return 2 * meanRadius * asin(min(1, h.squareRoot()))
  }

  private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
}
