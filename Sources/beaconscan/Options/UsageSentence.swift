import Advertising

/// The sentence about arguments that cannot be used, made of the parser's message: what, where, and what would be
/// valid.
func usageSentence(_ message: String, subcommand: String?) -> String {
  let help = ["beaconscan", subcommand, "--help"].compactMap { $0 }.joined(separator: " ")
  // The second line of a message is another reading of the first.
  let line = message.prefix { $0 != "\n" }
  if let (value, rest) = line.quoted(after: "The value '", before: "' is invalid for '"),
    let (name, detail) = rest.quoted(after: "", before: "'")
  {
    let option = name.prefix { $0 != " " }
    let reason =
      detail.hasPrefix(": ")
      ? String(detail.dropFirst(2))
      : detail.hasPrefix(".")
        ? "P" == detail.dropFirst(2).first
          ? "p" + detail.dropFirst(3) : String(detail.dropFirst(2))
        : validValue(of: String(option), of: subcommand, instead: String(value))
    return "\(option): '\(value)' cannot be used: \(reason)".withoutPeriod
  }
  if let (option, _) = line.quoted(after: "Missing value for '", before: "'") {
    let name = String(option.prefix { $0 != " " })
    return "\(name) needs a value: \(validValue(of: name, of: subcommand, instead: ""))"
  }
  if let (option, rest) = line.quoted(after: "Unknown option '", before: "'") {
    let near = rest.quoted(after: ". Did you mean '", before: "'").map { "did you mean '\($0.0)'?" }
    return "there is no option '\(option)'; \(near ?? "\(help) lists all")"
  }
  if let (argument, _) = line.quoted(after: "Unexpected argument '", before: "'") {
    return "'\(argument)' belongs to no option; \(help) shows what is accepted"
  }
  if let (argument, _) = line.quoted(after: "Missing expected argument '", before: "'") {
    return "\(argument) is missing; \(help) shows what it is"
  }
  return String(line).withoutPeriod
}

/// What a value of an option looks like.
private func validValue(
  of option: String, of subcommand: String?, instead value: String
) -> String {
  switch option {
  case "--uuid": ProximityUUID.requirement(for: value)
  case "--region":
    "write NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, or a NAME of the configuration file"
      + (value.split(separator: "=").dropFirst().last?.split(separator: ":").first
        .map { "; " + ProximityUUID.requirement(for: String($0)) } ?? "")
  case "--major", "--minor": "write a whole number from 0 to 65535"
  case "--count", "--keep", "--top": "write a whole number of 1 or more"
  case "--since", "--until":
    "write a date and a time such as '2026-01-15 09:00' or 2026-01-15T09:00:00Z"
  case "--seed": "write a whole number of 0 or more"
  case "--interval" where subcommand == "advertise": "write a time from 20ms to 10.24s"
  case "--duration", "--interval", "--dwell": "write \(Seconds.example)"
  case "--exit-after": "write adaptive, or \(Seconds.example)"
  case "--speed": "write max, or a multiple of the recording's own time such as 1x or 10x"
  case "--adapter": "write hci0, hci1 and so on, its address such as 00:1B:DC:0F:10:07, or all"
  case "--boundary": "write a signal strength in dBm such as -67, or a distance such as 3m"
  case "--enter-rssi", "--exit-rssi", "--measured-power", "--min-rssi":
    "write a signal strength in dBm such as -67"
  case "--enter-distance", "--exit-distance": "write a distance in meters such as 1.5"
  case "--enter-count": "write how many of how many sightings, such as 2/3"
  case "--environment": "write a number such as 2.2"
  case "--zones": "write four distances in meters that increase in pairs, such as 0.5,0.7,3,4"
  case "--adapter-offset": "write decibels such as 3, or those of one adapter such as hci1=3"
  case "--calibrate":
    "write beacons and what is known of them, such as UUID:1:2@power=-62,exponent=2.4,offset=3"
  case "--pin": "write a beacon and its sender's address: UUID:MAJOR:MINOR=AA:BB:CC:DD:EE:FF"
  case "--at":
    "write a distance from 0.1 to 100 meters, edge, inside or outside, and =FILE or =FILE@FROM-TO "
      + "where it is recorded"
  case "--replay": "write the name of a recording, or - for standard input"
  case "--exec": "write a line of shell"
  case "--format": "write table, json or csv"
  default: "--help shows what it is"
  }
}

extension ProximityUUID {
  /// What a proximity UUID is, and why a text is none.
  fileprivate static func requirement(for text: String) -> String {
    let digits = text.filter { !"{}- ".contains($0) }
    let example = "such as E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    if let other = digits.first(where: { !$0.isHexDigit }) {
      return "a proximity UUID has 32 hexadecimal digits, \(example); '\(other)' is none"
    }
    let count = digits.isEmpty || digits.count == 32 ? "" : "; this has \(digits.count)"
    return "a proximity UUID has 32 hexadecimal digits, \(example)" + count
  }
}

extension StringProtocol {
  /// The text between a beginning and the first place of an end, and what follows the end.
  fileprivate func quoted(after beginning: String, before end: String) -> (String, String)? {
    guard hasPrefix(beginning) else { return nil }
    var text = ""
    var rest = self[...].dropFirst(beginning.count)
    while !rest.hasPrefix(end) {
      guard let next = rest.popFirst() else { return nil }
      text.append(next)
    }
    return (text, String(rest.dropFirst(end.count)))
  }

  fileprivate var withoutPeriod: String {
    hasSuffix(".") ? String(dropLast()) : String(self)
  }
}
