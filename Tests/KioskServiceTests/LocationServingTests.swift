import BeaconTesting
import Glibc
import LocationSources
import Logging
import Positioning
import Regions
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import HTTPServing
@testable import KioskService
@testable import ServiceCore

/// The whole service with a position, over its socket.
@Suite(.blocking, .timeLimit(.minutes(10))) struct LocationServingTests {
  private static func circle(_ name: String, _ latitude: Double) throws -> CircularRegion {
    let center = try #require(Coordinate(latitude: latitude, longitude: 13.3777))
    return try CircularRegion(identifier: name, center: center, radius: 200)
  }

  /// A position that is found when the test says so.
  private final class HeldSource: LocationSource {
    private let fixed: FixedSource
    private let isHeld: Atomic<Bool>

    init(_ place: Coordinate, isHeld: Bool) {
      fixed = FixedSource(place)
      self.isHeld = Atomic(isHeld)
    }

    func release() { isHeld.store(false, ordering: .relaxed) }

    var name: String { fixed.name }
    var isRecorded: Bool { fixed.isRecorded }
    var reportsOnlyChanges: Bool { fixed.reportsOnlyChanges }
    var availability: ScannerAvailability { fixed.availability }

    func receive(
      for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
    ) throws -> LocationProgress {
      if !isHeld.load(ordering: .relaxed) {
        return try fixed.receive(for: demand, until: deadline, into: &inputs)
      }
      inputs = []
      usleep(2000)
      return .live()
    }

    func wake() { fixed.wake() }
    func rest() { fixed.rest() }
  }

  /// Runs a service at a place until a function has returned.
  private func serve(
    _ circles: [CircularRegion], isHeld: Bool = false,
    _ body: @escaping @Sendable (String, HeldSource) throws -> Void
  ) async throws {
    let scratch = try Scratch()
    let path = scratch["socket"]
    var access = AccessRules()
    access.token = Array("secret".utf8)
    let configuration = ServiceConfiguration(
      version: "1", addresses: [.unix(path: path)], access: access,
      regions: RegionConfiguration(regions: [], circles: circles, rules: .standard, names: [:]) {
        _ in
        .standard
      }, beacons: BeaconService.Configuration())
    let place = try #require(Coordinate(latitude: 52.5163, longitude: 13.3777))
    let source = HeldSource(place, isHeld: isHeld)
    let service = try ServiceRun(
      configuration, scanner: ScriptedScanner(isRecorded: false), locationSource: source,
      log: ServiceLog(isQuiet: true) { _ in }, logger: Logger(label: "test"))
    let failure = Mutex<(any Error)?>(nil)
    try await service.run(reload: { _, _ in }) {
      #expect(eventually { (try? RawClient(path: path)) != nil })
      do { try body(path, source) } catch { failure.withLock { $0 = error } }
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  private func get(_ target: String, _ path: String) throws -> RawClient.Answer {
    let client = try RawClient(path: path)
    client.request("GET", target)
    return try client.answer()
  }

  @Test func thePlaceAndItsCirclesAreServed() async throws {
    let circles = [try Self.circle("here", 52.5163), try Self.circle("there", 53)]
    try await serve(circles) { path, _ in
      // The position is a fix as soon as somebody asks.
      let location = try get("/api/v1/location", path)
      #expect(location.status == 200)
      #expect(location.body.contains(#""latitude":52.5163,"longitude":13.3777"#))
      #expect(
        try eventually {
          let body = try get("/api/v1/regions/here", path).body
          return body.contains(#""state":"inside""#) && body.contains(#""uuid":null"#)
            && body.contains(#""radius":200"#)
        }, "the circle is entered")
      #expect(try get("/api/v1/regions/there", path).body.contains(#""state":"outside""#))
      let history = try get("/api/v1/history?region=here", path).body
      #expect(history.components(of: #""type":"enter""#) == 1)
      #expect(try get("/metrics", path).body.contains("beaconscan_fixes_total "))
      #expect(try get("/api/v1/health", path).body.contains(#""locationSources":[{"#))
    }
  }

  /// A name may begin with a character that combines with what the database writes before it.
  @Test func aCircleThatIsRemovedIsGone() async throws {
    try await serve([]) { path, _ in
      let body = #"{"latitude":52.5163,"longitude":13.3777,"radius":200}"#
      let token = "Authorization: Bearer secret\r\n"
      let client = try RawClient(path: path)
      client.request(
        "PUT", "/api/v1/regions/%CC%81x",
        token + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n")
      client.send(body)
      let set = try client.answer()
      #expect(set.status < 300, "\(set.body)")
      client.request("DELETE", "/api/v1/regions/%CC%81x", token)
      #expect(try client.answer().status == 204)
      let regions = try get("/api/v1/regions", path)
      #expect(regions.body == #"{"regions":[]}"#)
    }
  }

  @Test func aStreamHasTheFixAsAValue() async throws {
    try await serve([], isHeld: true) { path, source in
      let client = try RawClient(path: path)
      client.request("GET", "/api/v1/events")
      // A fix that came before the snapshot would be part of it.
      _ = try client.text(until: "event: snapshot\ndata: {")
      source.release()
      let text = try client.text(until: "event: fix\ndata: {\"type\":\"fix\"")
      #expect(text.contains(#""location":{"fix":null"#))
      // A value has no identifier: it is not sent again to a client that comes back.
      #expect(!text.contains("id: 0\nevent: fix"))
    }
  }

  @Test func withoutASourceThereIsNoLocation() async throws {
    try await RunningServer.run { server in
      let client = try server.connect()
      client.request("GET", "/api/v1/location")
      let answer = try client.answer()
      #expect(answer.status == 404)
      #expect(answer.body.contains("start it with --source"))
    }
  }
}

extension String {
  /// Returns how often a text occurs.
  fileprivate func components(of text: String) -> Int {
    var (count, rest) = (0, self[...])
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
