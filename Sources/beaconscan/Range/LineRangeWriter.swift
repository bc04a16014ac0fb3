import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

/// `range` with a line for each beacon of a report as it comes, where no screen can be redrawn, and
/// the table of the visits at the end.
final class LineRangeWriter: ResultWriter {
  private let output: StandardOutput
  private let regions: [NamedRegion]
  private let row: RecordType<ZoneChange>
  private let visits: VisitRangeWriter

  init(output: StandardOutput, regions: [NamedRegion], showsSides: Bool) {
    (self.output, self.regions) = (output, regions)
    let row = ZoneChange.row(of: regions, .table)
    self.row = row.omitting(keys: ["type", "previous"])
    visits = VisitRangeWriter(output: output, regions: regions, showsSides: showsSides)
  }

  func write(_ report: RangingReport) throws {
    try output.writeHeader(row, .table)
    for beacon in report.beacons {
      let region = regions.first { $0.constraint.matches(beacon.beacon) }
      let line = ZoneChange(
        kind: .zone, time: report.wallClockTime, region: region?.name, beacon: beacon)
      try output.writeLine(line, row, .table)
    }
    try visits.write(report)
  }

  func end(_ summary: ScanSummary) throws {
    if output.hasWritten { try output.write("\n") }
    try visits.end(summary)
  }
}
