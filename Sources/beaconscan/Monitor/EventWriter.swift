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
    case .csv: try output.writeLine(event, EventLine.record, .csv)
    // People see no event in the state with which it starts.
    case .table where event.reason.rule == .request: break
    case .table:
      let table = output.table(line.columns)
      try output.writeHeader(table)
      try output.write(table.line(event) + "\n")
    }
  }

  func end(_ summary: ScanSummary) throws {
    switch format {
    case .json: try output.writeLine(summary, ScanSummary.record)
    case .csv: try output.writeHeader(EventLine.record, .csv)
    case .table:
      if !output.hasWritten { try output.write("no region was entered or left\n") }
      guard summary.evictions > 0 else { return }
      try output.write(
        "\(counted(summary.evictions, "beacon")) made room for others and counted as gone\n")
    }
  }
}

/// Events as lines for people.
struct EventLine {
  /// The columns of the table of events.
  let columns: [Column<MonitorEvent>]

  /// Events as comma-separated values.
  static let record = MonitorEvent.row()
  init(regions: [NamedRegion]) {
    columns = MonitorEvent.row(regionWidth: regions.nameWidth).columns
  }
}

extension [NamedRegion] {
  /// The width of a column of their names; a longer name than 40 stands out of it.
  var nameWidth: Int { Swift.min(Swift.max(6, map(\.name.columns).max() ?? 0), 40) }
}
