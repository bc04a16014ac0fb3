package import Frontends

/// The reason that an option cannot be set or the scanner cannot start.
package enum EmbeddingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value of an option, or the rules of a region.
  case option(OptionError)
  case unknownOption(String)
  /// Options that do not fit together, or that are missing.
  case options(String)
  /// A source or state file that cannot be used.
  case source(String)

  /// One sentence without a full stop.
  package var description: String {
    switch self {
    case .option(let error): "\(error)"
    case .unknownOption(let name):
      "there is no option '\(name)'; the options are "
        + EmbeddingOptions.names.joined(separator: ", ")
    case .options(let sentence), .source(let sentence): sentence
    }
  }
}
