import Foundation
import Positioning
import ServiceCore
import TestSupport
import Testing

@testable import LocationSources

/// The table in docs/location.md of what is on for each demand, made from the rules themselves.
@Suite struct PowerTableTests {
  /// What clients need, and how the table names it.
  static let rows: [(String, [LocationRequest])] = [
    ("nothing", []),
    (
      "updates, `kCLLocationAccuracyBestForNavigation`",
      [.standard(.bestForNavigation, distanceFilter: nil)]
    ),
    ("updates, `kCLLocationAccuracyBest`", [.standard(.best, distanceFilter: nil)]),
    (
      "updates, `kCLLocationAccuracyNearestTenMeters`", [.standard(.tenMeters, distanceFilter: nil)]
    ),
    (
      "updates, `kCLLocationAccuracyHundredMeters`",
      [.standard(.hundredMeters, distanceFilter: nil)]
    ),
    ("updates, `kCLLocationAccuracyKilometer`", [.standard(.kilometer, distanceFilter: nil)]),
    (
      "updates, `kCLLocationAccuracyThreeKilometers`",
      [.standard(.threeKilometers, distanceFilter: nil)]
    ),
    ("updates, best, `distanceFilter` 420", [.standard(.best, distanceFilter: 420)]),
    ("`locate --interval 10s`", [.standard(.best, distanceFilter: nil, interval: 10)]),
    ("`locate --interval 10m`", [.standard(.best, distanceFilter: nil, interval: 600)]),
    ("updates that are paused", [.paused]),
    ("significant changes", [.significantChange]),
    ("visits, on the way", [.visits(isStaying: false)]),
    ("visits, while the device stays", [.visits(isStaying: true)]),
    ("circles, the nearest boundary 20 m away", [.boundary(meters: 20)]),
    ("circles, 420 m away", [.boundary(meters: 420)]),
    ("circles, 4.2 km away", [.boundary(meters: 4200)]),
    ("circles, 21 km away or more", [.boundary(meters: 21_000)]),
    ("headings", [.heading]),
    ("visits and significant changes", [.visits(isStaying: true), .significantChange]),
    ("visits and circles 4.2 km away", [.visits(isStaying: true), .boundary(meters: 4200)]),
    (
      "significant changes and circles 21 km away",
      [.significantChange, .boundary(meters: 21_000)]
    ),
    (
      "updates to a kilometer and circles 420 m away",
      [.standard(.kilometer, distanceFilter: nil), .boundary(meters: 420)]
    ),
    (
      "all of these together",
      [
        .standard(.bestForNavigation, distanceFilter: nil), .paused, .significantChange,
        .visits(isStaying: true), .boundary(meters: 21_000), .heading,
      ]
    ),
  ]

  private static func number(_ value: Double) -> String {
    value == value.rounded() ? "\(Int(value))" : "\(value)"
  }

  private static func seconds(_ value: Double) -> String { number(value) + " s" }

  /// The cells of a demand: accuracy, interval, movement, gpsd, GeoClue and the compass.
  static func cells(_ requests: [LocationRequest]) -> [String] {
    let demand = LocationDemand(requests)
    let compass = demand.needsHeading ? "on" : "off"
    guard let fixes = demand.fixes else { return ["", "", "", "off", "off", compass] }
    let levels: [UInt32: String] = [8: "exact", 6: "street", 5: "neighborhood", 4: "city"]
    let settings = GeoClueSession.Settings(fixes)
    return [
      fixes.accuracy == 0 ? "best" : number(fixes.accuracy) + " m", seconds(fixes.interval),
      fixes.distance == 0 ? "any" : number(fixes.distance) + " m",
      GPSDSession.pauses(for: demand) ? "for a fix each \(seconds(fixes.interval))" : "on",
      "\(levels[settings.level] ?? "?"), \(settings.time) s", compass,
    ]
  }

  @Test func theDocumentHasTheTable() throws {
    let rows = Self.rows.map { "| \(([$0.0] + Self.cells($0.1)).joined(separator: " | ")) |" }
    let expected = rows.joined(separator: "\n").replacing("|  |", with: "| |").replacing(
      "|  |", with: "| |")
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
      .appending(path: "../../..").standardizedFileURL
    let document = try String(
      contentsOf: root.appending(path: "docs/location.md"), encoding: .utf8)
    let isThere = document.contains("\n\(expected)\n\n")
    #expect(isThere, "\(expected)")
  }

  private typealias Start = (LocationClient) throws -> Void

  /// The states of the machine that each request comes from are those of the table: a service that is started asks for its row.
  @Test func eachServiceAsksForItsRow() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let circle = try CircularRegion(identifier: "c", center: place, radius: 200)
    let services: [(Start, [LocationRequest])] = [
      ({ try $0.startUpdates() }, [.standard(.best, distanceFilter: nil)]),
      (
        {
          var settings = UpdateSettings()
          settings.interval = 600
          try $0.startUpdates(settings)
        }, [.standard(.best, distanceFilter: nil, interval: 600)]
      ),
      ({ try $0.startVisits() }, [.visits(isStaying: false)]),
      ({ try $0.startSignificantChanges() }, [.significantChange]),
      // Before the first fix any boundary may be near.
      ({ try $0.register(MonitoredCircle(circle)) }, [.boundary(meters: 0)]),
      (
        {
          try $0.startVisits()
          try $0.startSignificantChanges()
        }, [.visits(isStaying: false), .significantChange]
      ),
    ]
    for (start, requests) in services {
      let source = ScriptedSource("the script")
      let client = LocationListener(source)
      try start(client.client)
      #expect(eventually { source.demand == LocationDemand(requests) })
    }
  }
}
