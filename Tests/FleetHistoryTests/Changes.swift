import Clocks
import FleetPicture
import TestSupport

@testable import FleetEngine

extension RoomChange {
  init(
    site: String = "museum", beacon: String, former: String? = nil, room: String?, at second: Int64
  ) {
    self.init(
      site: site, second: second,
      time: WallClockTime(second: second).description, beacon: beacon, former: former,
      formerIsOutside: former == nil, room: room,
      isOutside: room == nil, probability: 0.875, runnerUp: "corridor", runnerUpProbability: 0.1,
      missing: ["hall-2"])
  }

  /// Changes of some beacons, in the order of time.
  static func walks(
    _ count: Int, beacons: Int = 7, site: String = "museum", from second: Int64 = 1_700_000_000
  ) -> [RoomChange] {
    (0..<count).map { index in
      RoomChange(
        site: site, beacon: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:\(index % beacons)",
        former: index < beacons ? nil : "room \((index / beacons - 1) % 3)",
        room: "room \(index / beacons % 3)", at: second + Int64(index / beacons) * 10)
    }
  }
}

extension StreamEntry {
  init(_ change: RoomChange, offset: UInt64) {
    self.init(offset: offset, routingKey: "07.museum", id: change.id, body: change.json)
  }
}
