import Advertising
import CaptureFiles
import Ranging
import Records
import Scanning

struct InspectReport {
  let captures: [CaptureStatus]
  let counts: ScanCounts
  let census: BeaconCensus
  let list: AdvertiserList?
  let filter: FilterOptions

  private var table: BeaconTable<BeaconStatistics> { census.table }

  private var rows: [BeaconRow] {
    let entries = filter.sort?.sorted(table.entries) ?? table.entries
    return entries.prefix(filter.top ?? .max).map(census.row)
  }

  var noMatch: String? {
    if let list { return list.noMatch }
    return beaconscan.noMatch(table.beaconsReceived, of: counts.sightings, "sightings")
  }

  private func writeList(_ format: OutputFormat, to output: StandardOutput) throws {
    if let list { return try list.write(format, to: output) }
    let rows = rows
    if format == .table, rows.isEmpty { return }
    try output.write(rows, BeaconRow.record, format)
    guard format == .table else { return }
    if rows.contains(where: { $0.state.interval?.marked("")?.isEmpty == false }) {
      try output.write("~ from fewer than \(AdvertisingInterval.fewSamples) gaps\n")
    }
    let found = Set(census.findings.map(\.finding.beacon))
    let shared = rows.filter { $0.senders.count > 1 && !found.contains($0.beacon) }
    for row in shared.prefix(Self.listedIdentities) { try output.write(sentence: row.sentence) }
    if shared.count > Self.listedIdentities {
      try output.write(
        "\(shared.count - Self.listedIdentities) more beacons have several senders\n")
    }
  }

  private static let listedIdentities = 20

  func write(_ options: OutputOptions, to output: StandardOutput) throws {
    switch options.format {
    case .json:
      try output.write(captures, CaptureStatus.record, .json)
      try writeList(.json, to: output)
      try output.write(census.findings, IdentityFinding.record, .json)
      try output.writeLine(
        ScanSummary(counts: counts, beacons: table.beaconsReceived, evictions: table.evictions),
        ScanSummary.record)
    case .csv:
      for (finding, _) in census.findings where !options.quiet {
        printError("beaconscan: \(finding)")
      }
      try writeList(.csv, to: output)
    case .table: try writeTable(to: output)
    }
  }

  private func writeTable(to output: StandardOutput) throws {
    for capture in captures {
      try output.write(sentence: "\(capture.name): \(capture.formatName ?? "nothing read")")
      for remark in capture.remarks { try output.write(sentence: remark, after: "  ") }
    }
    let packets = "\(counted(counts.packets, "packet")), \(counts.advertisingPackets) of them"
    let reports = "\(counted(counts.reports, "report")), \(counted(counts.sightings, "sighting"))"
    let beacons = counted(table.beaconsReceived, "beacon")
    try output.write(sentence: "\(packets) advertising; \(reports) of \(beacons)")
    if table.evictions > 0 {
      try output.write(
        sentence:
          "only the last \(table.count) beacons are kept; \(table.evictions) made room")
    }
    for refusal in Refusal.allCases where counts[refusal] > 0 {
      try output.write(sentence: "refused: \(refusal.explanation(of: counts[refusal]))")
    }
    for (finding, _) in census.findings { try output.write(sentence: "\(finding)") }
    try writeList(.table, to: output)
  }
}

extension RowOrder {
  /// Returns the beacons in this order. The signal strength stands in for distance.
  fileprivate func sorted(
    _ entries: [BeaconTable<BeaconStatistics>.Entry]
  ) -> [BeaconTable<BeaconStatistics>.Entry] {
    switch self {
    case .distance, .rssi:
      entries.sorted { $0.state.signal.mean ?? -200 > $1.state.signal.mean ?? -200 }
    case .name: entries.sorted { $0.beacon < $1.beacon }
    case .last: entries.sorted { $0.state.last > $1.state.last }
    case .count: entries.sorted { $0.state.sightings > $1.state.sightings }
    }
  }
}

