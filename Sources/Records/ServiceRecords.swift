package import Advertising
package import Positioning
package import Ranging
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
  /// Whether the region was added over HTTP, so that clients can replace and remove it.
  package var isRemovable: Bool
  /// The latest event as a JSON object, or `nil` before the first.
  package var last: [UInt8]?

  package init(
    name: String, _ subject: Subject, reportsEachBeacon: Bool, state: RegionState,
    since: WallClockTime? = nil, beacons: Int? = nil, isRemovable: Bool
  ) {
    self.name = name
    self.subject = subject
    self.reportsEachBeacon = reportsEachBeacon
    self.state = state
    self.since = since
    self.beacons = beacons
    self.isRemovable = isRemovable
  }

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
      Field("last", .one(of: [.monitorEvent, .null])) { region -> FieldValue in
        region.last.map { json in .json { $0 += json } } ?? .null
      },
    ])
}

extension Schema {
  package static let monitorEvent = one(of: MonitorEvent.schemas).named("regionEvent")

  package static let null = Schema(["type": "null"])

  /// Returns the definitions of schemas, for `components/schemas` of an OpenAPI document.
  package static func components(_ schemas: [Schema]) -> String {
    object(of: schemas.flatMap(\.definitions)).document()
      .split(separator: "#/$defs/", omittingEmptySubsequences: false)
      .joined(separator: "#/components/schemas/")
  }
}

/// The state of the service.
package struct ServiceHealth: Sendable {
  /// Whether the service receives, or would if a beacon advertised.
  package var isReceiving: Bool
  /// Whether something needs the receiver. Otherwise it is off.
  package var isNeeded: Bool
  package var receivers: [(health: ScannerHealth, time: WallClockTime)]
  /// The latest states of the fix source and of the compass.
  package var locationSources: [(health: LocationHealth, time: WallClockTime)]
  /// The seconds since the service started.
  package var uptime: Double
  package var version: String
  /// The service's own faults, such as an unwritable history, each as a sentence.
  package var faults: [String]

  package init(
    isReceiving: Bool, isNeeded: Bool,
    receivers: [(health: ScannerHealth, time: WallClockTime)],
    locationSources: [(health: LocationHealth, time: WallClockTime)], uptime: Double,
    version: String, faults: [String]
  ) {
    self.isReceiving = isReceiving
    self.isNeeded = isNeeded
    self.receivers = receivers
    self.locationSources = locationSources
    self.uptime = uptime
    self.version = version
    self.faults = faults
  }

  package static let record = RecordType<ServiceHealth>(
    nil, named: "serviceHealth", summary: "The state of the receivers and of the service.",
    [
      Field("receiving", .boolean) { $0.isReceiving },
      Field("needed", .boolean) { $0.isNeeded },
      Field("receivers", each: ScannerHealth.record) { $0.receivers },
      Field("locationSources", each: LocationHealth.record) { $0.locationSources },
      Field("uptime", .number(0...), decimals: 3) { $0.uptime },
      Field("version", .text) { $0.version },
      Field("faults", .list(of: .text)) { health -> FieldValue in
        .list(health.faults) { sentence, bytes in appendQuoted(sentence, to: &bytes) }
      },
    ])
}

/// The last minutes of a beacon's signal.
package struct SignalRecord: Sendable {
  /// One second of the signal: seconds since 1970, dBm, dBm, and meters.
  package struct Sample: Sendable {
    package var time: Int64
    /// The mean signal strength of that second, in dBm, or `nil` if nothing was received.
    package var rssi: Int?
    package var smoothed: Double?
    package var distance: Double?

    package init(time: Int64, rssi: Int?, smoothed: Double?, distance: Double?) {
      (self.time, self.rssi, self.smoothed, self.distance) = (time, rssi, smoothed, distance)
    }
  }

  package var beacon: BeaconIdentity
  package var samples: [Sample]

  package init(beacon: BeaconIdentity, samples: [Sample]) {
    (self.beacon, self.samples) = (beacon, samples)
  }

  package static let record = RecordType<SignalRecord>(
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

/// An event with its number in the history.
package struct NumberedEvent: Sendable {
  package var id: String
  /// The event as a JSON object.
  package var json: [UInt8]

  package init(id: String, json: [UInt8]) { (self.id, self.json) = (id, json) }

  package static let record = RecordType<NumberedEvent>(
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

/// The complete state of the service at one time.
package struct SnapshotRecord: Sendable {
  package var time: WallClockTime
  package var regions: [RegionRecord]
  /// The beacons of the latest report.
  package var beacons: [RangedBeacon]
  package var health: ServiceHealth
  /// `nil` if the service has no location source.
  package var location: LocationRecord?

  package init(
    time: WallClockTime, regions: [RegionRecord], beacons: [RangedBeacon], health: ServiceHealth,
    location: LocationRecord?
  ) {
    self.time = time
    self.regions = regions
    self.beacons = beacons
    self.health = health
    self.location = location
  }

  package static let record = RecordType<SnapshotRecord>(
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
package struct LocationRecord: Sendable {
  /// The latest fix, or `nil` before the first and while the receiver is off.
  package var fix: [UInt8]?
  /// The direction of the device, or `nil` without a compass and while it is off.
  package var heading: [UInt8]?
  /// The latest start or end of a visit, or `nil` before the first.
  package var visit: [UInt8]?

  package init() {}

  package static let record = RecordType<LocationRecord>(
    nil, named: "location", summary: "Where the machine is.",
    [
      latest("fix", LocateLine.fix.schema, \.fix),
      latest("heading", LocateLine.heading.schema, \.heading),
      latest("visit", LocateLine.visit.schema, \.visit),
    ])

  private static func latest(
    _ key: String, _ schema: Schema, _ json: any KeyPath<LocationRecord, [UInt8]?> & Sendable
  ) -> Field<LocationRecord> {
    Field(key, .one(of: [schema, .null])) { location -> FieldValue in
      location[keyPath: json].map { json in .json { $0 += json } } ?? .null
    }
  }
}
