import Advertising
import Clocks
package import FleetPicture
package import FleetReports
package import Fusion

extension ReceiverSecond {
  package init(_ report: ReceiverReport) {
    self.init(
      receiver: report.receiver, boot: report.boot, number: UInt64(report.number),
      time: report.time.nanoseconds / 1_000_000, seconds: report.seconds, delay: report.delay,
      isReceiving: report.reception == .receiving,
      receptions: report.beacons.map {
        Reception(
          $0.beacon, count: $0.sightings, mean: $0.signal?.mean, measuredPower: $0.measuredPower)
      })
  }
}

extension RoomTransition {
  package func change(site: String) -> RoomChange {
    RoomChange(
      site: site, second: second, time: WallClockTime(second: second).description,
      beacon: estimate.beacon.description, former: former.room,
      formerIsOutside: former == .outside, room: estimate.place.room,
      isOutside: estimate.place == .outside, probability: estimate.probability.rounded,
      runnerUp: estimate.runnerUp.place.room,
      runnerUpProbability: estimate.runnerUp.probability.rounded, missing: estimate.missing)
  }
}

extension SitePicture.Beacon {
  init(_ estimate: RoomEstimate) {
    self.init(
      beacon: estimate.beacon.description, room: estimate.place.room,
      isOutside: estimate.place == .outside,
      since: WallClockTime(second: estimate.since).description,
      probability: estimate.probability.rounded, best: estimate.best.place.room,
      bestProbability: estimate.best.probability.rounded, runnerUp: estimate.runnerUp.place.room,
      runnerUpProbability: estimate.runnerUp.probability.rounded,
      x: estimate.position?.x.rounded, y: estimate.position?.y.rounded,
      received: WallClockTime(second: estimate.received).description,
      fading: estimate.fading?.rounded)
  }
}

extension Whereabouts {
  package var room: String? { if case .room(let name) = self { name } else { nil } }
}

extension Double {
  /// Rounded to thousandths.
  package var rounded: Double { (self * 1000).rounded() / 1000 }
}
