extension PathLossModel {
  /// The names of all models on the command line.
  package static let names = ["log-distance", "android-nexus5", "android-2013"]

  /// Creates the model with one of the ``names``. Only `log-distance` uses the exponent.
  package init?(name: String, exponent: Double = PathLossModel.defaultExponent) {
    let models: [Self] = [.logDistance(exponent: exponent), .androidNexus5, .android2013]
    guard let model = models.first(where: { $0.name == name }) else { return nil }
    self = model
  }

  package var name: String {
    switch self {
    case .logDistance: "log-distance"
    case .androidNexus5: "android-nexus5"
    case .android2013: "android-2013"
    }
  }
}
