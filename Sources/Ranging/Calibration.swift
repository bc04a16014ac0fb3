/// What is known about a site, an adapter or a beacon. What is not known is assumed, and every
/// assumption widens the distance's interval; nothing rests on one silently.
///
/// A run has one calibration and a beacon may have its own: `beacon.over(run)`.
public struct Calibration: Sendable, Hashable, Codable {
  /// The power of the beacon as *this* adapter hears it at 1 m, in dBm, in place of the
  /// advertised one.
  public var measuredPower: Double?
  /// How much stronger than true this adapter hears, in dB. It is taken off the signal strength,
  /// but not where ``measuredPower`` is set, for that was heard by the same adapter.
  public var adapterOffset: Double?
  /// How signal strength falls with distance at this site.
  public var model: PathLossModel?
  /// What the unknown costs.
  public var budget: ErrorBudget

  /// Makes a calibration; what is left out is not known.
  ///
  /// - Parameters:
  ///   - measuredPower: The power as heard at 1 m, in dBm.
  ///   - adapterOffset: How much stronger than true the adapter hears, in dB.
  ///   - model: How signal strength falls with distance here.
  ///   - budget: What the unknown costs.
  public init(
    measuredPower: Double? = nil, adapterOffset: Double? = nil, model: PathLossModel? = nil,
    budget: ErrorBudget = ErrorBudget()
  ) {
    self.measuredPower = measuredPower
    self.adapterOffset = adapterOffset
    self.model = model
    self.budget = budget
  }

  /// What is known here, and for the rest what is known there.
  ///
  /// - Parameter general: The calibration of the run, for the calibration of a beacon.
  /// - Returns: A calibration with the budget of this one.
  public func over(_ general: Calibration) -> Calibration {
    Calibration(
      measuredPower: measuredPower ?? general.measuredPower,
      adapterOffset: adapterOffset ?? general.adapterOffset,
      model: model ?? general.model,
      budget: budget)
  }

  /// The power that distances are computed with.
  ///
  /// - Parameter advertised: The power in the beacon's advert, in dBm.
  /// - Returns: The configured power if there is one that can be, else the advertised one if it
  ///   can be, else ``MeasuredPower/fallback``, each with its source.
  public func power(advertised: Double) -> MeasuredPower {
    if let measuredPower, MeasuredPower.isPlausible(measuredPower) {
      return MeasuredPower(decibelMilliwatts: measuredPower, source: .configured)
    }
    if MeasuredPower.isPlausible(advertised) {
      return MeasuredPower(decibelMilliwatts: advertised, source: .advertised)
    }
    return MeasuredPower(decibelMilliwatts: MeasuredPower.fallback, source: .fallback)
  }

  /// The signal strength at which a beacon is heard at a distance.
  ///
  /// - Parameters:
  ///   - distance: The distance in metres.
  ///   - advertisedPower: The power in the beacon's advert, in dBm.
  /// - Returns: The signal strength as this adapter hears it, in dBm.
  public func rssi(atDistance distance: Double, advertisedPower: Double) -> Double {
    let power = power(advertised: advertisedPower)
    return (model ?? .standard).rssi(
      atDistance: distance, measuredPower: power.decibelMilliwatts) + offset(for: power)
  }

  /// The distance at which a beacon is heard.
  ///
  /// - Parameters:
  ///   - rssi: The smoothed signal strength as heard, in dBm.
  ///   - variance: Its variance, in dB²; see ``RSSIFilter/variance``.
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

  /// What this adapter hears too much, in dB.
  private func offset(for power: MeasuredPower) -> Double {
    guard power.source != .configured, let adapterOffset, adapterOffset.isFinite else { return 0 }
    return adapterOffset
  }
}
