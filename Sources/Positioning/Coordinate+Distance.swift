internal import RealModule

extension Coordinate {
  /// Returns the length in meters of the shortest line to another place on the WGS 84 ellipsoid.
  ///
  /// The method is C. F. F. Karney, "Algorithms for geodesics", Journal of Geodesy 87, 43–55, 2013
  /// (<https://doi.org/10.1007/s00190-012-0578-z>), to the sixth order; numbers in parentheses are
  /// the paper's equations. It is valid for every pair of places, within 0.1 µm of GeographicLib.
  package func distance(to other: Coordinate) -> Double {
    let isOnePole = abs(latitude) == 90 && latitude == other.latitude
    guard self != other, !isOnePole else { return 0 }
    var problem = InverseProblem(from: self, to: other)
    return problem.solve()
  }
}

/// The inverse problem (sections 4 and 5) for a first place south of the equator, and no closer to
/// it than the second, which lies east of the first or on its meridian.
private struct InverseProblem {
  /// The reduced latitudes.
  private let beta1: Angle
  private var beta2: Angle
  /// The difference of the longitudes, and its supplement to half a turn, in radians.
  private let longitude: Angle
  private let radians: Double
  private let supplement: Double
  /// The azimuths of the line at its ends.
  private var alpha1: Angle
  private var alpha2 = Angle(sin: 0, cos: 1)

  private static var ulp: Double { Double.ulpOfOne }

  init(from start: Coordinate, to end: Coordinate) {
    // The difference of the longitudes, from 0 to 180, and its rounding error.
    let sum = end.longitude - start.longitude
    let back = sum - end.longitude
    let lost = (end.longitude - (sum - back)) - (start.longitude + back)
    let turned = sum.remainder(dividingBy: 360)
    let degrees = abs(turned)
    let rest =
      switch degrees {
      case 0: abs(lost)
      case 180: -abs(lost)
      default: turned < 0 ? -lost : lost
      }
    longitude = Angle(degrees: degrees, and: rest)
    radians = (degrees + rest) * .pi / 180
    supplement = (180 - degrees - rest) * .pi / 180
    alpha1 = longitude

    // The first place is the one farther from the equator, and lies south of it (44).
    let isSwapped = abs(start.latitude) < abs(end.latitude)
    let first = isSwapped ? end.latitude : start.latitude
    let second = isSwapped ? start.latitude : end.latitude
    let northward: Double = first > 0 ? -1 : 1
    beta1 = Angle(reducedLatitude: northward * first)
    beta2 = Angle(reducedLatitude: northward * second)
    // Equal cosines (sines) mean equal latitudes, also after rounding.
    if beta1.cos < -beta1.sin {
      if beta2.cos == beta1.cos { beta2.sin = beta2.sin < 0 ? beta1.sin : -beta1.sin }
    } else if abs(beta2.sin) == -beta1.sin {
      beta2.cos = beta1.cos
    }
  }

  /// Returns the distance in meters.
  mutating func solve() -> Double { alongMeridian() ?? alongEquator() ?? acrossShort() ?? across() }

  /// Returns the length of a line along a meridian or over a pole, which arrives northward. It is
  /// the shortest unless its reduced length is negative.
  private func alongMeridian() -> Double? {
    guard beta1.cos == Angle.tiny || longitude.sin == 0 else { return nil }
    let line = Line(
      sigma1: Angle(sin: beta1.sin, cos: longitude.cos * beta1.cos), sigma2: beta2,
      epsilon: Ellipsoid.n)
    guard line.arc < Self.ulp.squareRoot() || reducedLength(line) >= 0 else { return nil }
    return line.meters
  }

  private func alongEquator() -> Double? {
    guard beta1.sin == 0, supplement >= Ellipsoid.f * .pi else { return nil }
    return Ellipsoid.a * radians
  }

