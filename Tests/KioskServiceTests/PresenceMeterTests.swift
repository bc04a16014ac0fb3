import Advertising
import Records
import Scanning
import Storage
import Testing

@testable import KioskService
@testable import Ranging

@Suite struct PresenceMeterTests {
  private func beacon(_ minor: UInt16, sightings: Int, rssi: Int? = -60) throws -> RangedBeacon {
    let uuid = try #require(ProximityUUID("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
    return RangedBeacon(
      beacon: BeaconIdentity(uuid: uuid, major: 1, minor: minor), proximity: .near, rssi: rssi,
      measuredPower: -59, sightings: sightings, firstReceived: MonotonicTime(nanoseconds: 0),
      lastReceived: MonotonicTime(nanoseconds: 0))
  }

  private func time(_ seconds: Double) -> WallClockTime {
    WallClockTime(nanoseconds: Int64(seconds * 1e9))
  }

  @Test func secondsAndSignalsAddUp() throws {
    var meter = PresenceMeter()
    meter.receive([try beacon(1, sightings: 10), try beacon(2, sightings: 0)], at: time(7200))
    meter.receive([try beacon(1, sightings: 5, rssi: -54)], at: time(7201))
    // After a pause only some of it counts.
    meter.receive([try beacon(1, sightings: 1, rssi: nil)], at: time(7300))
    let hours = meter.removeAll { $0.minor == 1 }
    try #require(hours.count == 1)
    #expect(hours[0].hour == 2)
    #expect(hours[0].seconds == 7)
    #expect(hours[0].sightings == 16)
    #expect(hours[0].samples == 15)
    #expect(hours[0].meanRSSI == -58)
    #expect(hours[0].bestRSSI == -54)
    #expect(hours[0].isProtected)
    #expect(meter.removeAll { _ in true }.isEmpty)
  }

  @Test func itIsDueOnceInAnInterval() throws {
    var meter = PresenceMeter()
    meter.receive([try beacon(1, sightings: 1)], at: time(0))
    #expect(!meter.isDue(at: time(59)))
    #expect(meter.isDue(at: time(60)))
    #expect(meter.removeAll { _ in true }.count == 1)
    #expect(!meter.isDue(at: time(59)))
    // A clock that was set back does not stop it.
    meter.receive([try beacon(1, sightings: 1)], at: time(60))
    #expect(meter.isDue(at: time(-100)))
  }

  @Test func signalsAreBoundedInTimeAndNumber() throws {
    var history = SignalHistory()
    for second in 0..<400 {
      history.receive([try beacon(1, sightings: 1)], at: time(Double(second)))
    }
    #expect(history.nearest(9).map(\.samples.count) == [SignalHistory.maximumSamples])
    #expect(history.nearest(9)[0].samples.last?.time == 399)
    for minor in 1...UInt16(300) {
      history.receive([try beacon(minor, sightings: 1)], at: time(400 + Double(minor) / 1000))
    }
    #expect(history.nearest(1000).count == SignalHistory.maximumBeacons)
    history.receive([try beacon(1, sightings: 1)], at: time(1000))
    #expect(history.nearest(1000).count == 1)
  }
}
