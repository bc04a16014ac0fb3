import Records
import Regions
import Scanning
import ServiceCore

@testable import HTTPServing
@testable import KioskService

/// A server for tests, on a hub without a source.
struct RunningServer {
  let hub: KioskHub
  let port: Int

  /// What a request for a region reaches.
  private struct Control: KioskControl {
    func set(_ name: String, _ request: RegionRequest) async -> Bool { true }
    func remove(_ name: String) async {}
    func approach(to name: String) -> Approach? { nil }
  }

  /// Runs a server while a function runs.
  static func run(
    on address: HTTPServer.Address = .host("127.0.0.1", port: 0),
    _ limits: ClientLimits = ClientLimits(), rules: AccessRules = AccessRules(),
    _ body: (RunningServer) async throws -> Void
  ) async throws {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    let format = EventFormat(rules: .standard)
    configuration.journalFormat = { format.describe($0) }
    let manager = ServiceManager(configuration)
    let hub = KioskHub(
      manager.journal, format: format, isRecorded: false, version: "1",
      now: { WallClockTime(nanoseconds: 0) }, isReceiving: { (false, false) })
    defer { withExtendedLifetime(manager) {} }
    let counts = RequestCounts()
    let routes = Routes(
      hub: hub, control: Control(), countsOfCore: { KioskCounts() }, counts: counts, consent: nil)
    let server = HTTPServer(routes, rules: rules, counts: counts, limits: limits)
    let (ready, answer) = AsyncStream.makeStream(of: Result<[Int?], ServiceFailure>.self)
    let task = Task.detached {
      do throws(ServiceFailure) {
        try await server.run(on: [address]) { answer.yield(.success($0)) }
      } catch {
        answer.yield(.failure(error))
      }
      answer.finish()
    }
    var ports: [Int?] = []
    for await result in ready {
      ports = try result.get()
      break
    }
    do {
      try await body(RunningServer(hub: hub, port: ports.first.flatMap { $0 } ?? 0))
    } catch {
      task.cancel()
      await task.value
      throw error
    }
    task.cancel()
    await task.value
  }

  func connect() throws -> RawClient { try RawClient(port: port) }
}
