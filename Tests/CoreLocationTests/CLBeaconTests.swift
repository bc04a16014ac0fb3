import Testing

@testable import CoreLocation
@testable import StrangersSwift5
@testable import StrangersSwift6

@Suite struct CLBeaconTests {
  @Test(arguments: [0, 1, 7, 32768, 65535]) func `a major reads the same in every way`(
    major: UInt16
  ) {
    let beacon = CLBeacon(
      CLBeacon.Values(
        uuid: UUID(), major: major, minor: 3, proximity: .near, accuracy: 1.5, rssi: -60))
    #expect(majors(beacon) == Array(repeating: Int(major), count: 14))
    #expect(BeaconModel(beacon).major == Int(major))
    #expect(beacon.key == "\(beacon.uuid.uuidString)-\(major)-3")
    let region = CLBeaconRegion(uuid: UUID(), major: 500, identifier: "r")
    #expect(isMain(beacon, of: region) == (major == 1 || major == 7))
  }

  @Test func `beacons are the same object or not equal`() {
    let (a, b) = (CLBeacon(), CLBeacon())
    #expect(a == a && a != b)
    #expect(CLBeacon.areSame(a, b))
    #expect(a.proximity == .unknown && a.accuracy == -1 && a.rssi == 0)
  }

  @Test func `a beacon survives an archive`() throws {
    let beacon = CLBeacon(
      CLBeacon.Values(
        uuid: UUID(), major: 65535, minor: 0, proximity: .far, accuracy: 7.25, rssi: -91,
        timestamp: Date(timeIntervalSinceReferenceDate: 1)))
    let read = try #require(try archived(beacon))
    #expect(CLBeacon.areSame(read, beacon))
    #expect(read.description == beacon.description)
    #expect(read.proximity == .far && read.accuracy == 7.25 && read.rssi == -91)
  }

  @Test func `what strangers make up says what they made up`() {
    let fakes = makeFakes()
    #expect(fakes.count == 15)
    let beacon = StubBeacon()
    #expect(RangedBeacon(beacon).id.major == 7 && RangedBeacon(beacon).id.minor == 8)
    #expect(BeaconModel(FakeBeacon(uuid: UUID(), major: 4, minor: 5)).minor == 5)
    #expect(FarLocation(latitude: 1, longitude: 2).coordinate.latitude == 11)
    #expect(FakeLocation(latitude: 1, longitude: 2).distance(from: CLLocation()) == 42)
    #expect(FakeHeading(degrees: 90).trueHeading == 91)
    #expect(FakeBeaconRegion(uuid: UUID(), identifier: "x").identifier == "fake.x")
    let kept = FakeBeaconRegion(uuid: UUID(), identifier: "x")
    #expect(copied(kept) === kept)
    #expect(StubVisit(arrival: .distantFuture).arrivalDate == .distantFuture)
  }

  @Test func `raw values are Apple's`() {
    #expect(rawValues() == [4, 3, 2, 5, 6, 1, 19])
    #expect(CLMonitor.Event.State.unmonitored.rawValue == 3)
    #expect(statusFromNumber == .authorizedAlways)
    #expect(CLAuthorizationStatus(rawValue: 5) == nil)
  }
}
