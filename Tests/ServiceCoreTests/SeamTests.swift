import Foundation
import Scanning
import ServiceCore
import Storage
import Synchronization
import TestSupport
import Testing

/// The seam between the core and a service, shown by a clock that ticks.
@Suite struct SeamTests {
  final class Always: AuthorizationProvider {
    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
      .granted(.authorizedAlways)
    }
  }

  /// A process: a manager, its clock, and what one client received.
  final class Process: Sendable {
    let manager: ServiceManager
    let source = TickSource()
    let host: ServiceHost<TickService>
    let received = Mutex<[TickEvent]>([])

    init(_ persistence: ServiceManager.Persistence = .none) {
      var configuration = ServiceManager.Configuration()
      configuration.persistence = persistence
      configuration.authorization = Always()
      manager = ServiceManager(configuration)
      host = ServiceHost(TickService(), source: source, manager: manager)
    }

    func addClient(in group: ClientGroup = .application) -> ServiceClient {
      manager.addClient(in: group) { [self] delivery in
        if let event = delivery.event as? TickEvent { received.withLock { $0.append(event) } }
        delivery.acknowledge()
        delivery.finish()
      }
    }

    /// Waits until the client has so many events.
    func events(_ count: Int) async throws -> [TickEvent] {
      await eventually { received.withLock { $0.count } >= count }
      return received.withLock { $0 }
    }

    /// Waits until the events of a tick are stored.
    func stored(_ tick: Int) async {
      await eventually { host.read { $0.latestTick } >= tick }
      manager.flush()
    }
  }

  /// A file in a directory that is removed at the end of the process.
  static func temporaryFile() -> String {
    let scratch = try? Scratch()
    scratches.withLock { $0.append(scratch) }
    return scratch?["core.sqlite"] ?? ""
  }

  private static let scratches = Mutex<[Scratch?]>([])

  @Test func demandStartsTheSourceAndItsEndRestsIt() async throws {
    let process = Process()
    let client = process.addClient()
    process.source.tick(1)
    try await Task.sleep(for: .milliseconds(50))
    #expect(process.source.state.withLock { $0.demands.isEmpty })
    process.host.update { service, _ in service.listen(client, every: 2) }
    process.source.tick(2)
    #expect(try await process.events(1) == [.tick(2)])
    #expect(process.source.state.withLock { $0.demands } == [2])
    client.remove()
    await eventually { process.source.state.withLock { $0.rests } > 0 }
    #expect(process.source.state.withLock { $0.rests } == 1)
  }

  @Test func aFailureIsReportedOnce() async throws {
    let process = Process()
    let client = process.addClient()
    process.host.update { service, _ in service.listen(client, every: 1) }
    process.source.tick(1)
    process.source.stop()
    let events = try await process.events(2)
    #expect(events == [.tick(1), .ended("a clock: Stopped()")])
    #expect(process.host.failure is TickSource.Stopped)
    #expect(process.host.end == "a clock: Stopped()")
  }

  @Test func registrationsAndEventsOutliveTheProcess() async throws {
    let file = Self.temporaryFile()
    do {
      let process = Process(.file(file))
      // No client of the group receives: the alarm waits for one.
      let client = process.addClient()
      process.host.update { service, output in
        service.set(
          .init(at: 5), named: "tea", in: ClientGroup("kitchen"), into: &output)
      }
      process.source.tick(5)
      await process.stored(5)
      client.remove()
      process.source.stop()
    }
    await eventually { (try? Store(.file(file))) != nil }
    let process = Process(.file(file))
    _ = process.addClient(in: ClientGroup("kitchen"))
    #expect(try await process.events(1) == [.alarm("tea", at: 5)])
    #expect(process.host.read { $0.alarmNames } == ["tea"])
    process.source.stop()
  }

  @Test func aClientThatCannotReceiveGetsItsStoredEventsLater() async throws {
    let file = Self.temporaryFile()
    let process = Process(.file(file))
    let client = process.addClient()
    client.setReceiving(false)
    process.host.update { service, output in
      service.set(.init(at: 1), named: "now", in: .application, into: &output)
    }
    process.source.tick(1)
    await process.stored(1)
    #expect(process.received.withLock { $0.isEmpty })
    client.setReceiving(true)
    #expect(try await process.events(1) == [.alarm("now", at: 1)])
    process.source.stop()
  }

  @Test func demandsAndEventsCanBeEncoded() throws {
    let client = ClientIdentifier(rawValue: 7)
    let event = TickEvent.alarm("tea", at: 3)
    #expect(
      try JSONDecoder().decode(ClientIdentifier.self, from: JSONEncoder().encode(client)) == client)
    #expect(try JSONDecoder().decode(TickEvent.self, from: JSONEncoder().encode(event)) == event)
    let demand = try JSONDecoder().decode(
      TickSource.Demand.self, from: JSONEncoder().encode(TickSource.Demand(every: 4)))
    #expect(demand.every == 4)
  }
}
