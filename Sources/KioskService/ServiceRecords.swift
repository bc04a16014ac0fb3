import Advertising
package import Positioning
import Ranging
package import Records
package import Regions
package import Scanning

package struct RegionRecord: Sendable {
  package enum Subject: Hashable, Sendable {
    case beacons(BeaconConstraint)
    case circle(CircularRegion)
  }

  package var name: String
  package var subject: Subject
  package var reportsEachBeacon: Bool
  package var state: RegionState
  /// The time since which it is in that state, or `nil` if it is not known.
  package var since: WallClockTime?
  /// The number of beacons inside, or `nil` for a circle or if it is not known.
  package var beacons: Int?
  package var isRemovable: Bool
  package var last: [UInt8]?
  /// How near beacons came to entering, where a single region was requested.
  package var approach: Approach?

  // The optimizer of Swift 6.3 stops with an ownership error where it inlines this.
  @inline(never)
  package var constraint: BeaconConstraint? {
    if case .beacons(let constraint) = subject { constraint } else { nil }
  }

  package var circle: CircularRegion? {
    if case .circle(let circle) = subject { circle } else { nil }
  }

  package static let record = RecordType<RegionRecord>(
    nil, named: "region", summary: "A region and its state.",
    [
      Field("name", .text) { $0.name },
      Field("uuid", .uuidOrNull) { $0.constraint?.uuid },
      Field("major", .uint16OrNull) { $0.constraint?.major },
      Field("minor", .uint16OrNull) { $0.constraint?.minor },
    ], Field.place { $0.circle?.center },
    [
      Field("radius", Schema.number(0...).orNull, decimals: 3) { $0.circle?.radius },
      Field("each", .boolean) { $0.reportsEachBeacon },
      Field("state", .one(of: RegionState.allCases.map(\.name))) { $0.state.name },
      Field("since", .timeOrNull) { $0.since },
      Field("beacons", Schema.integer(0...).orNull) { $0.beacons },
      Field("isRemovable", .boolean) { $0.isRemovable },
      .latest("last", .monitorEvent) { $0.last },
      Field("approach", Approach.part, .sometimes) { $0.approach },
    ])
}

struct ServiceHealth: Sendable {
  /// Whether the service receives, or would if a beacon advertised.
  var isReceiving: Bool
  /// Whether something needs the receiver. Otherwise it is off.
  var isNeeded: Bool
  var receivers: [(health: ScannerHealth, time: WallClockTime)]
  var locationSources: [(health: LocationHealth, time: WallClockTime)]
  var uptime: Double
  var version: String
  var faults: [String]

  static let record = RecordType<ServiceHealth>(
    nil, named: "serviceHealth", summary: "The state of the receivers and of the service.",
    [
      Field("receiving", .boolean) { $0.isReceiving },
      Field("needed", .boolean) { $0.isNeeded },
      Field("receivers", each: ScannerHealth.record) { $0.receivers },
      Field("locationSources", each: LocationHealth.record) { $0.locationSources },
      Field("uptime", .number(0...), decimals: 3) { $0.uptime },
      Field("version", .text) { $0.version },
      Field("faults", .list(of: .text)) { $0.faults },
    ])
}

struct SignalRecord: Sendable {
  /// One second of the signal: seconds since 1970, dBm, dBm, and meters.
  struct Sample: Sendable {
    var time: Int64
    /// The mean signal strength of that second, in dBm, or `nil` if nothing was received.
    var rssi: Int?
    var smoothed: Double?
    var distance: Double?
  }

  var beacon: BeaconIdentity
  var samples: [Sample]

  static let record = RecordType<SignalRecord>(
    nil, named: "signal",
    summary:
      "The last minutes of a beacon. A sample is the time in seconds since 1970, the mean signal "
      + "strength of that second in dBm, the smoothed one, and the distance in meters.",
    Field.identity { $0.beacon },
    [
      Field(
        "samples",
        .list(of: .list(of: Schema.number.orNull).with("minItems", 4).with("maxItems", 4))
      ) { signal -> FieldValue in
        .list(signal.samples) { sample, bytes in
          bytes += "[\(sample.time),\(sample.rssi.map(String.init) ?? "null"),".utf8
          bytes += (sample.smoothed.map { decimal($0, 2) } ?? "null").utf8
          bytes += ",\(sample.distance.map { decimal($0, 3) } ?? "null")]".utf8
        }
      }
    ])
}

struct NumberedEvent: Sendable {
  var id: String
  var json: [UInt8]

  static let record = RecordType<NumberedEvent>(
    nil, named: "numberedEvent", summary: "An event and the number by which a client continues.",
    [
      Field("id", .text) { $0.id },
      Field(
        "event",
        .one(of: [
          .monitorEvent, LocateLine.visit.schema, ScannerHealth.record.schema,
          LocationHealth.record.schema,
        ])
      ) { event -> FieldValue in .json { $0 += event.json } },
    ])
}

struct SnapshotRecord: Sendable {
  var time: WallClockTime
  var regions: [RegionRecord]
  var beacons: [RangedBeacon]
  var health: ServiceHealth
  var location: LocationRecord?

  static let record = RecordType<SnapshotRecord>(
    nil, named: "snapshot",
    [
      Field("time", .time) { $0.time },
      Field("regions", each: RegionRecord.record) { $0.regions },
      Field("beacons", each: RangedBeacon.record(showsRaw: true, showsSides: false)) {
        $0.beacons
      },
      Field("health", ServiceHealth.record) { $0.health },
      Field("location", LocationRecord.record, isNullable: true) { $0.location },
    ])
}

/// The latest location data of the service, as JSON objects.
struct LocationRecord: Sendable {
  var fix: [UInt8]?
  /// The direction of the device, or `nil` without a compass and while it is off.
  var heading: [UInt8]?
  var visit: [UInt8]?

  static let record = RecordType<LocationRecord>(
    nil, named: "location", summary: "Where the machine is.",
    [
      .latest("fix", LocateLine.fix.schema) { $0.fix },
      .latest("heading", LocateLine.heading.schema) { $0.heading },
      .latest("visit", LocateLine.visit.schema) { $0.visit },
    ])
}

extension Field {
  fileprivate static func latest(
    _ key: String, _ schema: Schema, _ json: @escaping @Sendable (Value) -> [UInt8]?
  ) -> Field {
    Field(key, .one(of: [schema, .null])) { value -> FieldValue in
      json(value).map { json in .json { $0 += json } } ?? .null
    }
  }
}
