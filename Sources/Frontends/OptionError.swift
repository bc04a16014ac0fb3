import Advertising
import Records
package import Regions

/// A problem with an option.
package indirect enum OptionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A value that cannot be used. The requirement says which are valid.
  case wrongValue(_ option: String, _ value: String, requirement: String)
  case missingValue(_ option: String, requirement: String)
  /// A value for an option that takes none.
  case unexpectedValue(_ option: String, _ value: String)
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
    case .unexpectedValue(let option, let value):
      "\(mark)\(option) takes no value; leave '=\(value)' out"
    case .boundaryWithLimits:
      "\(mark)boundary is both the level to enter and to leave; give it alone, or \(mark)enter-… and "
        + "\(mark)exit-…"
    case .unknownRule(let name):
      "there is no rule '\(name)'; the rules are "
        + RuleSettings.names.sorted().joined(separator: ", ")
    case .ruleGivenTwice(let name): "\(name) is given twice; give it once"
    case .rules(let error): "\(error)"
    case .region(let name, let error): "region '\(name)': \(error.sentence(mark: mark))"
    }
  }
}

/// Returns the requirement for an option's value; `nil` for an option that only the command has.
package func requirement(of option: String, for value: String = "") -> String? {
  switch option {
  case "uuid": ProximityUUID.requirement(for: value)
  case "major", "minor": "write a whole number from 0 to 65535"
  case "duration", "interval", "dwell": "write \(Seconds.example)"
  case "exit-after": "write adaptive, or \(Seconds.example)"
  case "speed": "write max, or a multiple of the recording's own time such as 1x or 10x"
  case "adapter": "write hci0, hci1 and so on, its address such as 00:1B:DC:0F:10:07, or all"
  case "boundary": "write a signal strength in dBm such as -67, or a distance such as 3m"
  case "enter-rssi", "exit-rssi", "measured-power":
    "write a signal strength in dBm such as -67"
  case "enter-distance", "exit-distance": "write a distance in meters such as 1.5"
  case "enter-count": "write how many of how many sightings, such as 2/3"
  case "environment": "write a number such as 2.2"
  case "state-file": "write the name of a file"
  case "position":
    "write LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,ALTITUDE, such as 52.5163,13.3777,34"
  case "calibrate":
    "write beacons and what is known of them, such as UUID:1:2@power=-62,exponent=2.4,offset=3"
  case "pin": "write a beacon and its sender's address: UUID:MAJOR:MINOR=AA:BB:CC:DD:EE:FF"
  case "gpsd": "write HOST, HOST:PORT or the path of a Unix socket, such as localhost:2947"
  default: nil
  }
}

extension ProximityUUID {
  /// Returns the requirement for a proximity UUID, and the reason that the text is not one.
  package static func requirement(for text: String) -> String {
    let digits = text.filter { !"{}- ".contains($0) }
    let example = "such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    if let other = digits.first(where: { !$0.isHexDigit }) {
      return "a proximity UUID has 32 hexadecimal digits, \(example); '\(other)' is none"
    }
    let count = digits.isEmpty || digits.count == 32 ? "" : "; this has \(digits.count)"
    return "a proximity UUID has 32 hexadecimal digits, \(example)" + count
  }
}
