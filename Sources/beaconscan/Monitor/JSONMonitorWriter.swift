import Advertising
import CoreLocation
import Regions
import Scanning

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
      last.set("time", sighting.time.wallClockTime(offset))
      last.set(sighting.beacon)
      last.set("rssi", sighting.rssi)
      described.set("lastSighting", last)
    } else {
      described.setNull("lastSighting")
    }
    described.set("samples", reason.samples)
    described.set("silenceLimit", reason.exitTimeout, decimals: 3)
    described.set("interval", reason.interval, decimals: 3)
    described.set("loss", reason.loss, decimals: 3)
    object.set("reason", described)
    return object
  }
}
