import Advertising
import Bytes
import Positioning
import Records
import Scanning
import ServiceCore
import Storage

struct HistoryRow: Sendable {
  private let entry: StoredEntry
  private let record: JSONValue
  private let zone: ClockZone

  init(_ entry: StoredEntry, in zone: ClockZone) {
    self.entry = entry
    self.zone = zone
    record = JSONValue(record: entry)
  }

  private var time: WallClockTime { WallClockTime(microseconds: entry.time) }
  private var reason: JSONValue { record["reason"] ?? .null }
  private var last: JSONValue { reason["lastSighting"] ?? .null }

  private var beacon: BeaconIdentity? {
    guard let uuid = record["uuid"]?.asString.flatMap(ProximityUUID.init),
      let major = record["major"]?.asInt.flatMap(UInt16.init(exactly:)),
      let minor = record["minor"]?.asInt.flatMap(UInt16.init(exactly:))
    else { return nil }
    return BeaconIdentity(uuid: uuid, major: major, minor: minor)
  }

  private var beaconName: String? {
    beacon.map { BeaconNames.name(of: $0) ?? record["name"]?.asString ?? $0.shortName }
  }

  private var detail: String? {
    if let message = record["message"]?.asString { return message }
    if entry.kind == "visit" { return visit }
    guard let rule = reason["rule"]?.asString else { return record["state"]?.asString }
    let cause = cause(rule)
    return entry.kind == "state" ? "\(record["state"]?.asString ?? "?"): \(cause)" : cause
  }

  private var visit: String {
    func clock(_ time: WallClockTime) -> String {
      let text = zone.text(time, digits: 0)
      let isOfThisDay = text.prefix(10) == zone.text(self.time, digits: 0).prefix(10)
      return String(isOfThisDay ? text.dropFirst(11).prefix(5) : text.prefix(16))
    }
    let times = [("arrived", moment("arrival")), ("left", moment("departure"))]
    var parts = times.compactMap { word, time in time.map { "\(word) \(clock($0))" } }
    if let latitude = record["latitude"]?.asDouble, let longitude = record["longitude"]?.asDouble {
      parts.append("at \(fixed(latitude, 5)), \(fixed(longitude, 5))")
    }
    return parts.joined(separator: ", ")
  }

  private func moment(_ key: String) -> WallClockTime? {
    record[key]?.asString.flatMap { WrittenTime($0) }?.time(in: .utc)
  }

  /// The reason of a circle's event, or `nil` for other events and for the state at the start.
  private var circleReason: GeofenceTransition.Reason? {
    guard let rule = reason["rule"]?.asString.flatMap(GeofenceTransition.Rule.init),
      let distance = record["distance"]?.asDouble, let accuracy = reason["accuracy"]?.asDouble
    else { return nil }
    return GeofenceTransition.Reason(
      rule: rule, distanceOutside: distance, accuracy: accuracy,
      dwell: reason["duration"]?.asDouble ?? 0, fixes: reason["fixes"]?.asInt ?? 0)
  }

  private func cause(_ rule: String) -> String {
    if let circleReason { return circleReason.explanation }
    let rssi = last["rssi"]?.asInt ?? record["rssi"]?.asInt
    let signal = rssi.map { "at \($0) dBm" } ?? "without signal strength"
    // Files of earlier versions have the former words.
    let seconds = (reason["exitTimeout"] ?? reason["silenceLimit"])?.asDouble
    let limit = seconds.map { fixed($0, 1) } ?? "?"
    switch rule {
    case "sighting": return "received \(signal)"
    case "count": return "received often enough, \(signal)"
    case "dwell": return "received for long enough, \(signal)"
    case "signal":
      return "\(signal), long enough \(entry.kind == "enter" ? "above" : "below") the limit"
    case "distance":
      return "\(signal), long enough \(entry.kind == "enter" ? "within" : "beyond") the limit"
    case "exitTimeout", "silence": return "not received for its exit timeout of \(limit) s"
    case "start":
      let approach = reason["approach"]?["message"]?.asString.map { ": \($0)" }
      return "no beacon met the rules for \(limit) s\(approach ?? "")"
    case "request": return "at the start"
    default: return rule
    }
  }
}

extension JSONValue {
  /// Reads an entry's record, or creates `null` if it is not valid.
  init(record entry: StoredEntry) {
    // The array outlives the call.
    self = unsafe (try? JSONValue(parsing: entry.payload.span.bytes)) ?? .null
  }
}

extension HistoryRow {
  /// Returns the record type of a row. Its CSV has the columns of `monitor`, and more.
  static func record(regionWidth: Int) -> RecordType<HistoryRow> {
    RecordType(
      nil,
      [
        Field("time", .time, column: Column(priority: .main, time: \.time)) { $0.time },
        Field("type", .string, column: event) { $0.entry.kind },
        Field(
          "region", .text, column: Column(width: regionWidth, priority: .key, fit: .cut(to: 8))
        ) { $0.entry.region },
        text("state"),
        Field(
          "dwell", .number(0...), decimals: 3,
          column: Column("INSIDE", .right, width: 11, missing: "") { $0.entry.dwell.map(timeSpan) }
        ) { $0.entry.dwell },
        Field("rule", .string) { $0.reason["rule"]?.asString },
        Field(
          "lastSighting", .string, column: Column("BEACON", width: 11) { $0.beaconName }
        ) { $0.last["time"]?.asString },
      ],
      Field.identityOrNull { $0.beacon },
      [
        Field("rssi", .rssi) { $0.record["rssi"]?.asInt },
        Field("samples", .count) { $0.reason["samples"]?.asInt },
        number("exitTimeout") { $0.reason }, number("interval") { $0.reason },
        number("loss") { $0.reason },
        number("distance", Schema.number) { $0.record },
        Field("beacons", .count) { $0.record["beacons"]?.asInt },
        text("adapter"),
        Field("message", .string, column: Column("REASON", fit: .cut(to: 20)) { $0.detail }) {
          $0.record["message"]?.asString
        },
        // Fields of circles and visits.
        number("latitude", Schema.number) { $0.record },
        number("longitude", Schema.number) { $0.record },
        number("radius") { $0.record },
        Field("accuracy", .number(0...), decimals: 3) {
          ($0.reason["accuracy"] ?? $0.record["accuracy"])?.asDouble
        },
        Field("fixes", .count) { $0.reason["fixes"]?.asInt },
        text("arrival"), text("departure"),
      ])
  }

  private static let event = Column<HistoryRow>("EVENT", width: 7, priority: .key) {
    $0.entry.kind.uppercased()
  }.colored { row in
    switch row.entry.kind {
    case "enter": 32
    case "exit": 33
    default: 2
    }
  }

  private static func text(_ key: String) -> Field<HistoryRow> {
    Field(key, .string) { $0.record[key]?.asString }
  }

  private static func number(
    _ key: String, _ schema: Schema = .number(0...),
    _ object: @escaping @Sendable (HistoryRow) -> JSONValue
  ) -> Field<HistoryRow> {
    Field(key, schema, decimals: key.hasSuffix("itude") ? 7 : 3) { object($0)[key]?.asDouble }
  }
}
