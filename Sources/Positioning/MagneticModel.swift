package import Clocks
internal import RealModule

/// The magnetic field of the earth at a place and time, by the World Magnetic Model 2025.
///
/// The model is that of NOAA and the British Geological Survey (Chulliat et al., "The US/UK World
/// Magnetic Model for 2025–2030: Technical Report", 2025,
/// <https://www.ncei.noaa.gov/products/world-magnetic-model>); its data are in the public domain.
/// It covers the main field only, at heights from −1 to 850 km.
package struct MagneticField: Hashable, Sendable, BitwiseCopyable {
  /// The components in nanoteslas.
  package let north: Double
  package let east: Double
  package let down: Double
  /// Whether the date is outside the years of the model.
  ///
  /// Dates before the model have the field of its start. The yearly changes continue for five years
  /// after it. So continued, the declination of WMM2020 at the end of 2029 differs from that of
  /// WMM2025 by 0.32° between 60° south and north (root mean square).
  package let isExpired: Bool

  /// The strength of the horizontal part, in nanoteslas.
  package var horizontal: Double { .hypot(north, east) }

  /// Degrees from true north to magnetic north, positive to the east, from −180 to 180.
  package var declination: Double { .atan2(y: east, x: north) * 180 / .pi }

  /// The standard deviation of ``declination`` in degrees, at most 180, by the model's report.
  package var declinationAccuracy: Double { min(180, .hypot(0.26, 5417 / horizontal)) }

  /// Whether the place is in the blackout zone near a magnetic pole, where a compass is useless.
  package var isInBlackoutZone: Bool { horizontal < 2000 }
}

