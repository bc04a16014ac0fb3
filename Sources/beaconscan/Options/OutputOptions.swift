import ArgumentParser
import Frontends
import Records

enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// Columns for people.
  case table
  /// One JSON object for each line; see docs/json.md.
  case json
  /// CSV with a header (RFC 4180).
  case csv
}

struct FormatOptions: ParsableArguments {
  @Option(help: "How results are written: table, json (one object a line) or csv.")
  var format = OutputFormat.table

  @Flag(help: "The same as --format json.")
  var json = false

  @Option(help: "Color in tables: auto (on a terminal, unless NO_COLOR is set), always or never.")
  var color = ColorChoice.auto

  mutating func validate() throws {
    guard json else { return }
    guard format != .csv else {
      throw ValidationError("--json and --format csv contradict each other; give one of them.")
    }
    format = .json
  }
}

struct ZoneOption: ParsableArguments {
  @Flag(help: "Show times in UTC in tables, where they are local; JSON and CSV have UTC always.")
  var utc = false

  var zone: ClockZone { utc ? .utc : .local }
}

/// The options of every subcommand that writes results one by one.
struct OutputOptions: ParsableArguments {
  @OptionGroup var form: FormatOptions
  @OptionGroup var clock: ZoneOption

  @Flag(name: .shortAndLong, help: "Write only errors to standard error.")
  var quiet = false

  @Flag(
    name: .shortAndLong, help: "Write more to standard error: files, counts, what was refused.")
  var verbose = false

  var format: OutputFormat { form.format }
  var zone: ClockZone { clock.zone }

  func validate() throws {
    guard quiet, verbose else { return }
    throw ValidationError("--quiet and --verbose contradict each other; give one of them.")
  }
}

enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  case auto, always, never
}

func checkCount(_ count: Int?) throws {
  if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
}

func checkDuration(_ duration: Seconds?) throws {
  if let duration, !(duration.value > 0 && duration.value < 1e9) {
    throw ValidationError("--duration must be longer than 0 and shorter than 30 years.")
  }
}
