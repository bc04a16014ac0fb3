import Advertising
import Clocks
import FleetReports
import FleetWork
import FoundationEssentials
import Fusion
import Scanning

/// The true room of a beacon in a second, as a line of JSON.
struct TruthLine: Codable {
  var second: Int64
  var beacon: String
  var room: String

  init(second: Int64, beacon: String, room: String) {
    self.second = second
    self.beacon = beacon
    self.room = room
  }

  init?(_ line: [UInt8]) {
    guard let parsed = try? JSONDecoder().decode(Self.self, from: Data(line)) else { return nil }
    self = parsed
  }

  var json: [UInt8] { lineOfJSON(self) }

  var identity: BeaconIdentity? { BeaconConstraint(beacon)?.identity }
}

extension RoomTransition {
  /// The columns: time, beacon, former place, place, its probability.
  var row: String {
    "\(WallClockTime(second: second))  \(estimate.beacon)  \(former.text) → "
      + "\(estimate.place.text)  \(estimate.probability.rounded)"
  }
}

extension Whereabouts {
  fileprivate var text: String {
    switch self {
    case .room(let name): name
    case .outside: "outside"
    case .unknown: "not known"
    }
  }
}

/// Encodes a value whose texts and numbers JSON has.
private func lineOfJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)).map(Array.init) ?? []
}

extension ReceiverReport {
  /// A simulated report.
  init(_ second: ReceiverSecond, site: String) {
    self.init(
      site: site, receiver: second.receiver, boot: second.boot, number: Int(second.number),
      time: WallClockTime(nanoseconds: second.time * 1_000_000), seconds: second.seconds,
      beacons: second.receptions.map { reception in
        Beacon(
          reception.beacon, sightings: reception.count,
          signal: reception.mean.map {
            Signal(mean: $0, variance: 0, maximum: Int8(max(-127, min(20, $0.rounded(.up)))))
          }, measuredPower: reception.measuredPower ?? -59)
      })
  }
}
