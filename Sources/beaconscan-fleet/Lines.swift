import Advertising
import Clocks
import FleetPicture
import FleetReports
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

  var identity: BeaconIdentity? {
    guard let constraint = BeaconConstraint(beacon), let major = constraint.major,
      let minor = constraint.minor
    else { return nil }
    return BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
  }
}

extension RoomTransition {
  func change(site: String) -> RoomChange {
    RoomChange(
      site: site, second: second, time: time, beacon: "\(estimate.beacon)", former: former.room,
      formerIsOutside: former == .outside, room: estimate.place.room,
      isOutside: estimate.place == .outside, probability: estimate.probability.rounded3,
      runnerUp: estimate.runnerUp.place.room,
      runnerUpProbability: estimate.runnerUp.probability.rounded3, missing: estimate.missing)
  }

  /// The columns: time, beacon, former place, place, its probability.
  var row: String {
    "\(time)  \(estimate.beacon)  \(former.text) → \(estimate.place.text)  "
      + "\(estimate.probability.rounded3)"
  }

  private var time: String {
    "\(WallClockTime(nanoseconds: second.multipliedReportingOverflow(by: 1_000_000_000).partialValue))"
  }
}

extension Whereabouts {
  fileprivate var room: String? { if case .room(let name) = self { name } else { nil } }

  fileprivate var text: String {
    switch self {
    case .room(let name): name
    case .outside: "outside"
    case .unknown: "not known"
    }
  }
}

extension Double {
  fileprivate var rounded3: Double { (self * 1000).rounded() / 1000 }
}

/// Encodes a value whose texts and numbers JSON has.
private func lineOfJSON(_ value: some Encodable) -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)).map(Array.init) ?? []
}

extension ReceiverSecond {
  /// The second of a report, which ends in it.
  init(_ report: ReceiverReport) {
    self.init(
      receiver: report.receiver, boot: report.boot, number: UInt64(report.number),
      second: report.time.nanoseconds / 1_000_000_000,
      isReceiving: report.reception == .receiving,
      receptions: report.beacons.map {
        Reception(
          $0.beacon, count: $0.sightings, mean: $0.signal?.mean, measuredPower: $0.measuredPower)
      })
  }
}

extension ReceiverReport {
  /// A simulated report.
  init(_ second: ReceiverSecond, site: String) {
    self.init(
      site: site, receiver: second.receiver, boot: second.boot, number: Int(second.number),
      time: WallClockTime(nanoseconds: second.second * 1_000_000_000),
      beacons: second.receptions.map { reception in
        Beacon(
          reception.beacon, sightings: reception.count,
          signal: reception.mean.map {
            Signal(mean: $0, variance: 0, maximum: Int8(max(-127, min(20, $0.rounded(.up)))))
          }, measuredPower: reception.measuredPower ?? -59)
      })
  }
}
