import Advertising
import ArgumentParser
import Frontends
import Ranging

/// Turns the parser's message into an error sentence: what is wrong, where, and what is valid.
func usageSentence(_ message: String, subcommand: String?) -> String {
  let help = ["beaconscan", subcommand, "--help"].compactMap { $0 }.joined(separator: " ")
  // A value may contain lines and quotation marks.
  if let (value, rest) = message.quoted(after: "The value '", before: "' is invalid for '"),
    let (name, detail) = rest.quoted(after: "", before: "'", endsFirst: true)
  {
    let option = String(name.prefix { $0 != " " })
    // A transformation's message is used. The parser's list of values may have several lines.
    let reason =
      detail.hasPrefix(": ")
      ? String(detail.dropFirst(2)) : validValue(of: option, of: subcommand, instead: value)
    return "\(option): '\(value)' cannot be used: \(reason)".withoutPeriod
  }
  if let (option, _) = message.quoted(after: "Missing value for '", before: "'") {
    let name = String(option.prefix { $0 != " " })
    return "\(name) needs a value: \(validValue(of: name, of: subcommand, instead: ""))"
  }
  let unknown =
    message.quoted(after: "Unknown option '", before: "'. Did you mean '")
    ?? message.quoted(after: "Unknown option '", before: "'\n   or: ")
    ?? message.quoted(after: "Unknown option '", before: "'")
  if let (option, _) = unknown { return unknownOptionSentence(option, of: subcommand, help) }
  if let (option, rest) = message.quoted(
    after: "The option '", before: "' does not take any value, but '"),
    let (value, _) = rest.quoted(after: "", before: "' was specified")
  {
    return flagSentence(option, value)
  }
  if let (argument, _) = message.quoted(after: "Unexpected argument '", before: "'") {
    return "'\(argument)' belongs to no option; \(help) shows what is accepted"
  }
  if let (argument, _) = message.quoted(after: "Missing expected argument '", before: "'") {
    return "\(argument) is missing; \(help) shows what it is"
  }
  let line = message.split(separator: "\n").joined(separator: " ").withoutPeriod
  if message.contains(" unexpected arguments: '") {
    return "\(line); \(help) shows what is accepted"
  }
  return message.hasPrefix("Value to be set with ") ? "\(line); give one of them" : line
}

/// Returns the error for an option that a subcommand does not have, with a suggestion.
private func unknownOptionSentence(
  _ option: String, of subcommand: String?, _ help: String
) -> String {
  let name = String(option.drop { $0 == "-" })
  let owners = OptionCatalog.everyOwner(of: name)
  if let subcommand, !owners.isEmpty {
    let verb = owners.count > 1 ? "have" : "has"
    return "\(subcommand) has no option '\(option)', but \(owners.joined(separator: ", ")) "
      + "\(verb); \(help) lists all"
  }
  let first = subcommand?.split(separator: " ").first.map(String.init)
  let own =
    first.flatMap { OptionCatalog.commands[$0] }.map { OptionCatalog.options(of: $0).keys.sorted() }
    ?? []
  return "there is no option '\(option)'; "
    + (OptionCatalog.suggestion(for: name, among: own).map { "did you mean '--\($0)'?" }
      ?? "\(help) lists all")
}

func flagSentence(_ flag: String, _ value: String) -> String {
  "\(flag) takes no value; leave '=\(value)' out"
}

