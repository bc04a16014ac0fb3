import Ranging
import Records
import Regions
import Scanning
import ServiceCore

/// `monitor` as a line for each event.
final class EventWriter: ResultWriter {
  private let output: StandardOutput
  private let format: OutputFormat
  private let line: EventLine

  init(output: StandardOutput, format: OutputFormat, line: EventLine) {
    (self.output, self.format, self.line) = (output, format, line)
  }

  func write(_ event: MonitorEvent) throws {
    switch format {
    case .json: try output.writeLine(event, event.record)
    case .csv: try output.writeLine(event, line.record, .csv)
    // People see no event in the state with which it starts.
    case .table where event.isAtStart: break
    case .table:
      let table = output.table(line.columns)
      try output.writeHeader(table)
      try output.write(table.line(event) + "\n")
    }
  }

  /// Writes what comes at the end of circles alone.
  func end() throws {
    switch format {
    case .json: break
    case .csv: try output.writeHeader(line.record, .csv)
    case .table:
      if !output.hasWritten { try output.write("no region was entered or left\n") }
    }
  }

  func end(_ summary: ScanSummary) throws {
    switch format {
    case .json: try output.writeLine(summary, ScanSummary.record)
    case .csv: try output.writeHeader(line.record, .csv)
    case .table:
      if !output.hasWritten { try output.write("no region was entered or left\n") }
      guard summary.evictions > 0 else { return }
      try output.write(
        "\(counted(summary.evictions, "beacon")) made room for others and counted as gone\n")
    }
  }
}

/// Events as lines for people and as comma-separated values.
struct EventLine {
  /// The columns of the table of events.
  let columns: [Column<MonitorEvent>]
  /// Events as comma-separated values.
  let record: RecordType<MonitorEvent>

  /// Every column of comma-separated values.
  static let everyColumn = MonitorEvent.row(showsCircles: true)

  init(regions: [String], showsCircles: Bool) {
    columns = MonitorEvent.row(regionWidth: regions.nameWidth).columns
    record = showsCircles ? Self.everyColumn : MonitorEvent.row()
  }
}

extension [String] {
  /// The width of a column of these names; a longer name than 40 stands out of it.
  var nameWidth: Int { Swift.min(Swift.max(6, map(\.columns).max() ?? 0), 40) }
}
