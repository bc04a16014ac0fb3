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

  @Flag(name: .long, help: "Say nothing on standard error but errors.")
  var quiet = false

  @Flag(name: .long, help: "Say more on standard error: files, counts, what was refused.")
  var verbose = false
}

/// What has a field quoted.
private let csvSpecials = Array(",\"\r\n".utf8)

/// A row of comma-separated values (RFC 4180).
func csvRow(_ fields: [String?]) -> String {
  let quoted = fields.map { field -> String in
    guard let field else { return "" }
    // Bytes are looked at: to find characters takes ten times as long.
    guard field.utf8.contains(where: { csvSpecials.contains($0) }) else { return field }
    return "\""
      + field.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"") + "\""
  }
  return quoted.joined(separator: ",") + "\n"
}

/// Columns of text, each as wide as its widest cell.
struct Table {
  /// Which side of a column its cells stand on.
  enum Alignment { case left, right }

  private let columns: [(title: String, alignment: Alignment)]
  private var rows: [[String]] = []

  init(_ columns: [(title: String, alignment: Alignment)]) {
    self.columns = columns
  }

  mutating func add(_ row: [String]) {
    rows.append(row)
  }

  /// The lines, header first.
  var lines: [String] {
    let widths = columns.indices.map { column in
      ([columns[column].title] + rows.map { $0[column] }).map(\.count).max() ?? 0
    }
    return ([columns.map(\.title)] + rows).map { row in
      let cells = row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return columns[column].alignment == .left ? row[column] + padding : padding + row[column]
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
