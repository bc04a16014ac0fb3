package import Advertising
internal import RealModule
package import Scanning

/// The measured properties of a site, an adapter or a beacon. An assumption replaces each missing
/// value, and widens the interval of the distance.
///
/// A run has one calibration, and a beacon may have its own: `beacon.over(run)`.
public struct Calibration: Sendable, Hashable, Codable {
  /// The power at 1 m as *this* adapter receives it, in dBm, in place of the advertised power.
  public var measuredPower: Double?
  /// The dB by which this adapter overstates signal strength; unknown unless finite. It is
  /// subtracted unless ``measuredPower`` is set, because that is as received by this adapter.
  public var adapterOffset: Double?
  /// The law by which signal strength falls with distance at this site.
  public var model: PathLossModel?
  /// The errors of the missing values.
  public var budget: ErrorBudget

  /// Creates a calibration. An omitted value is unknown.
  public init(
    measuredPower: Double? = nil, adapterOffset: Double? = nil, model: PathLossModel? = nil,
    budget: ErrorBudget = ErrorBudget()
  ) {
    self.measuredPower = measuredPower
    self.adapterOffset = adapterOffset
    self.model = model
    self.budget = budget
  }

  /// Returns this calibration with its missing values taken from a general one; the default budget
  /// counts as missing.
  package func over(_ general: Calibration) -> Calibration {
    Calibration(
      measuredPower: measuredPower ?? general.measuredPower,
      adapterOffset: adapterOffset ?? general.adapterOffset,
      model: model ?? general.model,
      budget: budget == ErrorBudget() ? general.budget : budget)
  }

  /// Returns the calibration of a beacon: the first of the beacons' own that matches, over this one.
  package func of(
    _ beacon: BeaconIdentity, among own: [(beacons: BeaconConstraint, calibration: Calibration)]
  ) -> Calibration {
    own.first { $0.beacons.matches(beacon) }?.calibration.over(self) ?? self
  }

  /// Returns the power for computing distances: the configured one if plausible, else the
  /// advertised one if plausible, else -59 dBm.
  package func power(advertised: Double) -> MeasuredPower {
    if let measuredPower, MeasuredPower.isPlausible(measuredPower) {
      return MeasuredPower(decibelMilliwatts: measuredPower, source: .configured)
    }
    if MeasuredPower.isPlausible(advertised) {
      return MeasuredPower(decibelMilliwatts: advertised, source: .advertised)
    }
    return MeasuredPower(decibelMilliwatts: MeasuredPower.fallback, source: .fallback)
  }

  /// Returns the signal strength, in dBm, of a beacon at a distance in meters from this adapter.
  package func rssi(atDistance distance: Double, advertisedPower: Double) -> Double {
    let power = power(advertised: advertisedPower)
    return (model ?? .standard).rssi(
      atDistance: distance, measuredPower: power.decibelMilliwatts) + offset(for: power)
  }

  /// Returns the distance in meters by the path-loss formula alone.
  package func distance(rssi: Double, advertisedPower: Double) -> Double {
    let power = power(advertised: advertisedPower)
    return (model ?? .standard).distance(
      rssi: rssi - offset(for: power), measuredPower: power.decibelMilliwatts)
  }

  /// Returns the distance at which a beacon is received: the median of its posterior distribution.
  ///
  /// The logarithm of the distance has a normal prior (``ErrorBudget/typicalDistance``), and so
  /// have noise, shadowing, the power and the exponent, each with the error that the budget states
  /// unless it is known. The path-loss formula measures the logarithm with these errors; the
  /// estimate is the mean of prior and measurement, weighted by their precisions (Gelman et al.,
  /// *Bayesian Data Analysis*, 3rd ed., 2013, section 2.5). An unknown exponent multiplies the
  /// logarithm, so it is integrated over by Gauss-Hermite quadrature with three nodes. Without the
  /// prior, these errors would make long distances far too long.
  ///
  /// - Parameters:
  ///   - rssi: The smoothed signal strength as received, in dBm.
  ///   - variance: The variance of `rssi`, in dB². That of shadowing is added.
  ///   - advertisedPower: The power in the beacon's advertisement, in dBm.
  /// - Returns: The distance and its uncertainty.
  public func estimate(
    rssi: Double, variance: Double, advertisedPower: Double
  ) -> DistanceEstimate {
    let noise = variance.isFinite ? max(0, variance) : ErrorBudget.unknownVariance
    return estimate(
      level: rssi, variance: noise + budget.shadowingVariance, advertisedPower: advertisedPower)
  }

  /// The same of a level in dBm whose variance, in dB², includes shadowing.
  func estimate(level: Double, variance: Double, advertisedPower: Double) -> DistanceEstimate {
    let power = power(advertised: advertisedPower)
    let corrected = level - offset(for: power)
    let variance = variance + budget.variance(of: self, power: power)
    let (expected, expectedVariance) = budget.prior
    // The greatest logarithm of a weight so far, and sums of weights relative to it: a level that
    // contradicts the prior has densities that no number could hold.
    var (greatest, weights, means, squares) = (-Double.infinity, 0.0, 0.0, 0.0)
    let models = budget.models(of: self)
    for node in models.indices where models[node].weight > 0 {
      let (model, share) = models[node]
      let measured = Double.log(
        model.distance(rssi: corrected, measuredPower: power.decibelMilliwatts))
      let slope = model.slope(rssi: corrected, measuredPower: power.decibelMilliwatts)
      let measuredVariance = slope * slope * variance
      var (logWeight, mean, meanVariance) = (Double.log(share), measured, measuredVariance)
      if expectedVariance.isFinite {
        let total = expectedVariance + measuredVariance
        let error = measured - expected
        let gain = expectedVariance / total
        mean = expected + gain * error
        meanVariance = gain * measuredVariance
        // The density of the level, which the slope turns into that of the logarithm.
        logWeight += Double.log(slope) - 0.5 * (error * error / total + Double.log(total))
      }
      let scale = Double.exp(min(greatest - logWeight, 0))
      let weight = Double.exp(min(logWeight - greatest, 0))
      greatest = max(greatest, logWeight)
      weights = weights * scale + weight
      means = means * scale + weight * mean
      squares = squares * scale + weight * (meanVariance + mean * mean)
    }
    let mean = means / weights
    return DistanceEstimate(
      distance: PathLossModel.clamped(Double.exp(mean)),
      logDeviation: max(squares / weights - mean * mean, 0).squareRoot(), power: power)
  }

  var knownOffset: Double? { adapterOffset.flatMap { $0.isFinite ? $0 : nil } }

  private func offset(for power: MeasuredPower) -> Double {
    power.source == .configured ? 0 : knownOffset ?? 0
  }
}