private func validValue(
  of option: String, of subcommand: String?, instead value: String
) -> String {
  switch option {
  case "--region" where subcommand == "history": "write the name of a region such as lobby"
  case "--since" where subcommand == "history", "--until" where subcommand == "history":
    "write a date and a time such as '2026-01-15 09:00' or 2026-01-15T09:00:00Z, or how long ago "
      + "such as 24h or 7d"
  case "--region":
    RegionArgument.requirement(for: value)
      ?? "write NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, or a NAME of the configuration file"
      + (value.split(separator: "=").dropFirst().first?.split { ":,".contains($0) }.first
        .map { "; " + ProximityUUID.requirement(for: String($0)) } ?? "")
  case "--count", "--keep", "--last", "--top", "--history-days", "--history-size":
    "write a whole number of 1 or more"
  case "--since", "--until":
    "write a date and a time such as '2026-01-15 09:00' or 2026-01-15T09:00:00Z"
  case "--accuracy", "--distance": "write a number of meters such as 10"
  case "--seed": "write a whole number of 0 or more"
  case "--listen":
    "write HOST:PORT such as 127.0.0.1:8732, a port, or the path of a Unix socket such as /run/beacons"
  case "--token-file", "--history", "--mqtt-password-file", "--mqtt-ca", "--mqtt-certificate",
    "--mqtt-key", "--webhook-secret-file", "--config", "--database", "--output", "-o", "--truth":
    "write the name of a file"
  case "--webhook":
    "write a URL of http or https in visible ASCII characters, such as https://example.com/beacons"
  case "--webhook-events": "write some of \(WebhookEvents.names), such as enter,exit"
  case "--mqtt": "write HOST or HOST:PORT, such as mqtt.local:1883"
  case "--mqtt-username", "--mqtt-node", "--mqtt-room": "write a name such as kiosk"
  case "--mqtt-prefix", "--mqtt-discovery": "write a topic such as site/kiosk"
  case "--host": "write a name such as kiosk.local"
  case "--allow-origin": "write an origin such as http://localhost:3000"
  case "--name": "write a name such as lobby"
  case "--model": "write one of \(PathLossModel.names.joined(separator: ", "))"
  case "--sides": "write two adapters such as left=hci0,right=hci1"
  case "--rotate-size": "write a size such as 500K, 10M or 1G"
  case "--rotate-every": "write a time such as 90s, 15m, 1h or 1d"
  case "--interval" where subcommand == "advertise": "write a time from 20ms to 10.24s"
  case "--min-rssi": "write a signal strength in dBm such as -67, from -128 to 127"
  case "--measured-power" where subcommand == "advertise":
    "write a signal strength in dBm such as -59, from -128 to 127"
  case "--zones": "write four distances in meters that increase in pairs, such as 0.5,0.7,3,4"
  case "--adapter-offset": "write decibels such as 3, or those of one adapter such as hci1=3"
  case "--at":
    "write a distance from 0.1 to 100 meters, edge, inside or outside, and =FILE or =FILE@FROM-TO "
      + "where it is recorded"
  case "--replay": "write the name of a recording, or - for standard input"
  case "--exec": "write a line of shell"
  default:
    requirement(of: String(option.drop { $0 == "-" }), for: value)
      ?? knownValues(of: option, of: subcommand)
  }
}

private func knownValues(of option: String, of subcommand: String?) -> String {
  let name = subcommand?.split(separator: " ").first.map(String.init)
  let command = Beaconscan.configuration.subcommands.first { $0._commandName == name }
  let options =
    (command.map { OptionCatalog.everyOption(of: $0) } ?? []) + OptionCatalog.shared.values
  guard let values = options.first(where: { $0.isGiven(by: option) })?.allValues,
    let last = values.last
  else { return "beaconscan \(subcommand ?? "") --help shows what it is" }
  return "write \(values.dropLast().joined(separator: ", ")) or \(last)"
}

extension String {
  /// Returns the text between a beginning and the last or first occurrence of an end, and the rest.
  fileprivate func quoted(
    after beginning: String, before end: String, endsFirst: Bool = false
  ) -> (String, String)? {
    guard hasPrefix(beginning) else { return nil }
    let rest = Array(utf8.dropFirst(beginning.utf8.count))
    let mark = Array(end.utf8)
    guard rest.count >= mark.count else { return nil }
    let places = 0...(rest.count - mark.count)
    func isEnd(_ place: Int) -> Bool { rest[place...].starts(with: mark) }
    guard let place = endsFirst ? places.first(where: isEnd) : places.last(where: isEnd) else {
      return nil
    }
    return (
      String(decoding: rest[..<place], as: UTF8.self),
      String(decoding: rest[(place + mark.count)...], as: UTF8.self)
    )
  }

  fileprivate var withoutPeriod: String {
    hasSuffix(".") ? String(dropLast()) : self
  }
}
