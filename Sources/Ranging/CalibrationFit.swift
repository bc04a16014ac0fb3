internal import RealModule

/// The measured power and the exponent, fitted to the levels of a beacon at known distances.
///
/// The level at a place is P - 10 n log10(d), plus the effect of walls and reflections there, plus
/// the error of the level. The fit is a Bayesian linear regression (Gelman et al., *Bayesian Data
/// Analysis*, 3rd ed., 2013, section 14.8). The prior exponent is 2.3 ± 0.5. Places deviate by 3 dB
/// a priori; the data update this. Errors are half widths of 95 % intervals.
package struct CalibrationFit: Sendable {
  /// A distance in meters and its level.
  package typealias Place = (distance: Double, level: PlaceSurvey.Level)

  package struct Estimate: Sendable, Equatable {
    package var value: Double
    package var error: Double

    package init(value: Double, error: Double) { (self.value, self.error) = (value, error) }
  }

  /// The power received at 1 m, in dBm.
  package let power: Estimate
  /// The exponent; `nil` if all places have nearly the same distance.
  package let exponent: Estimate?

  /// The prior of the exponent: a normal distribution with 95 % from 1.3 to 3.3. Measurements in
  /// buildings gave 1.6 to 3.0, and 3.3 behind machines (Rappaport, *Wireless Communications*, 2nd
  /// ed., 2002, table 4.6).
  private static let (expectedExponent, exponentDeviation) = (2.3, 0.5)
  /// The prior deviation of places, in dB, and the number of places that the prior counts for.
  private static let (expectedDeviation, expectedPlaces) = (3.0, 4.0)
  /// The least ratio of the farthest to the nearest distance at which the exponent is fitted.
  private static let leastRatio = 1.9
  /// The limits beyond which a level counts as obstructed: how much weaker it is than the beacon
  /// states, in dB, and than the other places predict, in standard deviations.
  private static let (greatestLoss, greatestDeviations) = (3 * ErrorBudget().adapter, 3.0)

  /// Fits at least one place of a beacon whose stated power at 1 m is in dBm.
  package init(_ places: [Place], statedPower: Double) throws(CalibrationProblem) {
    let distances = places.map(\.distance)
    let ratio = (distances.max() ?? 1) / (distances.min() ?? 1)
    if places.count > 1 {
      for index in places.indices {
        var others = places
        let place = others.remove(at: index)
        let expected = Solution(others).level(at: place.distance)
        let weaker = expected.mean - place.level.mean
        let variance = expected.variance + place.level.error * place.level.error
        if weaker > Self.greatestDeviations * variance.squareRoot() {
          throw .obstructed(distance: place.distance, weaker: weaker, than: .otherPlaces)
        }
      }
    }
    let solution = Solution(places)
    let power = solution.power
    if MeasuredPower.isPlausible(statedPower), ratio < Self.leastRatio,
      statedPower - power.value > Self.greatestLoss
    {
      throw .obstructed(
        distance: distances.min() ?? 1, weaker: statedPower - power.value, than: .statedPower)
    }
    guard MeasuredPower.isPlausible(power.value) else { throw .impossiblePower(power.value) }
    self.power = power
    exponent = ratio < Self.leastRatio ? nil : solution.exponent
  }

  /// The posterior of power and exponent: normal in the mean, with Student's t for the scale.
  private struct Solution {
    private var (powerMean, exponentMean) = (0.0, expectedExponent)
    private var (powerVariance, covariance, exponentVariance) = (0.0, 0.0, 0.0)
    private var placeVariance = expectedDeviation * expectedDeviation
    private let quantile: Double

    init(_ places: [Place]) {
      let extra = Double(max(0, places.count - 2))
      quantile = Self.quantile(freedom: expectedPlaces + extra)
      for _ in 0..<16 {
        // Normal equations about the expected exponent, with its precision added.
        var (a, b, c, u, v) = (0.0, 0.0, 1 / (exponentDeviation * exponentDeviation), 0.0, 0.0)
        for place in places {
          let weight = 1 / (placeVariance + place.level.error * place.level.error)
          let x = Self.slope(place.distance)
          let y = place.level.mean - expectedExponent * x
          (a, b, c) = (a + weight, b + weight * x, c + weight * x * x)
          (u, v) = (u + weight * y, v + weight * x * y)
        }
        let determinant = a * c - b * b
        powerMean = (c * u - b * v) / determinant
        exponentMean = expectedExponent + (a * v - b * u) / determinant
        (powerVariance, covariance, exponentVariance) = (
          c / determinant, -b / determinant, a / determinant
        )
        let squares = places.reduce(0.0) { sum, place in
          let error = place.level.mean - powerMean - exponentMean * Self.slope(place.distance)
          return sum + error * error
        }
        placeVariance =
          (expectedPlaces * expectedDeviation * expectedDeviation + squares)
          / (expectedPlaces + extra)
      }
    }

    var power: Estimate { Estimate(value: powerMean, error: quantile * powerVariance.squareRoot()) }

    var exponent: Estimate {
      Estimate(value: exponentMean, error: quantile * exponentVariance.squareRoot())
    }

    /// Returns the predicted level of another place, and its variance in dB².
    func level(at distance: Double) -> (mean: Double, variance: Double) {
      let x = Self.slope(distance)
      return (
        powerMean + exponentMean * x,
        powerVariance + 2 * x * covariance + x * x * exponentVariance + placeVariance
      )
    }

    /// Returns the change of level, in dB, that an exponent of 1 causes at a distance.
    private static func slope(_ distance: Double) -> Double { -10 * Double.log10(distance) }

    /// Returns the half width of the 95 % interval of Student's t (Abramowitz and Stegun, *Handbook
    /// of Mathematical Functions*, 1964, formula 26.7.5).
    private static func quantile(freedom: Double) -> Double {
      1.96 + 2.372 / freedom + 2.823 / (freedom * freedom)
    }
  }
}

/// The boundary of a region, from levels at its edge, inside and outside.
package struct BoundaryFit: Sendable {
  /// The level of the boundary, in dBm, with the half width of its 95 % interval.
  package let level: CalibrationFit.Estimate
  /// The level inside above the edge's, and the edge's above the level outside, in dB.
  package let inside: Double
  package let outside: Double

  /// The least difference between inside and outside, in dB, that separates them reliably.
  private static let leastDifference = 6.0

  package init(
    edge: PlaceSurvey.Level, inside: PlaceSurvey.Level, outside: PlaceSurvey.Level
  ) throws(CalibrationProblem) {
    let difference = inside.mean - outside.mean
    guard difference >= Self.leastDifference else { throw .sidesAlike(difference) }
    guard edge.mean < inside.mean, edge.mean > outside.mean else {
      throw .edgeIsNoEdge(edge: edge.mean, inside: inside.mean, outside: outside.mean)
    }
    level = CalibrationFit.Estimate(value: edge.mean, error: 1.96 * edge.error)
    self.inside = inside.mean - edge.mean
    self.outside = edge.mean - outside.mean
  }
}
