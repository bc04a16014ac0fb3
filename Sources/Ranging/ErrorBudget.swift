/// The errors of a distance besides the noise of the mean signal, each as one standard deviation.
///
/// The parts are independent, and their squares add up, in dB.
public struct ErrorBudget: Sendable, Hashable, Codable {
  /// Shadowing: the effect of walls, bodies and reflections on the mean at one place, in dB.
  ///
  /// With 5 dB, 95 % intervals covered 92–100 % on calibrated recordings; Rappaport (section 4.9.2)
  /// gives 3–14 dB for the log-normal shadowing of buildings.
  public var shadowing: Double
  /// The error of an unknown adapter offset and of the advertised power together, in dB.
  public var adapter: Double
  /// The error of an unknown exponent, as a share of it: the loss beyond 1 m is off by that share.
  /// 0.19 is the spread of 1.4–2.7 over their middle.
  public var exponent: Double
  /// The error of a published ratio curve, in dB: these are off by a factor of 2 to 4 indoors.
  public var curve: Double
  /// The error of the fallback measured power, in dB.
  public var fallbackPower: Double

  /// The variance that represents no knowledge at all, in dB².
  static let unknownVariance = 400.0

  /// Creates a budget. All parts are in dB, except `exponent`, which is a share.
  public init(
    shadowing: Double = 5, adapter: Double = 4, exponent: Double = 0.19, curve: Double = 6,
    fallbackPower: Double = 6
  ) {
    self.shadowing = shadowing
    self.adapter = adapter
    self.exponent = exponent
    self.curve = curve
    self.fallbackPower = fallbackPower
  }

  /// Returns the variance that a calibration leaves, in dB². The loss, in dB, is that beyond 1 m.
  func variance(of calibration: Calibration, power: MeasuredPower, loss: Double) -> Double {
    var sum = shadowing * shadowing
    if power.source == .fallback { sum += fallbackPower * fallbackPower }
    if power.source != .configured, calibration.knownOffset == nil { sum += adapter * adapter }
    switch calibration.model {
    case nil: sum += (exponent * loss) * (exponent * loss)
    case .logDistance: break
    case .androidNexus5, .android2013: sum += curve * curve
    }
    return sum.isFinite ? sum : Self.unknownVariance
  }
}
