package import Ranging
package import Scanning

/// A line of `range --on-change`: a beacon that appeared, came into another zone, or disappeared.
package struct ZoneChange: Sendable {
  package enum Kind: String, Sendable {
    case appear, zone, disappear
  }

  package var kind: Kind
  package var time: WallClockTime
  /// The name of the first region that the beacon is in; `nil` where no region is named.
  package var region: String?
  /// The beacon; one that disappeared as it was reported last.
  package var beacon: RangedBeacon
  /// The zone before; `nil` for a beacon that appeared.
  package var previous: Proximity?

  package init(
    _ kind: Kind, time: WallClockTime, region: String?, beacon: RangedBeacon, previous: Proximity?
  ) {
    (self.kind, self.time, self.region, self.beacon) = (kind, time, region, beacon)
    self.previous = previous
  }
}

extension ZoneChange {
  package static let appear = RecordType("appear", [time, region()], facts)
  package static let zone = RecordType("zone", [time, region()], facts)
  package static let disappear = RecordType("disappear", [time, region()], facts)

  /// The record of a change of this kind.
  package var record: RecordType<ZoneChange> {
    switch kind {
    case .appear: Self.appear
    case .zone: Self.zone
    case .disappear: Self.disappear
    }
  }

  /// The record of a change of any kind as a row of comma-separated values, or of a table with a width for the names of
  /// regions.
  package static func row(regionWidth: Int = 0) -> RecordType<ZoneChange> {
    RecordType<ZoneChange>(
      nil,
      [
        time,
        Field(
          "type", .string,
          column: Column("EVENT", width: 9, priority: .key) { $0.kind.rawValue.uppercased() }
        ) {
          $0.kind.rawValue
        },
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