  /// Starts with the great circle of the auxiliary sphere (48–51), which suffices for a short line.
  private mutating func acrossShort() -> Double? {
    let difference = Angle(
      sin: beta2.sin * beta1.cos - beta2.cos * beta1.sin,
      cos: beta2.cos * beta1.cos + beta2.sin * beta1.sin)
    let sum = beta2.sin * beta1.cos + beta2.cos * beta1.sin
    let isShort = difference.cos >= 0 && difference.sin < 0.5 && beta2.cos * radians < 0.5
    var omega = longitude
    var scale = 1.0
    if isShort {
      let middle = Angle(sin: beta1.sin + beta2.sin, cos: beta1.cos + beta2.cos).normalized
      scale = (1 + Ellipsoid.ePrime2 * middle.sin * middle.sin).squareRoot()
      omega = Angle(radians: radians / ((1 - Ellipsoid.f) * scale))
    }
    alpha1.sin = beta2.cos * omega.sin
    let bend = beta2.cos * beta1.sin * omega.sin * omega.sin
    alpha1.cos =
      omega.cos >= 0 ? difference.sin + bend / (1 + omega.cos) : sum - bend / (1 - omega.cos)
    let sigma = Angle(
      sin: Double.hypot(alpha1.sin, alpha1.cos),
      cos: beta1.sin * beta2.sin + beta1.cos * beta2.cos * omega.cos)
    // A tenth of the arc whose square times the flattening is the rounding error.
    let shortArc = 0.1 * (Self.ulp / (Ellipsoid.f / 2)).squareRoot()
    if isShort && sigma.sin < shortArc { return Ellipsoid.b * scale * sigma.radians }
    if sigma.cos < 0 && sigma.sin < 6 * Ellipsoid.n * .pi * beta1.cos * beta1.cos {
      startNearlyAntipodal(sum: sum)
    }
    alpha1 = alpha1.sin > 0 ? alpha1.normalized : Angle(sin: 1, cos: 0)
    return nil
  }

  /// Starts with the solution of the astroid problem, opposite to the first place (52–57).
  private mutating func startNearlyAntipodal(sum: Double) {
    let epsilon = Integral.epsilon(sine: abs(beta1.sin))
    let scale = Ellipsoid.f * beta1.cos * Integral.longitude(epsilon).mean * .pi
    let (x, y) = (-supplement / scale, sum / (scale * beta1.cos))
    if y > -200 * Self.ulp && x > -1 - 1000 * Self.ulp.squareRoot() {
      // At the cut locus.
      alpha1.sin = min(1, -x)
      alpha1.cos = -(1 - alpha1.sin * alpha1.sin).squareRoot()
    } else {
      let mu = Self.astroid(x, y)
      let opposite = Angle(radians: scale * -x * mu / (1 + mu))
      alpha1.sin = beta2.cos * opposite.sin
      alpha1.cos =
        sum - beta2.cos * beta1.sin * opposite.sin * opposite.sin / (1 + opposite.cos)
    }
  }

  /// Returns the positive root of μ⁴ + 2μ³ + (1 − x² − y²)μ² − 2y²μ − y² = 0 (55; appendix B).
  private static func astroid(_ x: Double, _ y: Double) -> Double {
    let (p, q) = (x * x, y * y)
    let r = (p + q - 1) / 6
    guard q > 0 || r > 0 else { return 0 }
    let s = p * q / 4
    let cube = r * r * r
    let discriminant = s * (s + 2 * cube)
    var u = r
    if discriminant >= 0 {
      let root = discriminant.squareRoot()
      let t = Double.root(s + cube + (s + cube < 0 ? -root : root), 3)
      u += t == 0 ? 0 : t + r * r / t
    } else {
      u += 2 * r * Double.cos(Double.atan2(y: (-discriminant).squareRoot(), x: -(s + cube)) / 3)
    }
    let v = (u * u + q).squareRoot()
    let uv = u < 0 ? q / (v - u) : u + v
    let w = (uv - q) / (2 * v)
    return uv / ((uv + w * w).squareRoot() + w)
  }

  /// Varies the first azimuth until the line meets the second parallel at its longitude, by
  /// Newton's method in 2 to 4 steps, or by bisection in at most 83.
  private mutating func across() -> Double {
    var low = Angle(sin: Angle.tiny, cos: 1)
    var high = Angle(sin: Angle.tiny, cos: -1)
    var (isClose, isBracketed) = (false, false)
    var step = 0
    while true {
      let (line, miss) = lineOfAzimuth()
      if isBracketed || abs(miss) < (isClose ? 8 : 1) * Self.ulp || step == 83 {
        return line.meters
      }
      let slope = alpha1.cos / alpha1.sin
      if miss > 0 && (step > 20 || slope > high.cos / high.sin) {
        high = alpha1
      } else if miss < 0 && (step > 20 || slope < low.cos / low.sin) {
        low = alpha1
      }
      step += 1
      if step < 20 {
        let change = -miss / change(line)
        let next = alpha1 + Angle(radians: change)
        if change * miss < 0, abs(change) < .pi, next.sin > 0 {
          alpha1 = next.normalized
          isClose = abs(miss) <= 16 * Self.ulp
          continue
        }
      }
      alpha1 = Angle(sin: (low.sin + high.sin) / 2, cos: (low.cos + high.cos) / 2).normalized
      isClose = false
      isBracketed =
        abs(low.sin - alpha1.sin) + (low.cos - alpha1.cos) < Self.ulp
        || abs(alpha1.sin - high.sin) + (alpha1.cos - high.cos) < Self.ulp
    }
  }

