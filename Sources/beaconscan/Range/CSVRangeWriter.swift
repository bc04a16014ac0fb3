import Advertising
import CoreLocation
import Ranging
import Scanning

/// `range` as comma-separated values: one row for each beacon, region and report.
final class CSVRangeWriter: RangeWriter {
  private let output: StandardOutput
  private let regions: [NamedRegion]
  private let showsRaw: Bool

  init(output: StandardOutput, regions: [NamedRegion], showsRaw: Bool) {
    self.output = output
    self.regions = regions
    self.showsRaw = showsRaw
  }

  func write(_ report: RangingReport, offset: WallClockOffset) throws {
    try writeHeader()
    let time = report.time.wallClockTime(offset).description
    for (name, beacons) in byRegion(report.beacons, regions) {
      for beacon in beacons { try output.write(csvRow([time, name] + fields(beacon))) }
    }
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    try writeHeader()
  }

  private func writeHeader() throws {
    guard !output.hasWritten else { return }
    var header =
      "time,region,uuid,major,minor,proximity,accuracy,distance,distanceLow,distanceHigh,rssi,"
      + "measuredPower,powerSource,sightings"
    if showsRaw { header += ",smoothedRSSI,smoothedError,rawDistance" }
    try output.write(header + "\n")
  }

  private func fields(_ beacon: RangedBeacon) -> [String?] {
    let interval = beacon.estimate?.interval(coverage: 0.95)
    var fields: [String?] = [
      beacon.beacon.uuid.description, String(beacon.beacon.major), String(beacon.beacon.minor),
      beacon.proximity.name, beacon.estimate.map { decimal($0.standardDeviation, 3) },
      beacon.estimate.map { decimal($0.distance, 3) }, interval.map { decimal($0.low, 3) },
      interval.map { decimal($0.high, 3) }, beacon.rssi.map { String($0) },
      String(beacon.measuredPower), beacon.estimate?.power.source.name, String(beacon.sightings),
    ]
    if showsRaw {
      fields += [
        beacon.smoothed.map { decimal($0, 2) }, beacon.smoothedError.map { decimal($0, 2) },
        beacon.rawDistance.map { decimal($0, 3) },
      ]
    }
    return fields
  }
}
