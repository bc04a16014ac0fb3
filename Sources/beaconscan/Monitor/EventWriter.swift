import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `monitor` with a line for each event.
struct EventWriter: ResultWriter {
  let output: StandardOutput
  let format: OutputFormat
  let line: EventLine
  let explains: Bool

  func write(_ event: MonitorEvent) throws {
    switch format {
    case .json: try output.writeLine(event, event.record)
    case .csv: try output.writeLine(event, line.record, .csv)
    // A table omits the states at the start.
    case .table where event.isAtStart: break
    case .table:
      let table = output.table(line.columns)
      try output.writeHeader(table)
      try output.write(table.line(event) + "\n")
    }
  }

  func write(_ approaches: [Approach]) throws {
    switch format {
    case .json: for approach in approaches { try output.writeLine(approach, Approach.record) }
    case .csv: break
    case .table where explains:
      if output.hasWritten { try output.write("\n") }
      try output.write(lines: output.table(RuleRow.columns).lines(approaches.flatMap(\.rows)))
    case .table: try output.write(sentencesOf: approaches)
    }
  }

  func end() throws {
    switch format {
    case .json: break
    case .csv: try output.writeHeader(line.record, .csv)
    case .table:
      if !output.hasWritten { try output.write("no region was entered or left\n") }
    }
  }

  func end(_ summary: ScanSummary) throws {
    try end()
    if format == .json { try output.writeLine(summary, ScanSummary.record) }
    if format == .table, summary.evictions > 0 {
      try output.write(
        "\(counted(summary.evictions, "beacon")) made room for others and counted as gone\n")
    }
  }
}

extension StandardOutput {
  /// Writes a sentence for each region that was not entered although beacons of it were received,
  /// and one for the others.
  func write(sentencesOf approaches: [Approach]) throws {
    let near = approaches.filter { $0.approach != nil }
    for approach in near { try write(sentence: approach.sentence) }
    let others = approaches.count - near.count
    if others == 1, let other = approaches.first(where: { $0.approach == nil }) {
      try write(sentence: other.sentence)
    } else if others > 0 {
      try write(
        sentence:
          "\(others) \(near.isEmpty ? "" : "other ")regions were not entered: none of their "
          + "beacons was received")
    }
  }
}

struct EventLine {
  let columns: [Column<MonitorEvent>]
  let record: RecordType<MonitorEvent>

  static let everyColumn = MonitorEvent.row(showsCircles: true)

  init(regions: [String], showsCircles: Bool) {
    columns = MonitorEvent.row(regionWidth: regions.nameWidth).columns
    record = showsCircles ? Self.everyColumn : MonitorEvent.row()
  }
}

extension [String] {
  /// The width of a column with these names, from 6 to 40. A longer name exceeds it.
  var nameWidth: Int { Swift.min(Swift.max(6, map(\.columns).max() ?? 0), 40) }
}
