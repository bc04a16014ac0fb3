import Frontends
import Ranging
import Records
import Scanning

struct ZoneChange: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case appear, zone, disappear
  }

  var kind: Kind
  var time: WallClockTime
  /// The first region that contains the beacon, or `nil` if no region is named.
  var region: String?
  /// The beacon, as last reported if it disappeared.
  var beacon: RangedBeacon
  /// The previous zone, or `nil` for a beacon that appeared.
  var previous: Proximity?
}

extension ZoneChange {
  var record: RecordType<ZoneChange> { Self.record(of: kind) }

  static func record(of kind: Kind) -> RecordType<ZoneChange> {
    RecordType(kind.rawValue, [time, region()], facts)
  }

  /// Returns the record type of any change, for CSV and tables. A table shows regions if some have
  /// names, otherwise UUIDs.
  static func row(of regions: [NamedRegion], _ format: OutputFormat) -> RecordType<ZoneChange> {
    let isNamed = regions.contains { $0.givenName != nil }
    return row(regionWidth: regions.map(\.name).nameWidth)
      .omitting(keys: format == .table ? [isNamed ? "uuid" : "region"] : [])
  }

  static func row(regionWidth: Int = 0) -> RecordType<ZoneChange> {
    RecordType<ZoneChange>(
      nil,
      [
        time,
        Field(
          "type", .string,
          column: Column("EVENT", width: 9, priority: .key) { $0.kind.rawValue.uppercased() }
        ) { $0.kind.rawValue },
        region(regionWidth),
      ], facts)
  }

  private static let time = Field<ZoneChange>(
    "time", .time, column: Column(priority: .main, time: \.time)
  ) { $0.time }

  private static func region(_ width: Int = 0) -> Field<ZoneChange> {
    Field("region", .text.orNull, column: Column(width: width, priority: .key, fit: .cut(to: 8))) {
      $0.region
    }
  }

  private static let facts: [Field<ZoneChange>] =
    Field.identity { $0.beacon.beacon } + [
      Field("proximity", .proximity, column: Column(width: 9, priority: .key)) {
        $0.beacon.proximity.name
      },
      Field(
        "previous", .one(of: Proximity.allNames).orNull, column: Column("BEFORE", width: 9)
      ) { $0.previous?.name },
      Field(
        "distance", .meters.with("maximum", 1000), decimals: 3,
        column: Column(nil, .right, width: 8) { fixed($0.beacon.estimate?.distance, 1, "m") }
      ) { $0.beacon.estimate?.distance },
      Field("accuracy", .meters, decimals: 3) { $0.beacon.estimate?.standardDeviation },
      Field("rssi", .rssi, column: Column(nil, .right, width: 4)) { $0.beacon.rssi },
    ]
}
