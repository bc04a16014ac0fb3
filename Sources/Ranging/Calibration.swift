/// What is known about a site, an adapter or a beacon. What is not known is assumed, and every
/// assumption widens the distance's interval.
///
/// A run has one calibration and a beacon may have its own: `beacon.over(run)`.
public struct Calibration: Sendable, Hashable, Codable {
  /// The power of the beacon as *this* adapter receives it at 1 m, in dBm, in place of the advertised one.
  public var measuredPower: Double?
  /// How much stronger than true this adapter receives, in dB; unknown unless finite. It is taken off the signal strength,
  /// but not where ``measuredPower`` is set, for that was received by the same adapter.
  public var adapterOffset: Double?
  /// The law by which signal strength falls with distance at this site.
  public var model: PathLossModel?
  /// The errors of what is not known.
  public var budget: ErrorBudget

  /// Creates a calibration; what is left out is not known.
  ///
  /// - Parameters:
  ///   - measuredPower: The power as received at 1 m, in dBm.
  ///   - adapterOffset: How much stronger than true the adapter receives, in dB.
  ///   - model: The law by which signal strength falls with distance.
  ///   - budget: The errors of what is not known.
  public init(
    measuredPower: Double? = nil, adapterOffset: Double? = nil, model: PathLossModel? = nil,
    budget: ErrorBudget = ErrorBudget()
  ) {
    self.measuredPower = measuredPower
    self.adapterOffset = adapterOffset
    self.model = model
    self.budget = budget
  }

  /// Returns what is known here, and for the rest what is known there, with the budget of this calibration.
  package func over(_ general: Calibration) -> Calibration {
    Calibration(
      measuredPower: measuredPower ?? general.measuredPower,
      adapterOffset: adapterOffset ?? general.adapterOffset,
      model: model ?? general.model,
      budget: budget)
  }

  /// Returns the power that distances are computed with, in dBm: the configured one if it can be, else the advertised
  /// one if it can be, else -59 dBm, each with its source.
  package func power(advertised: Double) -> MeasuredPower {
    if let measuredPower, MeasuredPower.isPlausible(measuredPower) {
      return MeasuredPower(decibelMilliwatts: measuredPower, source: .configured)
    }
    if MeasuredPower.isPlausible(advertised) {
      return MeasuredPower(decibelMilliwatts: advertised, source: .advertised)
    }
    return MeasuredPower(decibelMilliwatts: MeasuredPower.fallback, source: .fallback)
  }

  /// Returns the signal strength at which this adapter receives a beacon at a distance in meters, in dBm.
  package func rssi(atDistance distance: Double, advertisedPower: Double) -> Double {
    let power = power(advertised: advertisedPower)
    return (model ?? .standard).rssi(
      atDistance: distance, measuredPower: power.decibelMilliwatts) + offset(for: power)
  }

  /// Returns the distance at which a beacon is received.
  ///
  /// - Parameters:
  ///   - rssi: The smoothed signal strength as received, in dBm.
  ///   - variance: Its variance, in dB².
  ///   - advertisedPower: The power in the beacon's advert, in dBm.
  /// - Returns: The distance and its uncertainty.
  public func estimate(
    rssi: Double, variance: Double, advertisedPower: Double
  ) -> DistanceEstimate {
    let power = power(advertised: advertisedPower)
    let model = model ?? .standard
    let corrected = rssi - offset(for: power)
    let slope = model.slope(rssi: corrected, measuredPower: power.decibelMilliwatts)
    let noise = variance.isFinite ? max(0, variance) : ErrorBudget.unknownVariance
    let systematic = budget.variance(
      of: self, power: power, loss: power.decibelMilliwatts - corrected)
    return DistanceEstimate(
      distance: model.distance(rssi: corrected, measuredPower: power.decibelMilliwatts),
      logDeviation: slope * (noise + systematic).squareRoot(),
      power: power)
  }

  /// How much stronger than true this adapter receives, in dB; `nil` if that is not known.
  var knownOffset: Double? { adapterOffset.flatMap { $0.isFinite ? $0 : nil } }

  /// Returns what is taken off the signal strength, in dB.
  private func offset(for power: MeasuredPower) -> Double {
    power.source == .configured ? 0 : knownOffset ?? 0
  }
}
