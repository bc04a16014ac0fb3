package import Regions

package indirect enum OptionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value that cannot be used. The requirement says which are valid.
  case wrongValue(_ option: String, _ value: String, requirement: String)
  case missingValue(_ option: String, requirement: String)
  case boundaryWithLimits
  case unknownRule(String)
  case ruleGivenTwice(String)
  case rules(RegionError)
  case region(String, OptionError)

  /// One sentence without a full stop, with the options as an embedding program names them.
  package var description: String { sentence(mark: "") }

  /// Returns one sentence without a full stop. A mark such as `--` precedes the names of options.
  package func sentence(mark: String) -> String {
    switch self {
    case .wrongValue(let option, let value, let requirement):
      "\(mark)\(option): '\(value)' cannot be used: \(requirement)"
    case .missingValue(let option, let requirement):
      "\(mark)\(option) needs a value: \(requirement)"
    case .boundaryWithLimits:
      "\(mark)boundary is both the level to enter and to leave; give it alone, or \(mark)enter-… and "
        + "\(mark)exit-…"
    case .unknownRule(let name):
      "there is no rule '\(name)'; the rules are "
        + RuleSettings.names.sorted().joined(separator: ", ")
    case .ruleGivenTwice(let name): "\(name) is given twice; give it once"
    case .rules(.signal(let enter, let exit)):
      "\(mark)exit-rssi \(exit) is stronger than \(mark)enter-rssi \(enter); a region is left at a "
        + "weaker signal than it is entered at"
    case .rules(.distance(let enter, let exit)):
      "\(mark)exit-distance \(exit) is nearer than \(mark)enter-distance \(enter); a region is left "
        + "at a greater distance than it is entered at"
    case .rules(let error): "\(error)"
    case .region(let name, let error): "region '\(name)': \(error.sentence(mark: mark))"
    }
  }
}
