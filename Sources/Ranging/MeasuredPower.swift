/// The signal strength at 1 m that a distance is computed with, and where it comes from.
public struct MeasuredPower: Sendable, Hashable, Codable {
  /// Where a measured power comes from.
  public enum Source: String, Sendable, Hashable, Codable {
    /// The beacon's own advert.
    case advertised
    /// A setting: ``Calibration/measuredPower``.
    case configured
    /// Nowhere: the beacon's was absurd, and ``MeasuredPower/fallback`` stands in for it.
    case fallback
  }

  /// The power at 1 m, in dBm.
  public let decibelMilliwatts: Double
  /// Where it comes from.
  public let source: Source

  /// What stands in for an absurd power: -59 dBm, which most beacons are sold with.
  public static let fallback = -59.0

  /// Whether a power that was heard can be one: at least -100 dBm and below 0 dBm.
  ///
  /// - Parameter power: A power at 1 m, in dBm.
  /// - Returns: False for 0 and above, for below -100 and for what is not a number.
  public static func isPlausible(_ power: Double) -> Bool { power >= -100 && power < 0 }
}
