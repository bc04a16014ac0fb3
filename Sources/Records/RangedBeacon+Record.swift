package import Ranging
package import Scanning

/// A report of `range` about one region or all beacons.
package struct RegionReport: Sendable {
  package var time: WallClockTime
  /// `nil` if no region is named.
  package var region: String?
  package var beacons: [RangedBeacon]

  package init(time: WallClockTime, region: String?, beacons: [RangedBeacon]) {
    self.time = time
    self.region = region
    self.beacons = beacons
  }

  package static func record(of beacon: RecordType<RangedBeacon>) -> RecordType<RegionReport> {
    RecordType(
      "range",
      [
        Field("time", .time) { $0.time },
        Field("region", .text.orNull) { $0.region },
        Field("beacons", each: beacon) { $0.beacons },
      ])
  }
}

extension RangedBeacon {
  /// The record type of a beacon with the fields of `--raw` and `--sides`.
  package static let fullRecord = RecordType<RangedBeacon>(
    nil, named: "rangedBeacon",
    Field.identity { $0.beacon },
    [
      Field("proximity", .proximity, column: Column(priority: .main)) { $0.proximity.name },
      Field(
        "side", .one(of: Side.allCases.map(\.rawValue)).orNull, .sometimes,
        column: Column(priority: .detail)
      ) { $0.side?.rawValue },
      Field(
        "accuracy", .meters, decimals: 3,
        column: Column("±", .right, isLate: true, priority: .detail) {
          fixed($0.estimate?.standardDeviation, 1, "m")
        }
      ) { $0.estimate?.standardDeviation },
      Field(
        "distance", .meters.with("maximum", 1000), decimals: 3,
        column: Column(nil, .right, priority: .main) { fixed($0.estimate?.distance, 1, "m") }
      ) { $0.estimate?.distance },
      Field("distanceLow", .meters, decimals: 3) { $0.estimate?.interval(coverage: 0.95).low },
      Field("distanceHigh", .meters, decimals: 3) { $0.estimate?.interval(coverage: 0.95).high },
      Field("rssi", .rssi, column: Column(nil, .right, isLate: true)) { $0.rssi },
      Field("measuredPower", .power) { $0.measuredPower },
      Field("powerSource", .one(of: powerSources.map(\.rawValue)).orNull) {
        $0.estimate?.power.source.rawValue
      },
      Field("sightings", .count) { $0.sightings },
      Field(
        "smoothedRSSI", .number(-128...20).orNull, raw, decimals: 2,
        column: Column("SMOOTHED", .right, isLate: true, priority: .extra) {
          $0.smoothed.map { fixed($0, 1) }
        }
      ) { $0.smoothed },
      Field("smoothedError", .number(0...).orNull, raw, decimals: 2) { $0.smoothedError },
      Field(
        "rawDistance", .meters.with("maximum", 1000), raw, decimals: 3,
        column: Column("RAW DISTANCE", .right, isLate: true, priority: .extra) {
          fixed($0.rawDistance, 1, "m")
        }
      ) { $0.rawDistance },
    ])

  package static func record(showsRaw: Bool, showsSides: Bool) -> RecordType<RangedBeacon> {
    fullRecord.omitting(keys: (showsRaw ? [] : rawKeys).union(showsSides ? [] : ["side"]))
  }

  private static let powerSources: [MeasuredPower.Source] = [.advertised, .configured, .fallback]
  private static let raw = FieldPresence.together("raw")
  private static let rawKeys: Set = ["smoothedRSSI", "smoothedError", "rawDistance"]
}

extension Schema {
  package static let proximity = one(of: Proximity.allNames).named("proximity")
}

extension Proximity {
  package static let allNames = [Proximity.immediate, .near, .far, .unknown].map(\.name)

  package var name: String {
    // A description of the case takes longer than the rest of a line.
    switch self {
    case .unknown: "unknown"
    case .immediate: "immediate"
    case .near: "near"
    case .far: "far"
    }
  }
}
