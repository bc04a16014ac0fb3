import Advertising
import CoreLocation
import Ranging
import Regions
import Scanning

/// Writes what `monitor` tells.
protocol MonitorWriter: AnyObject {
  /// Whether it shows beacons between events, so that they are ranged.
  var showsBeacons: Bool { get }

  func write(_ event: MonitorEvent) throws

  /// Shows the beacons. To show a moment of the report, `shift` nanoseconds are added.
  func write(_ report: RangingReport, shift: Int64) throws

  /// Writes what comes at the end.
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws
}

extension MonitorWriter {
  var showsBeacons: Bool { false }
  func write(_ report: RangingReport, shift: Int64) throws {}
  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {}
}

/// `monitor` as JSON lines: one for each event, and a summary.
final class JSONMonitorWriter: MonitorWriter {
  private let output: StandardOutput

  init(output: StandardOutput) {
    self.output = output
  }

  func write(_ event: MonitorEvent) throws {
    try output.write { event.object.line(into: &$0) }
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    let object = SummaryObject.make(counts: counts, beacons: beacons, evictions: evictions)
    try output.write { object.line(into: &$0) }
  }
}

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
        String(reason.samples), reason.silenceLimit.map { decimal($0, 3) },
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

/// `monitor` as a line for each event, for people and logs.
final class TableMonitorWriter: MonitorWriter {
  private let output: StandardOutput
  private let line: EventLine

  init(output: StandardOutput, line: EventLine) {
    self.output = output
    self.line = line
  }

  func write(_ event: MonitorEvent) throws {
    if !output.hasWritten { try output.write(line.header + "\n") }
    try output.write(line.coloured(line.text(event)) + "\n")
  }

  func end(counts: ScanCounts, beacons: Int, evictions: Int) throws {
    if !output.hasWritten { try output.write("no region was entered or left\n") }
    if evictions > 0 {
      try output.write("\(evictions) beacons made room for others and count as gone\n")
    }
  }
}

extension MonitorEvent {
  /// The event as a JSON object.
  var object: JSONObject {
    var object = JSONObject()
    object.set("type", kind.rawValue)
    object.set("time", time)
    object.set("region", region)
    switch kind {
    case .enter: break
    case .exit: object.set("dwell", dwell, decimals: 3)
    case .state: object.set("state", state.name)
    }
    var described = JSONObject()
    described.set("rule", reason.rule.rawValue)
    if let sighting = reason.lastSighting {
      var last = JSONObject()
      last.set("time", sighting.time.advanced(by: shift))
      last.set(sighting.beacon)
      last.set("rssi", sighting.rssi)
      described.set("lastSighting", last)
    } else {
      described.setNull("lastSighting")
    }
    described.set("samples", reason.samples)
    described.set("silenceLimit", reason.silenceLimit, decimals: 3)
    described.set("interval", reason.interval, decimals: 3)
    described.set("loss", reason.loss, decimals: 3)
    object.set("reason", described)
    return object
  }
}
