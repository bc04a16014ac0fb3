extension PathLossModel {
  /// The names of all models, as the command line takes them.
  package static let names = ["log-distance", "android-nexus5", "android-2013"]

  /// Creates the model of a name, `log-distance` with an exponent; `nil` for a name that is none of ``names``.
  package init?(name: String, exponent: Double = PathLossModel.defaultExponent) {
    switch name {
    case "log-distance": self = .logDistance(exponent: exponent)
    case "android-nexus5": self = .androidNexus5
    case "android-2013": self = .android2013
    default: return nil
    }
  }

  /// The model's name on the command line.
  package var name: String {
    switch self {
    case .logDistance: "log-distance"
    case .androidNexus5: "android-nexus5"
    case .android2013: "android-2013"
    }
  }
}
