import Positioning
import Scanning
import TestSupport
import Testing

@testable import ServiceCore

@Suite struct LocationServiceTests {
  /// A manager without a past, its service, and a client that is authorized.
  private static func service(
    _ values: [PositionInput], health: [LocationHealth] = []
  ) -> (LocationService, LocationClient, ScriptedLocationSource) {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    let manager = ServiceManager(configuration)
    let source = ScriptedLocationSource(values, health: health)
    let service = LocationService(manager, source: source)
    let client = LocationClient(manager.addClient(), of: service)
    manager.requestAuthorization(.authorizedAlways)
    return (service, client, source)
  }

  private static func events(
    of client: LocationClient
  ) async throws -> [LocationEvent] {
    var events: [LocationEvent] = []
    for try await event in client.events { events.append(event) }
    return events
  }

  @Test func updatesAreDelivered() async throws {
    let (service, client, _) = Self.service(fixes(5, metersNorth: 1))
    try client.startUpdates()
    let events = try await Self.events(of: client)
    let received = events.flatMap { event -> [Fix] in
      if case .fixes(let fixes) = event { fixes } else { [] }
    }
    #expect(received.count == 5)
    #expect(service.latestFix == received.last)
    #expect(events.last.map { if case .ended(_, false) = $0 { true } else { false } } == true)
  }

  @Test func aDistanceFilterHoldsFixesBack() async throws {
    let (_, client, source) = Self.service(fixes(100, metersNorth: 1))
    var settings = UpdateSettings()
    settings.distanceFilter = 30
    try client.startUpdates(settings)
    let events = try await Self.events(of: client)
    let count = events.count { if case .fixes = $0 { true } else { false } }
    #expect(count == 4, "at 0, 30, 60 and 90 m")
    #expect(source.demands.first?.fixes?.distance == 30)
  }

  @Test func aRequestIsAnsweredOnce() async throws {
    let (service, client, _) = Self.service(fixes(5, accuracy: 4))
    try client.requestFix()
    var answers = 0
    for try await event in client.events {
      guard case .requestedFix = event else { continue }
      answers += 1
      // Nothing needs the source any more: a recording waits for its client.
      break
    }
    #expect(answers == 1)
    #expect(service.latestFix?.time == MonotonicTime(nanoseconds: 0))
  }

  @Test func aRequestWaitsForABetterFixNotForEver() async throws {
    let (service, client, _) = Self.service(fixes(60, accuracy: 40))
    try client.requestFix()
    for try await event in client.events {
      guard case .requestedFix(let fix) = event else { continue }
      #expect(fix.horizontalAccuracy == 40)
      break
    }
    #expect(service.latestFix?.time == MonotonicTime(nanoseconds: 10_000_000_000))
  }

  @Test func aCircleIsEnteredAndLeft() async throws {
    let (_, client, _) = Self.service(fixes(2000, metersNorth: 1.5))
    let center = try #require(Coordinate(latitude: 52.5, longitude: 13.4)).moved(1500, toward: 0)
    let region = try CircularRegion(identifier: "fair", center: center, radius: 300)
    try client.register(MonitoredCircle(region))
    let events = try await Self.events(of: client)
    let changes = events.compactMap { event in
      if case .circle(let event) = event { event.transition.change } else { nil }
    }
    #expect(changes.filter(\.isCrossing) == [.enter, .exit])
    #expect(changes.first == .determined(.outside))
    #expect(client.snapshot(ofCircle: "fair")?.state == .outside)
  }

  @Test func theStateOfAnyCircleIsAnswered() async throws {
    let (_, client, _) = Self.service(fixes(300))
    let center = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let region = try CircularRegion(identifier: "here", center: center, radius: 1000)
    client.requestState(of: region)
    for try await event in client.events {
      guard case .circleState(let answered, let state) = event else { continue }
      #expect(answered == region && state == .inside)
      break
    }
    #expect(client.circles.isEmpty)
  }

  @Test(arguments: [LocationHealth.Subject.headings, .locations])
  func aFaultOfTheCompassIsNoneOfLocations(_ subject: LocationHealth.Subject) async throws {
    let fault = LocationHealth(
      .noReceiver, of: subject, at: MonotonicTime(nanoseconds: 0), sentence: "there is none")
    let (service, client, _) = Self.service(fixes(300), health: [fault])
    let center = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
    let region = try CircularRegion(identifier: "here", center: center, radius: 1000)
    client.requestState(of: region)
    var reported: [LocationHealth] = []
    for try await event in client.events {
      if case .health(let health, at: _) = event { reported.append(health) }
      guard case .circleState(_, let state) = event else { continue }
      #expect(state == (subject == .headings ? .inside : .unknown))
      break
    }
    #expect(reported == [fault])
    #expect(service.health == (subject == .headings ? nil : fault))
  }

  @Test func headingsAreTrueWhereLocationsAreUpdated() async throws {
    let reading = PositionInput.compass(
      CompassReading(
        time: MonotonicTime(nanoseconds: 2_000_000_000),
        timestamp: WallClockTime(nanoseconds: 1_767_000_002_000_000_000), magneticHeading: 90))
    let (_, client, _) = Self.service(fixes(1) + [reading])
    try client.startUpdates()
    try client.startHeadings()
    let headings = try await Self.events(of: client).compactMap { event in
      if case .heading(let heading) = event { heading } else { nil }
    }
    let heading = try #require(headings.first)
    // Berlin, 2025: some 5 degrees east.
    #expect(abs(try #require(heading.trueHeading) - 95) < 1)
  }

  @Test func significantChangesAndVisitsBelongToTheGroup() async throws {
    let drive = fixes(400, metersNorth: 10)
    let stay = fixes(1200, from: (52.536, 13.4), second: 400)
    let (_, client, _) = Self.service(drive + stay)
    try client.startSignificantChanges()
    try client.startVisits()
    let events = try await Self.events(of: client)
    let changes = events.compactMap { event in
      if case .significantChange(let fix) = event {
        fix.time.nanoseconds / 1_000_000_000
      } else {
        nil
      }
    }
    #expect(changes.first == 0)
    #expect(zip(changes.dropFirst(), changes).allSatisfy { $0 - $1 >= 299 }, "one in five minutes")
    let visits = events.compactMap { event in
      if case .visit(let visit) = event { visit } else { nil }
    }
    #expect(visits.count == 1)
    #expect(visits.first?.departure == nil && visits.first?.arrival != nil)
  }
}
