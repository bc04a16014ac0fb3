internal import RealModule

/// The errors of a distance besides that of the mean signal, each as one standard deviation, and
/// the distances to expect.
///
/// The errors are independent, and their squares add up, in dB.
public struct ErrorBudget: Sendable, Hashable, Codable {
  /// Shadowing: the effect of walls, bodies and reflections on the mean at one place, in dB.
  ///
  /// Rappaport (section 4.9.2) gives 3–14 dB for the log-normal shadowing of buildings. With 5 dB
  /// and without a prior, 95 % intervals covered 92–100 % on calibrated recordings.
  public var shadowing: Double
  /// The error of an unknown adapter offset and of the advertised power together, in dB.
  public var adapter: Double
  /// The error of an unknown exponent, as a share of it.
  /// 0.19 is the spread of 1.4–2.7 over their middle.
  public var exponent: Double
  /// The error of a published ratio curve, in dB: these are off by a factor of 2 to 4 indoors.
  public var curve: Double
  /// The error of the fallback measured power, in dB.
  public var fallbackPower: Double
  /// The median of the distances at which beacons are received at all, in meters: about that of
  /// indoor recordings.
  public var typicalDistance: Double
  /// The factor of one standard deviation of these distances: with 4, two of three lie from 0.75 to
  /// 12 m. A factor of 1 or less, or infinity, means no expectation.
  public var distanceFactor: Double

  /// The variance that represents no knowledge at all, in dB².
  static let unknownVariance = 400.0

  /// Creates a budget. All errors are in dB, except `exponent`, which is a share.
  public init(
    shadowing: Double = 4.5, adapter: Double = 4, exponent: Double = 0.19, curve: Double = 6,
    fallbackPower: Double = 6, typicalDistance: Double = 3, distanceFactor: Double = 4
  ) {
    self.shadowing = shadowing
    self.adapter = adapter
    self.exponent = exponent
    self.curve = curve
    self.fallbackPower = fallbackPower
    self.typicalDistance = typicalDistance
    self.distanceFactor = distanceFactor
  }

  /// The mean and the variance of the natural logarithm of a distance in meters before a signal is
  /// received. The variance is infinite if there is no expectation.
  var prior: (mean: Double, variance: Double) {
    guard typicalDistance > 0, typicalDistance.isFinite, distanceFactor > 1 else {
      return (0, .infinity)
    }
    let deviation = Double.log(distanceFactor)
    return (Double.log(typicalDistance), deviation * deviation)
  }

  var shadowingVariance: Double {
    let variance = shadowing * shadowing
    return variance.isFinite ? variance : Self.unknownVariance
  }

  /// Returns the variance of the power and of a ratio curve that a calibration leaves, in dB².
  func variance(of calibration: Calibration, power: MeasuredPower) -> Double {
    var sum = 0.0
    if power.source == .fallback { sum += fallbackPower * fallbackPower }
    if power.source != .configured, calibration.knownOffset == nil { sum += adapter * adapter }
    switch calibration.model {
    case nil, .logDistance: break
    case .androidNexus5, .android2013: sum += curve * curve
    }
    return sum.isFinite ? sum : Self.unknownVariance
  }

  /// Returns the model of a calibration, or else those of the exponents at the nodes of a
  /// Gauss-Hermite quadrature, √3 deviations apart, and their weights.
  func models(of calibration: Calibration) -> InlineArray<3, (model: PathLossModel, weight: Double)>
  {
    let reach = exponent.isFinite ? min(max(exponent, 0) * 3.0.squareRoot(), 0.9) : 0.9
    if let model = calibration.model {
      return [(model, 1), (model, 0), (model, 0)]
    }
    func node(_ factor: Double, _ weight: Double) -> (PathLossModel, Double) {
      (.logDistance(exponent: PathLossModel.defaultExponent * factor), weight)
    }
    return [node(1 - reach, 1 / 6), node(1, 2 / 3), node(1 + reach, 1 / 6)]
  }
}
