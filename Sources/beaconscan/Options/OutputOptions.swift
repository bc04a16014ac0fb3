import ArgumentParser
import Frontends
import Records

enum OutputFormat: String, CaseIterable {
  case table
  case json
  case csv
}

struct FormatOptions: ParsableArguments {
  @Option(
    .choice(
      "format", "How results are written: table, json (one object a line) or csv.", "format",
      shown: "table"))
  var chosen: OutputFormat?

  @Flag(.flag("json", "The same as --format json.").rare) var json: Bool

  @Option(
    .choice(
      "color", "Color in tables: auto (on a terminal, unless NO_COLOR is set), always or never.",
      "color", standard: .auto
    ).rare)
  var color: ColorChoice

  var format: OutputFormat { json ? .json : chosen ?? .table }

  func validate() throws {
    guard json, let chosen, chosen != .json else { return }
    throw ValidationError(
      "--json and --format \(chosen.rawValue) contradict each other; give one of them.")
  }
}

struct ZoneOption: ParsableArguments {
  @Flag(
    .flag("utc", "Show times in UTC in tables, where they are local; JSON and CSV have UTC always.")
      .rare)
  var utc: Bool

  var zone: ClockZone { utc ? .utc : .local }
}

struct OutputOptions: ParsableArguments {
  @OptionGroup(title: "Output") var form: FormatOptions

  @Flag(Inputs.quiet.rare) var quiet: Bool

  @Flag(
    .flag(
      "verbose", letter: "v", "Write more to standard error: files, counts, what was refused."
    ).rare)
  var verbose: Bool

  var format: OutputFormat { form.format }

  func validate() throws {
    guard quiet, verbose else { return }
    throw ValidationError("--quiet and --verbose contradict each other; give one of them.")
  }
}

enum ColorChoice: String, CaseIterable {
  case auto, always, never
}
