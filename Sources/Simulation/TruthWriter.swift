import Advertising
package import Records
import Scanning

/// Writes the truth, one JSON object a line.
struct TruthWriter {
  let start: WallClockTime

  /// Writes a sighting, as `beaconscan scan --format json` writes it.
  func write(_ sighting: TrueSighting, at time: Int64, to bytes: inout [UInt8]) {
    let time = moment(time)
    Sighting.recordWithoutAdapter.appendLine(
      Sighting(
        time: time.monotonicTime(.zero), wallTime: time, beacon: sighting.beacon.identity,
        measuredPower: sighting.beacon.measuredPower, rssi: sighting.rssi,
        address: sighting.address, addressType: sighting.addressType), to: &bytes)
  }

  /// Writes that a beacon comes within reception, leaves it, or changes its zone.
  func write(_ mark: TruthMark, to bytes: inout [UInt8]) {
    var line = TruthLine(time: moment(mark.time), beacon: mark.beacon)
    switch mark.kind {
    case .enter, .exit:
      line.isEntry = mark.kind == .enter
      TruthLine.crossing.appendLine(line, to: &bytes)
    case .zone(let zone, let distance):
      (line.zone, line.distance) = (zone, distance)
      TruthLine.zone.appendLine(line, to: &bytes)
    }
  }

  /// Writes where a beacon is, in meters.
  func write(
    positionOf beacon: BeaconIdentity, _ distance: Double, at time: Int64, to bytes: inout [UInt8]
  ) {
    TruthLine.position.appendLine(
      TruthLine(time: moment(time), beacon: beacon, distance: distance), to: &bytes)
  }

  private func moment(_ time: Int64) -> WallClockTime { start.advanced(by: time * 1000) }
}

/// What is true of a beacon at a time.
package struct TruthLine: Sendable {
  fileprivate var time: WallClockTime
  fileprivate var beacon: BeaconIdentity
  fileprivate var isEntry = false
  fileprivate var zone: TruthMark.Zone?
  fileprivate var distance: Double?
}

extension TruthLine {
  /// The schemas of the lines.
  package static var schemas: [Schema] { [crossing.schema, zone.schema, position.schema] }

  fileprivate static let crossing = RecordType(
    "truthMark", type: .one(["enter", "exit"]) { $0.isEntry ? "enter" : "exit" }, head)

  fileprivate static let zone = RecordType(
    "truthZone", type: .constant("zone"),
    head,
    [
      Field("proximity", .one(of: TruthMark.Zone.allCases.map(\.rawValue))) { $0.zone?.rawValue },
      place,
    ])

  fileprivate static let position = RecordType(
    "truthPosition", type: .constant("position"), head, [place])

  private static let head =
    [Field<TruthLine>("time", .time) { $0.time }]
    + Field.identity { $0.beacon }

  private static let place = Field<TruthLine>("distance", .number(0...1000), decimals: 3) {
    $0.distance
  }
}
