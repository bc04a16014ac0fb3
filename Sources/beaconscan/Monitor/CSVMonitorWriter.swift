import Advertising
import CoreLocation
import Regions
import Scanning

/// `monitor` as comma-separated values: one row for each event.
final class CSVMonitorWriter: MonitorWriter {
  private let output: StandardOutput

  init(output: StandardOutput) {
    self.output = output
  }

  func write(_ event: MonitorEvent) throws {
    try writeHeader()
    let (reason, sighting) = (event.reason, event.reason.lastSighting)
    try output.write(
      csvRow([
        event.time.description, event.kind.rawValue, event.region, event.state.name,
        event.dwell.map { decimal($0, 3) }, reason.rule.rawValue, event.lastHeard?.description,
        sighting?.beacon.uuid.description, sighting.map { String($0.beacon.major) },
        sighting.map { String($0.beacon.minor) }, sighting?.rssi.map { String($0) },
        String(reason.samples), reason.exitTimeout.map { decimal($0, 3) },
        reason.interval.map { decimal($0, 3) }, reason.loss.map { decimal($0, 3) },
      ]))
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    try writeHeader()
  }

  private func writeHeader() throws {
    guard !output.hasWritten else { return }
    try output.write(
      "time,type,region,state,dwell,rule,lastHeard,uuid,major,minor,rssi,samples,silenceLimit,"
        + "interval,loss\n")
  }
}
