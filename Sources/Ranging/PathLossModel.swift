internal import RealModule

/// A law by which signal strength falls with distance.
///
/// Every distance is finite, lies from 0.01 to 1000 m, and never grows with the signal strength.
public enum PathLossModel: Sendable, Hashable, Codable {
  /// The log-distance law: d = 10^((P - rssi) / 10n) for a power P at 1 m and an exponent n,
  /// clamped to 0.5...8 (Rappaport, *Wireless Communications*, 2nd ed., 2002, section 4.9.1).
  case logDistance(exponent: Double)
  /// The curve that the Android Beacon Library fits to a Nexus 5 and uses for unknown devices: d =
  /// 0.42093 r^6.9476 + 0.54992 for r = rssi / P.
  case androidNexus5
  /// The same library's curve from 2013: d = 0.89976 r^7.7095 + 0.111.
  case android2013

  /// The exponent where none is known: 2, that of free space and the middle of the 1.4–2.7 fitted
  /// to indoor recordings. No exponent fits all sites.
  package static let defaultExponent = 2.0

  /// The log-distance law with the exponent 2.
  public static let standard = PathLossModel.logDistance(exponent: defaultExponent)

  /// The distances that a model returns, in meters.
  package static let distanceRange: ClosedRange<Double> = 0.01...1000

  /// The exponents that the log-distance law accepts; others are clamped to them.
  package static let exponentRange: ClosedRange<Double> = 0.5...8

  /// Returns the distance at which a signal is received.
  ///
  /// Both ratio curves take r^10 for r < 1, as published. The Nexus 5 curve is limited to its value
  /// for r = 1, 0.97085 m, to keep the distance from falling with the signal.
  ///
  /// - Parameters:
  ///   - rssi: The signal strength, in dBm. A value that is not finite gives 1000 m.
  ///   - measuredPower: The signal strength at 1 m, in dBm; see ``Calibration/measuredPower``.
  /// - Returns: The distance in meters, from 0.01 to 1000.
  public func distance(rssi: Double, measuredPower: Double) -> Double {
    guard rssi.isFinite, measuredPower.isFinite else { return Self.distanceRange.upperBound }
    switch self {
    case .logDistance(let exponent):
      let decades = (measuredPower - rssi) / (10 * Self.usable(exponent))
      return Self.clamped(Double.exp(decades * ln10))
    case .androidNexus5, .android2013:
      guard rssi < 0 else { return Self.distanceRange.lowerBound }
      guard measuredPower < 0 else { return Self.distanceRange.upperBound }
      return Self.clamped(curve(ratio: rssi / measuredPower))
    }
  }

  /// Returns the signal strength in dBm at a distance, clamped to 0.01...1000 m: the inverse of
  /// ``distance(rssi:measuredPower:)``, and the strongest of several inverses.
  package func rssi(atDistance distance: Double, measuredPower: Double) -> Double {
    let distance = Self.clamped(distance.isFinite ? distance : Self.distanceRange.upperBound)
    switch self {
    case .logDistance(let exponent):
      return measuredPower - 10 * Self.usable(exponent) * Double.log10(distance)
    case .androidNexus5, .android2013:
      let (scale, exponent, offset) = coefficients
      return measuredPower
        * (distance <= scale + offset
          ? Double.pow(distance, 0.1) : Double.pow((distance - offset) / scale, 1 / exponent))
    }
  }

  /// Returns -d ln(distance) / d rssi, for the propagation of errors. It is finite, and at least
  /// that of the greatest exponent, or else a distance at the end of its range would seem exact.
  func slope(rssi: Double, measuredPower: Double) -> Double {
    if case .logDistance(let exponent) = self { return ln10 / (10 * Self.usable(exponent)) }
    let stronger = distance(rssi: rssi + 0.5, measuredPower: measuredPower)
    let weaker = distance(rssi: rssi - 0.5, measuredPower: measuredPower)
    return max(ln10 / (10 * Self.exponentRange.upperBound), Double.log(weaker / stronger))
  }

  private func curve(ratio: Double) -> Double {
    let (scale, exponent, offset) = coefficients
    guard ratio < 1 else { return scale * Double.pow(ratio, exponent) + offset }
    return min(Double.pow(ratio, 10), scale + offset)
  }

  private var coefficients: (scale: Double, exponent: Double, offset: Double) {
    self == .androidNexus5 ? (0.42093, 6.9476, 0.54992) : (0.89976, 7.7095, 0.111)
  }

  static func usable(_ exponent: Double) -> Double {
    guard exponent.isFinite else { return defaultExponent }
    return min(max(exponent, exponentRange.lowerBound), exponentRange.upperBound)
  }

  static func clamped(_ distance: Double) -> Double {
    min(max(distance, distanceRange.lowerBound), distanceRange.upperBound)
  }

  private var ln10: Double { 2.302585092994046 }
}