package enum MagneticModel {
  /// The decimal years of the model.
  package static var validity: Range<Double> { 2025..<2030 }

  /// The warning for a date that is not in ``validity``.
  package static let expiry =
    "true headings may be wrong by a degree, because the magnetic model is of 2025 to 2029; "
    + "set the clock, or install a newer version"

  /// Returns the field at a place, a height in meters above the ellipsoid, and a time.
  package static func field(
    at place: Coordinate, height: Double = 0, time: WallClockTime
  ) -> MagneticField {
    field(at: place, height: height, year: time.decimalYear)
  }

  static func field(at place: Coordinate, height: Double, year: Double) -> MagneticField {
    let years = min(max(year - validity.lowerBound, 0), 10)
    // From the ellipsoid to the sphere (report, equations 7 and 8).
    let phi = Angle(degrees: place.latitude)
    let lambda = Angle(degrees: place.longitude)
    let curvature = Ellipsoid.a / (1 - Ellipsoid.e2 * phi.sin * phi.sin).squareRoot()
    let across = (curvature + height) * phi.cos
    let along = (curvature * (1 - Ellipsoid.e2) + height) * phi.sin
    let radius = Double.hypot(across, along)
    // The colatitude, whose cosine is the sine of the latitude.
    let theta = Angle(sin: across / radius, cos: along / radius)

    // The sums over degree n and order m (10–12), by order. P is Schmidt's semi-normalized
    // function, and U is P / sin θ, which is finite even at the poles.
    let ratio = 6_371_200 / radius
    var (north, east, down) = (0.0, 0.0, 0.0)
    var (first, firstSlope, firstU) = (1.0, 0.0, 0.0)  // of n = m
    var turn = Angle(sin: 0, cos: 1)  // mλ
    var power = ratio * ratio  // (a / r)ᵐ⁺²
    for m in 0...12 {
      if m > 0 {
        let factor = m == 1 ? 1 : (Double(2 * m - 1) / Double(2 * m)).squareRoot()
        firstU = factor * first
        firstSlope = factor * (theta.sin * firstSlope + theta.cos * first)
        first = firstU * theta.sin
        turn = turn + lambda
        power *= ratio
      }
      var (p, slope, u, scale) = (first, firstSlope, firstU, power)
      var (lastP, lastSlope, lastU) = (0.0, 0.0, 0.0)
      for n in m...12 {
        if n > m {
          let (a, b) = (Double(2 * n - 1), Double((n - 1) * (n - 1) - m * m).squareRoot())
          let norm = 1 / Double(n * n - m * m).squareRoot()
          (p, slope, u, lastP, lastSlope, lastU) = (
            (a * theta.cos * p - b * lastP) * norm,
            (a * (theta.cos * slope - theta.sin * p) - b * lastSlope) * norm,
            (a * theta.cos * u - b * lastU) * norm, p, slope, u
          )
          scale *= ratio
        }
        guard n > 0 else { continue }
        let row = 4 * (n * (n + 1) / 2 + m - 1)
        let g = (Double(tenths[row]) + years * Double(tenths[row + 2])) / 10
        let h = (Double(tenths[row + 1]) + years * Double(tenths[row + 3])) / 10
        let wave = scale * (g * turn.cos + h * turn.sin)
        north += wave * slope
        east += scale * Double(m) * (g * turn.sin - h * turn.cos) * u
        down -= wave * Double(n + 1) * p
      }
    }
    // From the sphere's vertical to the ellipsoid's (17).
    let tilt = Angle(sin: theta.cos, cos: theta.sin) - phi
    return MagneticField(
      north: north * tilt.cos - down * tilt.sin, east: east,
      down: north * tilt.sin + down * tilt.cos, isExpired: !validity.contains(year))
  }

  /// The coefficients of WMM2025.COF in tenths of a nanotesla: g, h and their yearly changes.
  private static let tenths: [Int32] = [
    // n = 1
    -293518, 0, 120, 0, -14108, 45454, 97, -215,
    // n = 2
    -25566, 0, -116, 0, 29511, -31336, -52, -277, 16493, -8151, -80, -121,
    // n = 3
    13610, 0, -13, 0, -24041, -566, -42, 40, 12438, 2375, 4, -3, 4536, -5495, -156, -41,
    // n = 4
    8950, 0, -16, 0, 7995, 2786, -24, -11, 557, -1339, -60, 41, -2811, 2120, 56, 16, 121,
    -3756, -70, -44,
    // n = 5
    -2332, 0, 6, 0, 3689, 454, 14, -5, 1872, 2202, 0, 22, -1387, -1229, 6, 4, -1420, 430,
    22, 17, 209, 1061, 9, 19,
    // n = 6
    644, 0, -2, 0, 638, -184, -4, 3, 769, 168, 9, -16, -1157, 488, 12, -4, -409, -598, -9,
    9, 149, 109, 3, 7, -607, 727, 9, 9,
    // n = 7
    795, 0, 0, 0, -770, -489, -1, 6, -88, -144, -1, 5, 593, -10, 5, -8, 158, 234, -1, 0, 25,
    -74, -8, -10, -111, -251, -8, 6, 142, -23, 8, -2,
    // n = 8
    232, 0, -1, 0, 108, 71, 2, -2, -175, -126, 0, 5, 20, 114, 5, -4, -217, -97, -1, 4, 169,
    127, 3, -5, 150, 7, 2, -6, -168, -52, 0, 3, 9, 39, 2, 2,
    // n = 9
    46, 0, 0, 0, 78, -248, -1, -3, 30, 122, 1, 3, -2, 83, 3, -3, -25, -33, -3, 3, -131, -52,
    0, 2, 24, 72, 3, -1, 86, -6, -1, -2, -87, 8, 1, 4, -129, 100, -1, 1,
    // n = 10
    -13, 0, 1, 0, -64, 33, 0, 0, 2, 0, 1, 0, 20, 24, 1, -2, -10, 53, 0, 1, -6, -91, -3, -1,
    -9, 4, 0, 1, 15, -42, -1, 0, 9, -38, -1, -1, -27, 9, 0, 2, -39, -91, 0, 0,
    // n = 11
    29, 0, 0, 0, -15, 0, 0, 0, -25, 29, 0, 1, 24, -6, 0, 0, -6, 2, 0, 1, -1, 5, -1, 0, -6,
    -3, 0, 0, -1, -12, 0, 1, 11, -17, -1, 0, -10, -29, -1, 0, -2, -18, -1, 0, 26, -23, -1,
    0,
    // n = 12
    -20, 0, 0, 0, -2, -13, 0, 0, 3, 7, 0, 0, 12, 10, 0, -1, -13, -14, 0, 1, 6, 0, 0, 0, 6,
    6, 1, 0, 5, -1, 0, 0, -1, 8, 0, 0, -4, 1, 0, 0, -2, -10, -1, 0, -13, 1, 0, 0, -7, 2, -1,
    -1,
  ]
}

extension WallClockTime {
  /// The year in UTC, with the elapsed share of it.
  var decimalYear: Double {
    let days = Double(nanoseconds) / 86_400e9
    /// Returns the days from 1970 to the start of a year of the Gregorian calendar.
    func start(_ year: Double) -> Double {
      let past = year - 1
      let leaps = (past / 4).rounded(.down) - (past / 100).rounded(.down)
      return 365 * (year - 1970) + leaps + (past / 400).rounded(.down) - 477
    }
    var year = (1970 + days / 365.2425).rounded(.down)
    if days < start(year) { year -= 1 }
    if days >= start(year + 1) { year += 1 }
    return year + (days - start(year)) / (start(year + 1) - start(year))
  }
}
