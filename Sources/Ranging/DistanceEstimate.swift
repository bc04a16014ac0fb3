internal import RealModule

/// A distance and its uncertainty.
///
/// Errors in dB are taken as normal, so the distance is log-normal: ``distance`` is its median.
public struct DistanceEstimate: Sendable, Hashable, Codable {
  /// The median distance, in meters.
  public let distance: Double
  /// One standard deviation of the natural logarithm of the distance, for all errors together.
  public let logDeviation: Double
  /// The power that the distance is computed from.
  public let power: MeasuredPower

  /// The factor of one standard deviation: the distance lies between ``distance`` ÷ factor and
  /// ``distance`` · factor two times in three.
  package var factor: Double { Double.exp(bounded) }

  /// One standard deviation of the log-normal distance with median m, m · exp(s²/2) · sqrt(exp(s²)
  /// - 1), in meters: Core Location's accuracy ("one sigma horizontal accuracy").
  public var standardDeviation: Double {
    let square = bounded * bounded
    return distance * (Double.exp(square) * Double.expMinusOne(square)).squareRoot()
  }

  /// Returns the central interval that contains the distance with a given probability.
  ///
  /// - Parameter coverage: The probability, such as 0.95, clamped to 0...0.999999.
  /// - Returns: The ends of the interval, in meters.
  public func interval(coverage: Double) -> (low: Double, high: Double) {
    let share = coverage.isFinite ? min(max(coverage, 0), 0.999_999) : 0.95
    let reach = Double.exp(bounded * Normal.quantile((1 + share) / 2))
    return (distance / reach, distance * reach)
  }

  /// The deviation in use: at most 5, which is a factor of 148.
  private var bounded: Double { min(max(logDeviation, 0), 5) }
}
