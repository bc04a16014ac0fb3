import Frontends
import Records

/// `range --on-change` with a line for each change.
final class ChangeWriter: ResultWriter {
  private let output: StandardOutput
  private let format: OutputFormat
  private let row: RecordType<ZoneChange>

  init(output: StandardOutput, format: OutputFormat, regions: [NamedRegion]) {
    self.output = output
    self.format = format
    row = ZoneChange.row(of: regions, format)
  }

  func write(_ change: ZoneChange) throws {
    if format == .json { return try output.writeLine(change, change.record) }
    try output.writeLine(change, row, format)
  }

  func end(_ summary: ScanSummary) throws {
    switch format {
    case .json: try output.writeLine(summary, ScanSummary.record)
    case .csv: try output.writeHeader(row, .csv)
    case .table: if !output.hasWritten { try output.write("no beacon was received\n") }
    }
  }
}