  /// Returns the line with the azimuth ``alpha1`` to the second latitude, and the radians from the
  /// second place eastward to its end; sets ``alpha2``.
  private mutating func lineOfAzimuth() -> (line: Line, miss: Double) {
    // An equatorial line is not determined by its azimuth: treat it as slightly southward.
    if beta1.sin == 0 && alpha1.cos == 0 { alpha1.cos = -Angle.tiny }
    // The azimuth at the equator (5, 10).
    let alpha0 = Angle(
      sin: alpha1.sin * beta1.cos, cos: .hypot(alpha1.cos, alpha1.sin * beta1.sin))
    let isOneLatitude = beta2.cos == beta1.cos
    alpha2.sin = isOneLatitude ? alpha1.sin : alpha0.sin / beta2.cos
    if isOneLatitude && abs(beta2.sin) == -beta1.sin {
      alpha2.cos = abs(alpha1.cos)
    } else {
      let along = alpha1.cos * beta1.cos
      let rise =
        beta1.cos < -beta1.sin
        ? (beta2.cos - beta1.cos) * (beta1.cos + beta2.cos)
        : (beta1.sin - beta2.sin) * (beta1.sin + beta2.sin)
      alpha2.cos = (along * along + rise).squareRoot() / beta2.cos  // (45)
    }
    let omega1 = Angle(sin: alpha0.sin * beta1.sin, cos: alpha1.cos * beta1.cos)
    let omega2 = Angle(sin: alpha0.sin * beta2.sin, cos: alpha2.cos * beta2.cos)
    let line = Line(
      sigma1: Angle(sin: beta1.sin, cos: omega1.cos).normalized,
      sigma2: Angle(sin: beta2.sin, cos: omega2.cos).normalized,
      epsilon: Integral.epsilon(sine: alpha0.cos))
    let longitude = Integral.longitude(line.epsilon)(
      from: line.sigma1, to: line.sigma2, arc: line.arc)
    let omega12 = (omega2 - omega1).upward
    return (line, (omega12 - self.longitude).radians - Ellipsoid.f * alpha0.sin * longitude)
  }

  /// Returns the derivative of the longitude of the line's end by the first azimuth (46).
  private func change(_ line: Line) -> Double {
    let f1 = 1 - Ellipsoid.f
    return alpha2.cos == 0
      ? -2 * f1 * stretch(beta1) / beta1.sin
      : f1 * reducedLength(line) / (alpha2.cos * beta2.cos)
  }

  /// Returns the reduced length as a share of the minor semi-axis (38).
  private func reducedLength(_ line: Line) -> Double {
    let (sigma1, sigma2) = (line.sigma1, line.sigma2)
    let excess =
      Integral.length(line.epsilon)(from: sigma1, to: sigma2, arc: line.arc)
      - Integral.scale(line.epsilon)(from: sigma1, to: sigma2, arc: line.arc)
    return stretch(beta2) * (sigma1.cos * sigma2.sin) - stretch(beta1) * (sigma1.sin * sigma2.cos)
      - sigma1.cos * sigma2.cos * excess
  }

  /// Returns √(1 + k² sin² σ).
  private func stretch(_ beta: Angle) -> Double {
    (1 + Ellipsoid.ePrime2 * beta.sin * beta.sin).squareRoot()
  }

  /// A geodesic as an arc of a great circle on the auxiliary sphere.
  private struct Line {
    var sigma1: Angle
    var sigma2: Angle
    var epsilon: Double
    /// The arc in radians.
    var arc: Double

    init(sigma1: Angle, sigma2: Angle, epsilon: Double) {
      self.sigma1 = sigma1
      self.sigma2 = sigma2
      self.epsilon = epsilon
      arc = (sigma2 - sigma1).upward.radians
    }

    var meters: Double {
      max(0, Ellipsoid.b * Integral.length(epsilon)(from: sigma1, to: sigma2, arc: arc))
    }
  }
}
