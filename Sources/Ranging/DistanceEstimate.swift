internal import RealModule

/// A distance and its uncertainty.
///
/// Errors in dB are taken as normal, so the distance is log-normal: ``distance`` is its median.
public struct DistanceEstimate: Sendable, Hashable, Codable {
  /// The distance that is as likely too short as too long, in meters.
  public let distance: Double
  /// One standard deviation of the distance's natural logarithm, for everything unknown.
  public let logDeviation: Double
  /// The power the distance rests on.
  public let power: MeasuredPower

  /// The factor that one standard deviation stands for: the distance lies between
  /// ``distance`` ÷ factor and ``distance`` · factor two times in three.
  package var factor: Double { Double.exp(bounded) }

  /// One standard deviation, in meters: what Core Location calls accuracy ("one sigma horizontal accuracy").
  ///
  /// That of a log-normal distance with median m: m · exp(s²/2) · sqrt(exp(s²) - 1).
  public var standardDeviation: Double {
    let square = bounded * bounded
    return distance * (Double.exp(square) * Double.expMinusOne(square)).squareRoot()
  }

  /// Returns the interval that holds the distance in a share of all cases, with equal shares outside on
  /// either side.
  ///
  /// - Parameter coverage: The share, such as 0.95. Shares outside 0...0.999999 become the nearest
  ///   of these.
  /// - Returns: The interval's ends, in meters.
  public func interval(coverage: Double) -> (low: Double, high: Double) {
    let share = coverage.isFinite ? min(max(coverage, 0), 0.999_999) : 0.95
    let reach = Double.exp(bounded * Normal.quantile((1 + share) / 2))
    return (distance / reach, distance * reach)
  }

  /// The deviation as it is used: at most 5, a factor of 148.
  private var bounded: Double { min(max(logDeviation, 0), 5) }
}
