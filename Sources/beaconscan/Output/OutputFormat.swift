import ArgumentParser

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
  @Option(name: .long, help: "How results are written: table, json (one object a line) or csv.")
  var format = OutputFormat.table

  @Flag(name: .long, help: "Write only errors to standard error.")
  var quiet = false

  @Flag(name: .long, help: "Write more to standard error: files, counts, what was refused.")
  var verbose = false
}
