import Advertising
import Ranging
import Records
import Scanning

/// A beacon for a message.
struct PublishedBeacon {
  var beacon: RangedBeacon
  var name: String?
  var time: WallClockTime
  var room: String
  /// Whether the current report contains the beacon.
  var isPresent = true

  /// Creates the last message about a beacon that is no longer in the reports.
  init(absent beacon: RangedBeacon, name: String?, time: WallClockTime, room: String) {
    self.init(beacon.withoutSignal, name: name, time: time, room: room)
    isPresent = false
  }

  init(_ beacon: RangedBeacon, name: String?, time: WallClockTime, room: String) {
    (self.beacon, self.name, self.time, self.room) = (beacon, name, time, room)
  }
}

extension BeaconIdentity {
  /// The beacon in topics and identifiers. It does not depend on the name.
  var topicLevel: String { "\(uuid)".lowercased() + "-\(major)-\(minor)" }

  var espresenseID: String { "iBeacon:" + topicLevel }

  var roomAssistantID: String {
    "\(uuid)".lowercased().filter { $0 != "-" } + "-\(major)-\(minor)"
  }
}

extension PublishedBeacon {
  /// A message of ESPresense, without the keys that need the address, the transmitter's adjustments
  /// or telemetry. `raw` is the distance from the signal strength alone.
  static let espresense = RecordType<PublishedBeacon>(
    nil, named: "espresense",
    [
      Field("id", .text) { $0.beacon.beacon.espresenseID },
      Field("name", .text, .sometimes) { beacon -> FieldValue in
        beacon.name.map { .text($0) } ?? .absent
      },
      Field("rssi@1m", .power) { $0.beacon.measuredPower },
      Field("rssi", .number, decimals: 2) {
        $0.beacon.smoothed ?? $0.beacon.rssi.map { Double($0) }
      },
      Field("raw", .meters, decimals: 2) { $0.beacon.rawDistance },
      Field("distance", .meters, decimals: 2) { $0.beacon.estimate?.distance },
      Field("var", .meters, decimals: 2) { beacon in
        beacon.beacon.estimate.map { $0.standardDeviation * $0.standardDeviation }
      },
    ])

  /// A message of room-assistant's MQTT integration, which lists this receiver only.
  static let roomAssistant = RecordType<PublishedBeacon>(
    nil, named: "roomAssistant",
    [
      Field("entity", entity) { $0 },
      Field("hasAuthority", .boolean) { _ in true },
    ])

  private static let entity = RecordType<PublishedBeacon>(
    nil, named: "roomAssistantEntity",
    [
      Field(
        "attributes",
        RecordType<PublishedBeacon>(nil, named: "roomAssistantAttributes", [distance, time])
      ) { $0 },
      Field("id", .text) { "ble-" + $0.beacon.beacon.roomAssistantID },
      Field("name", .text) { ($0.name ?? $0.beacon.beacon.roomAssistantID) + " Room Presence" },
      Field("distributed", .boolean) { _ in true },
      Field("stateLocked", .boolean) { _ in true },
      Field("distances", .string) { beacon in
        beacon.object { distanceInRoom.append(beacon, to: &$0) }
      },
      Field("timeout", .count) { _ in 0 },
      Field("measuredValues", .string) { beacon in
        beacon.object { measured.append(beacon, to: &$0) }
      },
      Field("state", .text) { $0.isPresent ? $0.room : "not_home" },
    ])

  private static let distanceInRoom = RecordType<PublishedBeacon>(
    nil, named: "roomAssistantDistance",
    [time, distance, Field("outOfRange", .boolean) { !$0.isPresent }])

  private static let measured = RecordType<PublishedBeacon>(
    nil, named: "roomAssistantMeasured",
    [
      Field("rssi", .number, decimals: 2) {
        $0.beacon.smoothed ?? $0.beacon.rssi.map { Double($0) }
      },
      Field("measuredPower", .power) { $0.beacon.measuredPower },
    ])

  private static let distance = Field<PublishedBeacon>("distance", .meters, decimals: 1) {
    $0.beacon.estimate?.distance
  }

  /// The time as JavaScript writes it, in milliseconds.
  private static let time = Field<PublishedBeacon>("lastUpdatedAt", .text) {
    FieldValue.plain("\($0.time)".dropLast(4) + "Z")
  }

  /// Returns an object whose only key is the room.
  private func object(_ append: @escaping (inout [UInt8]) -> Void) -> FieldValue {
    let room = room
    return .json({ bytes in
      bytes += "{".utf8
      bytes += JSONNode.text(room).line.utf8
      bytes += ":".utf8
      append(&bytes)
      bytes += "}".utf8
    })
  }
}

extension RangedBeacon {
  /// The beacon without the values that need a signal.
  fileprivate var withoutSignal: RangedBeacon {
    var beacon = self
    beacon.proximity = .unknown
    (beacon.estimate, beacon.rawDistance, beacon.side) = (nil, nil, nil)
    (beacon.rssi, beacon.smoothed, beacon.smoothedError) = (nil, nil, nil)
    beacon.sightings = 0
    return beacon
  }
}
