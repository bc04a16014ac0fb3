internal import RealModule

/// The ellipsoid of WGS 84 (NGA.STND.0036, 2014) and its derived constants (1–4).
enum Ellipsoid {
  /// The equatorial radius in meters.
  static var a: Double { 6_378_137 }
  /// The flattening.
  static var f: Double { 1 / 298.257_223_563 }
  /// The polar semi-axis in meters.
  static var b: Double { a * (1 - f) }
  /// The third flattening.
  static var n: Double { f / (2 - f) }
  /// The square of the first eccentricity.
  static var e2: Double { f * (2 - f) }
  /// The square of the second eccentricity.
  static var ePrime2: Double { e2 / ((1 - f) * (1 - f)) }
}

/// An angle as a point of a plane at any distance from the origin, precise in every direction.
struct Angle {
  var sin: Double
  var cos: Double

  /// A small number whose square is not 0.
  static var tiny: Double { 0x1p-511 }

  init(sin: Double, cos: Double) {
    self.sin = sin
    self.cos = cos
  }

  init(radians: Double) { self.init(sin: .sin(radians), cos: .cos(radians)) }

  /// Creates an angle of some degrees plus a correction, exact at each multiple of 90.
  init(degrees: Double, and more: Double = 0) {
    let turned = degrees.remainder(dividingBy: 360)
    let quarter = (turned / 90).rounded()
    var rest = turned - 90 * quarter + more
    if abs(rest) < 0x1p-4 { rest = rest < 0 ? (0x1p-4 + rest) - 0x1p-4 : 0x1p-4 - (0x1p-4 - rest) }
    let angle = Angle(radians: rest * .pi / 180)
    switch Int(quarter) & 3 {
    case 0: self = angle
    case 1: self.init(sin: angle.cos, cos: -angle.sin)
    case 2: self.init(sin: -angle.sin, cos: -angle.cos)
    default: self.init(sin: -angle.cos, cos: angle.sin)
    }
  }

  /// Creates the reduced latitude of a latitude in degrees (6). Its cosine is always positive.
  init(reducedLatitude latitude: Double) {
    let angle = Angle(degrees: latitude)
    self = Angle(sin: (1 - Ellipsoid.f) * angle.sin, cos: angle.cos).normalized
    cos = max(cos, Self.tiny)
  }

  var normalized: Angle {
    let radius = Double.hypot(sin, cos)
    return Angle(sin: sin / radius, cos: cos / radius)
  }

  /// The angle, which is in 0...π up to rounding, with a sine that is neither negative nor −0.
  var upward: Angle { Angle(sin: max(0, sin) + 0, cos: cos) }

  var radians: Double { .atan2(y: sin, x: cos) }

  static func + (left: Angle, right: Angle) -> Angle {
    Angle(
      sin: left.sin * right.cos + left.cos * right.sin,
      cos: left.cos * right.cos - left.sin * right.sin)
  }

  static func - (left: Angle, right: Angle) -> Angle {
    Angle(
      sin: left.sin * right.cos - left.cos * right.sin,
      cos: left.cos * right.cos + left.sin * right.sin)
  }
}

/// An integral along a geodesic, A·(σ + Σ Cₗ sin 2lσ), l = 1 … 6, with coefficients in powers of ε.
struct Integral {
  /// A, the mean growth.
  var mean: Double
  /// C₁ to C₆.
  private var amplitudes: SIMD8<Double>

  /// Returns the integral between two points; `arc` is the angle between them in radians.
  func callAsFunction(from sigma1: Angle, to sigma2: Angle, arc: Double) -> Double {
    mean * (arc + (waves(sigma2) - waves(sigma1)))
  }

  /// Returns Σ Cₗ sin 2lσ, by Clenshaw's summation.
  private func waves(_ sigma: Angle) -> Double {
    let factor = 2 * (sigma.cos - sigma.sin) * (sigma.cos + sigma.sin)
    var (sum, last) = (0.0, 0.0)
    for index in stride(from: 5, through: 0, by: -1) {
      (sum, last) = (amplitudes[index] + factor * sum - last, sum)
    }
    return 2 * sigma.sin * sigma.cos * sum
  }

  /// Returns the series parameter ε for the sine of the line's greatest reduced latitude (9, 16).
  static func epsilon(sine: Double) -> Double {
    let k2 = Ellipsoid.ePrime2 * sine * sine
    return k2 / (2 * (1 + (1 + k2).squareRoot()) + k2)
  }

  /// I₁, the length as a share of the minor semi-axis (15, 17, 18).
  static func length(_ e: Double) -> Integral {
    let e2 = e * e
    return Integral(
      mean: (1 + e2 * (1 / 4 + e2 * (1 / 64 + e2 / 256))) / (1 - e),
      e,
      -1 / 2 + e2 * (3 / 16 - e2 / 32),
      -1 / 16 + e2 * (1 / 32 - e2 * 9 / 2048),
      -1 / 48 + e2 * 3 / 256,
      -5 / 512 + e2 * 3 / 512,
      -7 / 1280,
      -7 / 2048)
  }

  /// I₂, which with I₁ gives the reduced length (40–43).
  static func scale(_ e: Double) -> Integral {
    let e2 = e * e
    return Integral(
      mean: (1 + e2 * (1 / 4 + e2 * (9 / 64 + e2 * 25 / 256))) * (1 - e),
      e,
      1 / 2 + e2 * (1 / 16 + e2 / 32),
      3 / 16 + e2 * (1 / 32 + e2 * 35 / 2048),
      5 / 48 + e2 * 5 / 256,
      35 / 512 + e2 * 7 / 512,
      63 / 1280,
      77 / 2048)
  }

  /// I₃, by which the longitude differs from that on the auxiliary sphere (23–25).
  static func longitude(_ e: Double) -> Integral {
    let n = Ellipsoid.n
    let n2 = n * n
    let a2 = 1 / 4 + n / 8 - n2 * 3 / 8
    let a3 = 1 / 16 + n * 3 / 16 + n2 / 16
    let a4 = 3 / 64 + n / 32
    let c13 = 3 / 64 + n * 3 / 64 - n2 / 64
    let c14 = 5 / 128 + n / 64
    let c22 = 1 / 16 - n * 3 / 32 + n2 / 32
    let c23 = 3 / 64 - n / 32 - n2 * 3 / 64
    return Integral(
      mean: 1 - e * (1 / 2 - n / 2 + e * (a2 + e * (a3 + e * (a4 + e * 3 / 128)))),
      e,
      1 / 4 - n / 4 + e * (1 / 8 - n2 / 8 + e * (c13 + e * (c14 + e * 3 / 128))),
      c22 + e * (c23 + e * (3 / 128 + n / 128 + e * 5 / 256)),
      5 / 192 - n * 3 / 64 + n2 * 5 / 192 + e * (3 / 128 - n * 5 / 192 + e * 7 / 512),
      7 / 512 - n * 7 / 256 + e * 7 / 512,
      21 / 2560,
      0)
  }

  /// Creates an integral from the factors of ε, ε² … ε⁶.
  private init(
    mean: Double, _ e: Double, _ c1: Double, _ c2: Double, _ c3: Double, _ c4: Double, _ c5: Double,
    _ c6: Double
  ) {
    self.mean = mean
    let (e2, e3) = (e * e, e * e * e)
    amplitudes = SIMD8(e * c1, e2 * c2, e3 * c3, e2 * e2 * c4, e2 * e3 * c5, e3 * e3 * c6, 0, 0)
  }
}
