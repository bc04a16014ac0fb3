extension PathLossModel {
  /// The names of all models on the command line.
  package static let names = ["log-distance", "android-nexus5", "android-2013"]

  /// Creates the model with one of the ``names``. Only `log-distance` uses the exponent.
  package init?(name: String, exponent: Double = PathLossModel.defaultExponent) {
    switch name {
    case "log-distance": self = .logDistance(exponent: exponent)
    case "android-nexus5": self = .androidNexus5
    case "android-2013": self = .android2013
    default: return nil
    }
  }

  package var name: String {
    switch self {
    case .logDistance: "log-distance"
    case .androidNexus5: "android-nexus5"
    case .android2013: "android-2013"
    }
  }
}
