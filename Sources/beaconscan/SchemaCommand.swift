import AppDaemon
import ArgumentParser
import CaptureFiles
import Frontends
import LiveScanning
import Positioning
import Ranging
import Records
import Scanning
import Simulation

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of --format json.",
    shouldDisplay: false)

  func run() throws {
    let output = StandardOutput()
    try output.write(
      Schema.document(
        [
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "https://beaconscan.invalid/json.schema.json",
          "title": "A line of beaconscan --format json",
          "description": .text(
            "One object a line. docs/json.md explains every key. A line of a simulation's truth is "
              + "$defs/truth."),
        ],
        lines: [
          Sighting.record.schema, RegionReport.record(of: RangedBeacon.fullRecord).schema,
        ] + ZoneChange.Kind.allCases.map { ZoneChange.record(of: $0).schema }
          + MonitorEvent.schemas + [
            Approach.record.schema,
            LocateLine.fix.schema, LocateLine.heading.schema, LocateLine.visit.schema,
            LocationHealth.record.schema, TrackSummary.record.schema, TrackReport.record.schema,
            ScannerHealth.record.schema, IdentityFinding.record.schema, CaptureStatus.record.schema,
            BeaconRow.record.schema, AdvertiserStatistics.record.schema,
            CalibrationResult.record.schema, RegionStays.record.schema,
            HourlyPresence.record.schema,
            NamedBeacon.record.schema, SettingLine.record.schema, AdvertDescription.record.schema,
            HostView.Radio.record.schema, Finding.record.schema, AppReport.record.schema,
            ScanSummary.record.schema,
          ],
        others: [
          Schema.one(of: [Sighting.record.schema] + TruthLine.schemas).named(
            "truth",
            description:
              "A line of the truth that beaconscan simulate writes; docs/scenarios.md has "
              + "its types.")
        ]))
    try output.flush()
  }
}
