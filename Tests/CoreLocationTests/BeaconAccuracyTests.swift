import Advertising
import Foundation
import Scanning
import Testing

@testable import CoreLocation
@testable import Ranging

@Suite struct BeaconAccuracyTests {
  static let limits = ProximityLimits.standard

  /// A beacon in a zone whose smoothed signal stands for a distance.
  static func beacon(_ proximity: Proximity, at distance: Double, minor: UInt16 = 1) -> CLBeacon {
    var ranged = RangedBeacon(
      beacon: BeaconIdentity(uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: minor),
      proximity: proximity, measuredPower: -59, sightings: 1,
      firstReceived: MonotonicTime(nanoseconds: 0), lastReceived: MonotonicTime(nanoseconds: 0))
    if proximity != .unknown {
      let calibration = Calibration(
        model: .standard, budget: ErrorBudget(distanceFactor: .infinity))
      ranged.estimate = calibration.estimate(
        rssi: calibration.rssi(atDistance: distance, advertisedPower: -59), variance: 1,
        advertisedPower: -59)
      ranged.rssi = -60
    }
    return CLBeacon(ranged, limits: limits, timestamp: Date())
  }

  @Test(arguments: [
    (Proximity.immediate, 0.3), (.near, 1.5), (.near, 4.9), (.far, 4.1), (.far, 32.5),
  ])
  func `accuracy is the distance where the zone contains it`(zone: Proximity, distance: Double) {
    let beacon = Self.beacon(zone, at: distance)
    #expect(abs(beacon.accuracy - distance) < 0.01)
    #expect(beacon.accuracy == beacon.estimatedDistance)
  }

  @Test(arguments: [
    // A visitor who steps back: the zone is kept for a while.
    (Proximity.immediate, 32.5, 0.7), (.near, 32.5, 5), (.near, 0.1, 0.5), (.far, 0.1, 4),
  ])
  func `accuracy never contradicts the proximity`(
    zone: Proximity, distance: Double, accuracy: Double
  ) throws {
    let beacon = Self.beacon(zone, at: distance)
    #expect(beacon.accuracy == accuracy)
    #expect(abs(try #require(beacon.estimatedDistance) - distance) < 0.01)
  }

  @Test func `the range contains the estimate, and is archived`() throws {
    let beacon = Self.beacon(.near, at: 1.5)
    let range = try #require(beacon.estimatedDistanceRange)
    #expect(range.contains(1.5) && range.lowerBound < 1 && range.upperBound > 2)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: beacon, requiringSecureCoding: true)
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CLBeacon.self, from: data))
    #expect(read.accuracy == beacon.accuracy)
    #expect(read.estimatedDistance == beacon.estimatedDistance)
    #expect(read.estimatedDistanceRange == range)
  }

  @Test func `an unknown distance is negative and has no estimate`() {
    let beacon = Self.beacon(.unknown, at: 1)
    #expect(beacon.accuracy == -1 && beacon.rssi == 0)
    #expect(beacon.estimatedDistance == nil && beacon.estimatedDistanceRange == nil)
  }

  @Test func `lists are sorted by accuracy, the unknown last`() {
    // The first one's estimate is beyond its zone, so that the estimates have another order.
    let beacons = [
      Self.beacon(.unknown, at: 1, minor: 1), Self.beacon(.far, at: 9, minor: 2),
      Self.beacon(.near, at: 3, minor: 3), Self.beacon(.immediate, at: 32.5, minor: 4),
    ]
    let sorted = beacons.sorted(by: CLBeacon.isCloser)
    #expect(sorted.map(\.minor) == [4, 3, 2, 1])
  }
}
