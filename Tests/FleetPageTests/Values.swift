import Advertising
import FleetPicture
import FleetSites
import Fusion

@testable import FleetPage

/// Values of a small site for the tests.
enum Values {
  static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
  static let site = "flat"
  /// 2026-01-15T12:00:00Z.
  static let noon: Int64 = 1_768_478_400

  static func beacon(_ number: Int) -> String { "\(uuid):1:\(number)" }

  static func file(_ more: String = "", named site: String = site) throws -> SiteFile {
    let text = """
      name = "\(site)"
      [[rooms]]
      name = "kitchen"
      outline = [[0, 0], [4, 0], [4, 3]]
      [[rooms]]
      name = "hall"
      floor = 1
      [[receivers]]
      name = "one"
      at = [1, 1]
      [[receivers]]
      name = "two"
      room = "hall"
      \(more)
      """
    return try SiteFile(parsing: Array(text.utf8))
  }

  static func change(
    _ number: Int, _ former: String?, _ room: String?, at second: Int64, site: String = site
  ) -> RoomChange {
    RoomChange(
      site: site, second: second, time: Seconds.text(second), beacon: beacon(number),
      former: former, formerIsOutside: false, room: room, isOutside: false, probability: 0.9,
      runnerUp: nil, runnerUpProbability: 0.05, missing: [])
  }

  static func receiver(
    _ name: String, reported: Int64?, isMissing: Bool = false, lost: String? = nil,
    clock: Double? = nil
  ) -> SitePicture.Receiver {
    SitePicture.Receiver(
      name: name, lastReport: reported.map(Seconds.text), isMissing: isMissing,
      receptionLost: lost, beacons: 3, clockDifference: clock)
  }

  static func sighting(
    _ number: Int, in room: String?, since: Int64, isOutside: Bool = false
  ) -> SitePicture.Beacon {
    SitePicture.Beacon(
      beacon: beacon(number), room: room, isOutside: isOutside, since: Seconds.text(since),
      probability: 0.9, best: room, bestProbability: 0.9, runnerUp: "hall",
      runnerUpProbability: 0.06, x: 1, y: 2, received: Seconds.text(since))
  }

  static func picture(
    at second: Int64, _ receivers: [SitePicture.Receiver] = [],
    _ beacons: [SitePicture.Beacon] = [], strangers: [String] = [], part: Int = 0, parts: Int = 1
  ) -> SitePicture {
    SitePicture(
      site: site, time: Seconds.text(second), part: part, parts: parts, receivers: receivers,
      beacons: beacons, strangers: strangers)
  }
}
