/// The errors that make a distance uncertain besides the noise of its mean, each as one standard deviation.
///
/// The parts are independent and add as squares, in dB.
public struct ErrorBudget: Sendable, Hashable, Codable {
  /// Shadowing: what walls, bodies and reflections do to the mean at one place, in dB.
  ///
  /// With 5 dB, 95 % intervals covered 92–100 % on calibrated recordings; Rappaport (section
  /// 4.9.2) gives 3–14 dB for the log-normal shadowing of buildings.
  public var shadowing: Double
  /// An adapter whose offset is not known, together with what the advertised power is off, in dB.
  public var adapter: Double
  /// An exponent that is not known, as a share of it: the loss beyond 1 m is off by that share.
  /// 0.19 is the spread of 1.4–2.7 over their middle.
  public var exponent: Double
  /// A published ratio curve, in dB: they are off by a factor of 2 to 4 indoors.
  public var curve: Double
  /// A measured power that is a stand-in, in dB.
  public var fallbackPower: Double

  /// The variance that stands for "not known at all", in dB².
  static let unknownVariance = 400.0

  /// Creates a budget, each part in dB but for the exponent's share.
  ///
  /// - Parameters:
  ///   - shadowing: Shadowing, in dB.
  ///   - adapter: An unknown adapter offset, in dB.
  ///   - exponent: An unknown exponent, as a share of it.
  ///   - curve: A ratio curve's own error, in dB.
  ///   - fallbackPower: A measured power that is a stand-in, in dB.
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

  /// Returns the variance that a calibration leaves, in dB²: the sum of the parts that apply at a loss between 1 m and
  /// the receiver, in dB; negative if nearer.
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
