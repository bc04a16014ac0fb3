import Foundation
import Positioning
import TestSupport
import Testing

@Suite struct LocationDemandTests {
  /// What each request alone asks of the sources: meters, seconds, meters.
  static let table: [(LocationRequest, Double, Double, Double)] = [
    (.standard(.bestForNavigation, distanceFilter: nil), 0, 0.1, 0),
    (.standard(.best, distanceFilter: nil), 0, 1, 0),
    (.standard(.tenMeters, distanceFilter: nil), 10, 1, 0),
    (.standard(.hundredMeters, distanceFilter: nil), 100, 10, 0),
    (.standard(.kilometer, distanceFilter: nil), 1000, 60, 0),
    (.standard(.threeKilometers, distanceFilter: nil), 3000, 180, 0),
    (.standard(.best, distanceFilter: 10), 0, 1, 10),
    (.standard(.best, distanceFilter: 700), 0, 10, 700),
    (.standard(.best, distanceFilter: 100_000), 0, 60, 100_000),
    (.standard(.threeKilometers, distanceFilter: 100_000), 3000, 180, 100_000),
    (.standard(.best, distanceFilter: -1), 0, 1, 0),
    (.standard(.best, distanceFilter: .nan), 0, 1, 0),
    (.paused, 100, 60, 0),
    (.significantChange, 100, 60, 100),
    (.visits(isStaying: false), 100, 30, 0),
    (.visits(isStaying: true), 100, 60, 0),
    (.boundary(meters: -50), 10, 1, 0),
    (.boundary(meters: 20), 10, 1, 0),
    (.boundary(meters: 700), 350, 10, 0),
    (.boundary(meters: 7000), 1000, 100, 0),
    (.boundary(meters: 21_000), 1000, 300, 0),
    (.boundary(meters: .infinity), 1000, 300, 0),
  ]

  @Test(arguments: table)
  func eachRequestHasItsDemand(
    request: LocationRequest, accuracy: Double, interval: Double, distance: Double
  ) {
    let demand = LocationDemand(request)
    #expect(
      demand.fixes
        == LocationDemand.Fixes(accuracy: accuracy, interval: interval, distance: distance))
    #expect(!demand.needsHeading)
  }

  @Test func headingNeedsNoFix() {
    let demand = LocationDemand(.heading)
    #expect(demand == LocationDemand(needsHeading: true))
    #expect(LocationDemand([] as [LocationRequest]) == LocationDemand())
  }

  /// Every combination of two requests and of all: the strictest of each.
  @Test func demandsMergeToTheStrictest() throws {
    for (first, a, b, c) in Self.table {
      for (second, d, e, f) in Self.table {
        let demand = LocationDemand([first, .heading, second])
        #expect(
          demand.fixes == .init(accuracy: min(a, d), interval: min(b, e), distance: min(c, f)))
        #expect(demand.needsHeading)
        #expect(demand == LocationDemand([second, first, .heading]))
        let data = try JSONEncoder().encode(demand)
        #expect(try JSONDecoder().decode(LocationDemand.self, from: data) == demand)
      }
    }
    let all = LocationDemand(Self.table.map(\.0))
    #expect(all.fixes == .init(accuracy: 0, interval: 0.1, distance: 0))
  }

  @Test(arguments: [
    (-2.0, AccuracyClass.bestForNavigation), (-1, .best), (0, .best), (5, .best),
    (10, .tenMeters), (99, .tenMeters), (100, .hundredMeters), (1000, .kilometer),
    (2999, .kilometer), (3000, .threeKilometers), (.infinity, .threeKilometers), (.nan, .best),
  ])
  func anyNumberHasAnAccuracyClass(meters: Double, expected: AccuracyClass) {
    #expect(AccuracyClass(desiredAccuracy: meters) == expected)
  }
}
