internal import RealModule

// Stands in until the geodesics of this module have landed: then this file goes.

extension Coordinate {
  /// Returns the length of the shortest path on the ellipsoid, in meters.
  ///
  /// T. Vincenty, "Direct and Inverse Solutions of Geodesics on the Ellipsoid with Application of Nested
  /// Equations", Survey Review 23 (176), 1975; for places that lie nearly opposite each other, where that does not
  /// converge, the great circle on a sphere of the mean radius, which is wrong by at most 0.6 %.
  func distance(to other: Coordinate) -> Double {
    if self == other { return 0 }
    let (equator, f) = (6_378_137.0, 1 / 298.257_223_563)
    let b = (1 - f) * equator
    let u1 = Double.atan((1 - f) * Double.tan(latitude * .pi / 180))
    let u2 = Double.atan((1 - f) * Double.tan(other.latitude * .pi / 180))
    let (sinU1, cosU1, sinU2, cosU2) = (
      Double.sin(u1), Double.cos(u1), Double.sin(u2), Double.cos(u2)
    )
    let turn = (other.longitude - longitude).remainder(dividingBy: 360) * .pi / 180
    var lambda = turn
    for _ in 0..<100 {
      let (sinLambda, cosLambda) = (Double.sin(lambda), Double.cos(lambda))
      let across = cosU2 * sinLambda
      let along = cosU1 * sinU2 - sinU1 * cosU2 * cosLambda
      let sinSigma = (across * across + along * along).squareRoot()
      if sinSigma == 0 {
        if cosLambda > 0 { return 0 }
        break
      }
      let cosSigma = sinU1 * sinU2 + cosU1 * cosU2 * cosLambda
      let sigma = Double.atan2(y: sinSigma, x: cosSigma)
      let sinAlpha = cosU1 * cosU2 * sinLambda / sinSigma
      let cos2Alpha = 1 - sinAlpha * sinAlpha
      let middle = cos2Alpha < 1e-15 ? 0 : cosSigma - 2 * sinU1 * sinU2 / cos2Alpha
      let c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha))
      let twist = -1 + 2 * middle * middle
      let before = lambda
      lambda =
        turn + (1 - c) * f * sinAlpha * (sigma + c * sinSigma * (middle + c * cosSigma * twist))
      guard abs(lambda) <= .pi else { break }
      guard abs(lambda - before) < 1e-12 else { continue }
      let squared = cos2Alpha * (equator * equator - b * b) / (b * b)
      let A = 1 + squared / 16384 * (4096 + squared * (-768 + squared * (320 - 175 * squared)))
      let B = squared / 1024 * (256 + squared * (-128 + squared * (74 - 47 * squared)))
      let far = middle * (-3 + 4 * sinSigma * sinSigma) * (-3 + 4 * middle * middle)
      return b * A * (sigma - B * sinSigma * (middle + B / 4 * (cosSigma * twist - B / 6 * far)))
    }
    let high = Double.sin((other.latitude - latitude) * .pi / 360)
    let wide = Double.sin(turn / 2)
    let h =
      high * high + Double.cos(latitude * .pi / 180) * Double.cos(other.latitude * .pi / 180) * wide
      * wide
    return 2 * 6_371_008.8 * Double.asin(min(1, h.squareRoot()))
  }
}
