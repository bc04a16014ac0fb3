internal import RealModule

/// The part of a beacon's path loss that its filter needs: how fast the level can change at the
/// distance where the beacon is, and how much of it is shadowing.
///
/// At a distance d, a random walk of v m/√s changes the level by 10 n / ln 10 · v / d dB/√s.
/// Walkers keep their direction, and changes at long distances are slow, so √(3 m · d) replaces d.
/// A distance below 1 m counts as 1 m.
package struct SignalLaw: BitwiseCopyable, Sendable, Hashable {
  /// The base-2 logarithm of the squared change of a walk of 1 m/√s, in dB² per second: its value
  /// at 0 dBm, its change with each dB, and its value at 1 m.
  @usableFromInline let offset: Float
  @usableFromInline let slope: Float
  @usableFromInline let greatest: Float
  /// The variance of shadowing, in dB².
  @usableFromInline let shadowVariance: Float

  private static let (power, reference) = (0.5, 3.0)

  /// The log-distance law with a level at 1 m in dBm and an exponent, and one standard deviation of
  /// shadowing in dB. The walking speed is a multiple of the usual one.
  package init(
    levelAtOneMeter: Double, exponent: Double, shadowing: Double, walkingSpeed: Double = 1
  ) {
    let perFactor = 10 * PathLossModel.usable(exponent) / Double.log(10)
    let steepness = 2 * Self.power / (perFactor * Double.log(2))
    let atOneMeter =
      2 * (Double.log2(perFactor * walkingSpeed) - (1 - Self.power) * Double.log2(Self.reference))
    slope = Float(steepness)
    greatest = Float(atOneMeter)
    offset = Float(atOneMeter - steepness * levelAtOneMeter)
    let variance = shadowing.isFinite ? shadowing * shadowing : ErrorBudget.unknownVariance
    shadowVariance = Float(min(max(variance, 0.01), ErrorBudget.unknownVariance))
  }

  /// The law of an unknown beacon.
  package static let standard = SignalLaw(
    levelAtOneMeter: MeasuredPower.fallback, exponent: PathLossModel.defaultExponent,
    shadowing: ErrorBudget().shadowing)

  /// Returns the squared change of the level by a walk of 1 m/√s, in dB² per second, at a
  /// level in dBm. Its error is at most 6 %: the bits of a floating-point number interpolate a power
  /// of 2 (N. Schraudolph, "A fast, compact approximation of the exponential function", Neural
  /// Computation 11, 1999).
  @inlinable
  @inline(__always)
  func scale(at level: Float) -> Float {
    let exponent = offset + slope * level
    let bounded = exponent < greatest ? exponent : greatest
    let bits = Int32(((bounded > -60 ? bounded : -60) + 126.943) * 8_388_608)
    return Float(bitPattern: UInt32(bitPattern: bits))
  }
}

extension SignalLaw {
  /// The law of a beacon with a calibration and an advertised power in dBm. A ratio curve counts as
  /// the standard law.
  package init(_ calibration: Calibration, advertisedPower: Double) {
    var exponent = PathLossModel.defaultExponent
    if case .logDistance(let known)? = calibration.model { exponent = known }
    self.init(
      levelAtOneMeter: calibration.rssi(atDistance: 1, advertisedPower: advertisedPower),
      exponent: exponent, shadowing: calibration.budget.shadowing)
  }
}