extension CaptureStatus {
  static let record = RecordType<CaptureStatus>(
    "capture",
    [
      Field("file", .text) { $0.name },
      Field("format", .matching("^(btsnoop|pcap|pcapng)(, |$)").orNull) { $0.formatName },
      Field("bytes", .count) { $0.bytesRead },
      Field("disordered", .count) { $0.disordered },
      Field("clockStepsBack", .count) { $0.stepsBack },
    ])
}

struct BeaconRow: Sendable {
  let beacon: BeaconIdentity
  let state: BeaconStatistics
  let senders: [BeaconSender]

  var sentence: String {
    let list = senders.map { sender in
      "\(sender.address) (\(counted(sender.sightings, "sighting"))"
        + (sender.mean.map { ", \(fixed($0, 0)) dBm" } ?? "") + ")"
    }
    return "\(beacon.shortName) has \(senders.count) senders: \(list.joined(separator: ", "))"
  }

  static let record = RecordType<BeaconRow>(
    "beacon",
    Field.identity { $0.beacon },
    [
      Field("sightings", .count.with("minimum", 1), column: Column(nil, .right, priority: .main)) {
        $0.state.sightings
      },
      Field(
        "first", .time, column: Column("FROM", isLate: true, priority: .detail, time: \.state.first)
      ) {
        $0.state.first
      },
      Field(
        "last", .time, column: Column("TO", isLate: true, priority: .detail, time: \.state.last)
      ) {
        $0.state.last
      },
      Field(
        "rssiMean", .number(-128...20).orNull, decimals: 2,
        column: Column("RSSI", .right, priority: .main) {
          $0.state.signal.mean.map { fixed($0, 1) }
        }
      ) { $0.state.signal.mean },
      Field(
        "rssiDeviation", .number(0...).orNull, decimals: 2,
        column: Column("±", .right, priority: .detail) {
          $0.state.signal.deviation.map { fixed($0, 1) }
        }
      ) { $0.state.signal.deviation },
      Field(
        "rssiMin", .rssi,
        column: Column("RANGE", .right, priority: .detail) { entry in
          entry.state.signal.extremes.map { "\($0.weakest)…\($0.strongest)" }
        }
      ) { $0.state.signal.extremes?.weakest },
      Field("rssiMax", .rssi) { $0.state.signal.extremes?.strongest },
      Field("measuredPower", .power, column: Column("POWER", .right, priority: .extra)) {
        $0.state.measuredPower
      },
      Field(
        "interval", .number(0...).orNull, decimals: 3,
        column: Column(nil, .right) { row in
          row.state.interval.flatMap { $0.marked(fixed($0.period, 2, "s")) }
        }
      ) { $0.state.interval?.period },
      Field(
        "loss", .number(0...1).orNull, decimals: 3,
        column: Column(nil, .right) { row in
          row.state.interval.flatMap { $0.marked(fixed($0.loss.map { $0 * 100 }, 0, "%")) }
        }
      ) { $0.state.interval?.loss },
      Field("intervalSamples", .count) { $0.state.interval?.samples ?? 0 },
    ],
    Field.sender { ($0.state.address, $0.state.addressType) },
    [
      Field("addressChanges", .count) { $0.state.addressChanges },
      Field(
        "senders", .list(of: BeaconSender.record.schema),
        column: Column(nil, .right, priority: .detail) { "\($0.senders.count)" }
      ) { row -> FieldValue in
        .list(row.senders, text: row.senders.map { "\($0.address)" }.joined(separator: " ")) {
          BeaconSender.record.append($0, to: &$1)
        }
      },
    ])
}

extension Refusal {
  func explanation(of count: Int) -> String {
    switch self {
    case .badCRC: counted(count, "packet") + " whose CRC is wrong"
    case .truncatedPacket: counted(count, "packet") + " cut short"
    case .malformedPacket: counted(count, "packet") + " whose lengths contradict each other"
    case .incompleteReport: counted(count, "extended report") + " of which a part is missing"
    case .malformedADStructure:
      counted(count, "advert") + " with a structure that runs past the end"
    case .malformedIBeacon: counted(count, "frame") + " of Apple's beacon type with a wrong length"
    case .unsupportedPacket: counted(count, "packet") + " of a kind that is not read"
    }
  }
}
