import Advertising
import CaptureFiles
import Scanning

/// The results of `inspect` in each format.
struct InspectReport {
  /// The recordings; none of what is on air.
  let captures: [CaptureStatus]
  let counts: ScanCounts
  let table: BeaconTable<BeaconStatistics>

  func write(_ format: OutputFormat, to output: StandardOutput) throws {
    switch format {
    case .json: try writeJSON(to: output)
    case .csv: try writeCSV(to: output)
    case .table: try writeTable(to: output)
    }
  }

  private func writeJSON(to output: StandardOutput) throws {
    for capture in captures {
      var object = JSONObject(type: "capture")
      object.set("file", capture.name)
      object.set("format", capture.formatName)
      object.set("bytes", capture.bytesRead)
      object.set("disordered", capture.disordered)
      object.set("clockStepsBack", capture.stepsBack)
      try output.write { object.line(into: &$0) }
    }
    for entry in table.entries {
      let beacon = entry.state
      var object = JSONObject(type: "beacon")
      object.set(entry.beacon)
      object.set("sightings", beacon.sightings)
      object.set("first", beacon.first)
      object.set("last", beacon.last)
      object.set("rssiMean", beacon.mean, decimals: 2)
      object.set("rssiDeviation", beacon.deviation, decimals: 2)
      object.set("rssiMin", beacon.measured > 0 ? beacon.weakest : nil)
      object.set("rssiMax", beacon.measured > 0 ? beacon.strongest : nil)
      object.set("measuredPower", beacon.measuredPower)
      object.set("interval", beacon.interval?.period, decimals: 3)
      object.set("loss", beacon.interval?.loss, decimals: 3)
      object.set("address", beacon.addressType == .anonymous ? nil : beacon.address.description)
      object.set("addressType", beacon.addressType.description)
      object.set("addressChanges", beacon.addressChanges)
      try output.write { object.line(into: &$0) }
    }
    let object = SummaryObject.make(
      counts: counts, beacons: table.beaconsHeard, evictions: table.evictions)
    try output.write { object.line(into: &$0) }
  }

  private func writeCSV(to output: StandardOutput) throws {
    try output.write(
      "uuid,major,minor,sightings,first,last,rssiMean,rssiDeviation,rssiMin,rssiMax,"
        + "measuredPower,interval,loss,address,addressType,addressChanges\n")
    for entry in table.entries {
      let beacon = entry.state
      try output.write(
        csvRow([
          entry.beacon.uuid.description, String(entry.beacon.major), String(entry.beacon.minor),
          String(beacon.sightings), beacon.first.description, beacon.last.description,
          beacon.mean.map { decimal($0, 2) }, beacon.deviation.map { decimal($0, 2) },
          beacon.measured > 0 ? String(beacon.weakest) : nil,
          beacon.measured > 0 ? String(beacon.strongest) : nil, String(beacon.measuredPower),
          beacon.interval?.period.map { decimal($0, 3) },
          beacon.interval?.loss.map { decimal($0, 3) },
          beacon.addressType == .anonymous ? nil : beacon.address.description,
          beacon.addressType.description, String(beacon.addressChanges),
        ]))
    }
  }

  private func writeTable(to output: StandardOutput) throws {
    for capture in captures {
      try output.write("\(capture.name): \(capture.formatName ?? "nothing read")\n")
      for remark in capture.remarks { try output.write("  \(remark)\n") }
    }
    try output.write(
      "\(counts.packets) packets, \(counts.advertisingPackets) of them advertising; "
        + "\(counts.reports) reports, \(counts.sightings) sightings of "
        + "\(table.beaconsHeard) beacons\n")
    if table.evictions > 0 {
      try output.write(
        "only the last \(table.entries.count) beacons are kept; \(table.evictions) made room\n")
    }
    for refusal in Refusal.allCases where counts[refusal] > 0 {
      try output.write("refused: \(counts[refusal]) \(refusal.explanation)\n")
    }
    guard !table.entries.isEmpty else { return }
    var columns = Table([
      ("UUID", .left), ("MAJOR", .right), ("MINOR", .right), ("HEARD", .right), ("RSSI", .right),
      ("±", .right), ("RANGE", .right), ("POWER", .right), ("INTERVAL", .right), ("LOSS", .right),
      ("FROM", .left), ("TO", .left),
    ])
    for entry in table.entries {
      let beacon = entry.state
      columns.add([
        entry.beacon.uuid.description, String(entry.beacon.major), String(entry.beacon.minor),
        String(beacon.sightings), beacon.mean.map { fixed($0, 1) } ?? "–",
        beacon.deviation.map { fixed($0, 1) } ?? "–",
        beacon.measured > 0 ? "\(beacon.weakest)…\(beacon.strongest)" : "–",
        String(beacon.measuredPower),
        beacon.interval?.period.map { "\(fixed($0, 2)) s" } ?? "–",
        beacon.interval?.loss.map { "\(fixed($0 * 100, 0)) %" } ?? "–",
        beacon.first.clock, beacon.last.clock,
      ])
    }
    for line in columns.lines { try output.write(line + "\n") }
  }
}

/// The line that ends a stream of results.
enum SummaryObject {
  static func make(counts: ScanCounts, beacons: Int, evictions: Int) -> JSONObject {
    var refused = JSONObject()
    for refusal in Refusal.allCases { refused.set(refusal.key, counts[refusal]) }
    var object = JSONObject(type: "summary")
    object.set("packets", counts.packets)
    object.set("advertisingPackets", counts.advertisingPackets)
    object.set("reports", counts.reports)
    object.set("sightings", counts.sightings)
    object.set("beacons", beacons)
    object.set("evictions", evictions)
    object.set("refused", refused)
    return object
  }
}

extension WallClockTime {
  /// The time of day, to milliseconds.
  var clock: String { String(description.dropFirst(11).prefix(12)) }

  /// The day, and the time of day to milliseconds.
  var dayAndClock: String { description.prefix(10) + " " + clock }
}

extension Refusal {
  /// The key in JSON.
  var key: StaticString {
    switch self {
    case .badCRC: "badCRC"
    case .truncatedPacket: "truncatedPacket"
    case .malformedPacket: "malformedPacket"
    case .incompleteReport: "incompleteReport"
    case .malformedADStructure: "malformedADStructure"
    case .malformedIBeacon: "malformedIBeacon"
    case .unsupportedPacket: "unsupportedPacket"
    }
  }

  /// The reason, for people.
  var explanation: String {
    switch self {
    case .badCRC: "packets whose CRC is wrong"
    case .truncatedPacket: "packets that end too soon"
    case .malformedPacket: "packets whose lengths contradict each other"
    case .incompleteReport: "extended reports of which a part is missing"
    case .malformedADStructure: "adverts with a structure that runs past their end"
    case .malformedIBeacon: "frames of Apple's beacon type with a wrong length"
    case .unsupportedPacket: "packets of a kind that is not read"
    }
  }
}
