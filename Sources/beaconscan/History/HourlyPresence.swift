import Advertising
import Records
import Scanning
import ServiceCore
import Storage

struct HourlyPresence: Sendable {
  let presence: StoredPresence
  let beacon: BeaconIdentity

  private var time: WallClockTime {
    let microseconds = presence.hour.multipliedReportingOverflow(by: HistoryHour.microseconds).0
    return WallClockTime(microseconds: microseconds)
  }

  static let record = RecordType<HourlyPresence>(
    "presence",
    [
      Field("time", .time, column: Column("HOUR", priority: .key, digits: 0, time: \.time)) {
        $0.time
      }
    ],
    Field.identity { $0.beacon },
    [
      Field(
        "seconds", .number(0...3600), decimals: 3,
        column: Column("PRESENT", .right, priority: .main) { timeSpan($0.presence.seconds) }
      ) { $0.presence.seconds },
      Field("sightings", .count, column: Column(nil, .right)) { Int($0.presence.sightings) },
      Field(
        "rssi", .number(-128...20).orNull, decimals: 1,
        column: Column("MEAN RSSI", .right) { $0.presence.meanRSSI.map { fixed($0, 1) } }
      ) { $0.presence.meanRSSI },
      Field("bestRSSI", .rssi, column: Column("BEST", .right)) {
        $0.presence.bestRSSI.map { Int($0) }
      },
    ])
}
