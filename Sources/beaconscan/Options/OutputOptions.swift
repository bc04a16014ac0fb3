import ArgumentParser
import Records

/// How results are written.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  /// Columns for people.
  case table
  /// One JSON object a line; see docs/json.md.
  case json
  /// RFC 4180, with a header.
  case csv
}

/// Options that every subcommand with results has.
struct OutputOptions: ParsableArguments {
  @Option(help: "How results are written: table, json (one object a line) or csv.")
  var format = OutputFormat.table

  @Flag(help: "Show times in UTC in tables, where they are local; JSON and CSV have UTC always.")
  var utc = false

  @Flag(help: "Write only errors to standard error.")
  var quiet = false

  @Flag(help: "Write more to standard error: files, counts, what was refused.")
  var verbose = false

  /// The zone of the times in tables.
  var zone: ClockZone { utc ? .utc : .local }
}

/// Checks the value of a --count.
func checkCount(_ count: Int?) throws {
  if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
}

/// Checks the value of a --duration, in seconds.
func checkDuration(_ duration: Double?) throws {
  if let duration, !(duration > 0 && duration < 1e9) {
    throw ValidationError("--duration must be a positive number of seconds.")
  }
}
