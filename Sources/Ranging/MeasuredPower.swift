/// The signal strength at 1 m that a distance is computed from, and its source.
public struct MeasuredPower: Sendable, Hashable, Codable {
  /// The sources of a measured power.
  public enum Source: String, Sendable, Hashable, Codable {
    /// The beacon's own advertisement.
    case advertised
    /// A setting: ``Calibration/measuredPower``.
    case configured
    /// The default -59 dBm, in place of an implausible power.
    case fallback
  }

  /// The power at 1 m, in dBm.
  public let decibelMilliwatts: Double
  /// The source of the power.
  public let source: Source

  /// The replacement of an implausible power: -59 dBm, the most common factory setting of beacons.
  package static let fallback = -59.0

  /// Returns whether a power at 1 m is plausible: at least -100 dBm and below 0 dBm.
  package static func isPlausible(_ power: Double) -> Bool { power >= -100 && power < 0 }
}
