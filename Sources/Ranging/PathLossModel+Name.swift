extension PathLossModel {
  /// The names of all models, as the command line takes them.
  public static let names = ["log-distance", "android-nexus5", "android-2013"]

  /// The model of a name; nothing for a name that is none of ``names``.
  ///
  /// - Parameters:
  ///   - name: One of ``names``.
  ///   - exponent: The exponent for `log-distance`; the other models have none.
  public init?(name: String, exponent: Double = PathLossModel.defaultExponent) {
    switch name {
    case "log-distance": self = .logDistance(exponent: exponent)
    case "android-nexus5": self = .androidNexus5
    case "android-2013": self = .android2013
    default: return nil
    }
  }

  /// The model's name on the command line.
  public var name: String {
    switch self {
    case .logDistance: "log-distance"
    case .androidNexus5: "android-nexus5"
    case .android2013: "android-2013"
    }
  }
}
