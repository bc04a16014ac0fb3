import Frontends
import Ranging
import Records
import Scanning
import ServiceCore

/// `range` as JSON, a line for each region and report, or as CSV, a row for each beacon of those.
final class RecordRangeWriter: ResultWriter {
  private let output: StandardOutput
  private let regions: [NamedRegion]
  private let isJSON: Bool
  private let beacon: RecordType<RangedBeacon>
  private let report: RecordType<RegionReport>

  init(
    output: StandardOutput, regions: [NamedRegion], isJSON: Bool,
    beacon: RecordType<RangedBeacon>
  ) {
    self.output = output
    self.regions = regions
    self.isJSON = isJSON
    self.beacon = beacon
    report = RegionReport.record(of: beacon)
  }

  func write(_ report: RangingReport) throws {
    for list in regions.records(of: report) { try write(list) }
  }

  func end(_ summary: ScanSummary) throws {
    if isJSON { try output.writeLine(summary, ScanSummary.record) } else { try writeHeader() }
  }

  private func write(_ list: RegionReport) throws {
    guard !isJSON else { return try output.writeLine(list, report) }
    try writeHeader()
    let head = report.csvRow(list)
    for ranged in list.beacons { try output.writeRow(head + beacon.csvRow(ranged)) }
  }

  private func writeHeader() throws { try output.writeHeader(report.csvHeader + beacon.csvHeader) }
}
