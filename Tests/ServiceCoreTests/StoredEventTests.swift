import Dispatch
import Foundation
import Scanning
import ServiceCore
import Storage
import Synchronization
import TestSupport
import Testing

/// Events that are stored, on a disk that is slow, and clients that are.
@Suite struct StoredEventTests {
  typealias Process = SeamTests.Process

  /// A process whose store is busy from the alarm "block" on until the test releases it: the client that
  /// receives the alarm does so on the store's queue.
  private final class BusyProcess: Sendable {
    let process: Process
    let file = SeamTests.temporaryFile()
    private let isBusy = DispatchSemaphore(value: 0)
    private let release = DispatchSemaphore(value: 0)

    init() {
      process = Process(.file(file))
      _ = process.manager.addClient(in: ClientGroup("busy")) { [isBusy, release] delivery in
        if case .alarm? = delivery.event as? TickEvent {
          isBusy.signal()
          release.wait()
        }
        delivery.acknowledge()
        delivery.finish()
      }
      set("block", at: 1, in: ClientGroup("busy"))
    }

    func set(_ name: String, at tick: Int, in group: ClientGroup = .application) {
      process.host.update { service, output in
        service.set(.init(at: tick), named: name, in: group, into: &output)
      }
    }

    func block() {
      process.manager.flush()
      process.source.tick(1)
      isBusy.wait()
    }

    func resume() { release.signal() }

    deinit { process.source.stop() }
  }

  @Test func theEndComesAfterTheEventsThatAreBeingStored() async throws {
    let busy = BusyProcess()
    let process = busy.process
    _ = process.addClient()
    busy.set("tea", at: 2)
    busy.block()
    process.source.tick(2)
    process.source.stop()
    await eventually { process.host.end != nil }
    // An end that did not wait would be received now.
    try await Task.sleep(for: .milliseconds(50))
    busy.resume()
    #expect(
      try await process.events(2) == [.alarm("tea", at: 2), .ended("a clock: Stopped()")])
  }

  @Test func anEventThatIsBeingStoredGoesWithItsRegistration() async throws {
    let busy = BusyProcess()
    let process = busy.process
    _ = process.addClient()
    busy.set("tea", at: 2)
    busy.set("coffee", at: 3)
    busy.block()
    process.source.tick(2)
    // The alarm is on its way to the disk when ticks go on.
    let client = process.manager.addClient(in: ClientGroup("ticks"))
    process.host.update { service, _ in service.listen(client, every: 1) }
    process.source.tick(4)
    while let delivery = await client.nextDelivery() {
      delivery.finish()
      if delivery.event as? TickEvent == .tick(4) { break }
    }
    process.host.update { service, output in
      service.cancel("tea", in: .application, into: &output)
    }
    await withCheckedContinuation { continuation in
      process.host.afterOutput { continuation.resume() }
    }
    process.source.tick(3)
    busy.resume()
    #expect(try await process.events(1) == [.alarm("coffee", at: 3)])
  }

  @Test func anEventThatWaitsForItsReaderGoesWithItsRegistration() async throws {
    let process = Process()
    defer { process.source.stop() }
    let client = process.manager.addClient()
    for (name, tick) in [("tea", 1), ("coffee", 2)] {
      process.host.update { service, output in
        service.set(.init(at: tick), named: name, in: .application, into: &output)
      }
    }
    let listener = process.addClient(in: ClientGroup("ticks"))
    process.host.update { service, _ in service.listen(listener, every: 1) }
    process.source.tick(1)
    _ = try await process.events(1)
    process.host.update { service, output in
      service.cancel("tea", in: .application, into: &output)
    }
    process.source.tick(2)
    _ = try await process.events(2)
    var alarms: [TickEvent] = []
    while alarms.isEmpty, let delivery = await client.nextDelivery() {
      if let event = delivery.event as? TickEvent { alarms.append(event) }
    }
    #expect(alarms == [.alarm("coffee", at: 2)])
  }

  @Test func aServiceThatComesLateIsRestoredAndAuthorized() async throws {
    let file = SeamTests.temporaryFile()
    do {
      let process = Process(.file(file))
      process.host.update { service, output in
        service.set(.init(at: 5), named: "tea", in: .application, into: &output)
      }
      process.manager.flush()
    }
    await eventually { (try? Store(.file(file))) != nil }
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .file(file)
    configuration.authorization = SeamTests.Always()
    let manager = ServiceManager(configuration)
    let client = manager.addClient()
    #expect(manager.authorizationStatus == .authorizedAlways)
    let source = TickSource()
    let host = ServiceHost(TickService(), source: source, manager: manager)
    #expect(host.read { $0.alarmNames } == ["tea"])
    #expect(host.read { $0.demand?.demand.every } == 1)
    source.stop()
    client.remove()
  }

  @Test func flushingWaitsForWhatWasRegistered() throws {
    let (file, copy) = (SeamTests.temporaryFile(), SeamTests.temporaryFile())
    let process = Process(.file(file))
    _ = process.addClient()
    for number in 0..<3000 {
      process.host.update { service, output in
        service.set(.init(at: .max), named: "\(number)", in: .application, into: &output)
      }
    }
    process.manager.flush()
    for suffix in ["", "-wal", "-readers", "-log-1", "-log-2"] {
      try FileManager.default.copyItem(atPath: file + suffix, toPath: copy + suffix)
    }
    #expect(try Store(.file(copy)).registrations.count == 3000)
    process.source.stop()
  }

  @Test func aSlowReaderGetsWhatWaitedInTheStore() async throws {
    let file = SeamTests.temporaryFile()
    let process = Process(.file(file))
    defer { process.source.stop() }
    let client = process.manager.addClient()
    process.host.update { service, output in
      for number in 0..<5000 {
        service.set(.init(at: 1), named: "\(number)", in: .application, into: &output)
      }
      service.set(.init(at: 2), named: "last", in: .application, into: &output)
    }
    process.source.tick(1)
    await process.stored(1)
    process.source.tick(2)
    let received = Mutex<[TickEvent]>([])
    let reading = Task {
      while let delivery = await client.nextDelivery() {
        delivery.acknowledge()
        delivery.finish()
        if let event = delivery.event as? TickEvent { received.withLock { $0.append(event) } }
      }
    }
    await eventually { received.withLock { $0.count } >= 5001 }
    reading.cancel()
    let events = received.withLock { $0 }
    #expect(events.count == 5001)
    #expect(Set(events).count == 5001)
    #expect(events.last == .alarm("last", at: 2))
  }

  @Test func withoutADatabaseEventsWaitForAClientToo() async throws {
    let process = Process()
    defer { process.source.stop() }
    let client = process.addClient()
    client.setReceiving(false)
    process.host.update { service, output in
      service.set(.init(at: 1), named: "now", in: .application, into: &output)
    }
    let listener = process.manager.addClient(in: ClientGroup("ticks"))
    process.host.update { service, _ in service.listen(listener, every: 1) }
    process.source.tick(1)
    while let delivery = await listener.nextDelivery() {
      if delivery.event is TickEvent { break }
    }
    process.manager.flush()
    client.setReceiving(true)
    #expect(try await process.events(1) == [.alarm("now", at: 1)])
  }

  /// The events that a process that is started now would deliver.
  private func undelivered(_ file: String) throws -> Int {
    let copy = SeamTests.temporaryFile()
    for suffix in ["", "-wal", "-readers", "-log-1", "-log-2"] {
      try FileManager.default.copyItem(atPath: file + suffix, toPath: copy + suffix)
    }
    return try Store(.file(copy)).undelivered.count
  }

  @Test func theFirstClientThatHasDealtWithAnEventCounts() async throws {
    let file = SeamTests.temporaryFile()
    let process = Process(.file(file))
    defer { process.source.stop() }
    // One that never reads, and one that reads later.
    let (silent, reader) = (process.manager.addClient(), process.manager.addClient())
    process.host.update { service, output in
      service.set(.init(at: 1), named: "tea", in: .application, into: &output)
    }
    process.source.tick(1)
    while let delivery = await reader.nextDelivery() {
      guard delivery.event is TickEvent else { continue }
      // The files are copied one after the other, so no transaction may be under way.
      process.manager.flush()
      #expect(try undelivered(file) == 1)
      delivery.acknowledge()
      break
    }
    #expect(try undelivered(file) == 0)
    // The other one receives it all the same.
    while let delivery = await silent.nextDelivery() {
      guard let event = delivery.event as? TickEvent else { continue }
      #expect(event == .alarm("tea", at: 1))
      break
    }
  }

  @Test func aFullClientReceivesLaterWhatAnotherHasTaken() async throws {
    let file = SeamTests.temporaryFile()
    let process = Process(.file(file))
    defer { process.source.stop() }
    let slow = process.manager.addClient()
    _ = process.addClient()
    process.host.update { service, output in
      for number in 0..<5000 {
        service.set(.init(at: 1), named: "\(number)", in: .application, into: &output)
      }
    }
    process.source.tick(1)
    #expect(try await process.events(5000).count == 5000)
    var received: Set<TickEvent> = []
    while received.count < 5000, let delivery = await slow.nextDelivery() {
      delivery.acknowledge()
      delivery.finish()
      if let event = delivery.event as? TickEvent { received.insert(event) }
    }
    #expect(received.count == 5000)
    process.manager.flush()
    #expect(try undelivered(file) == 0)
  }

  /// A delegate is set while the event is on its way to where there was none.
  @Test func anEventThatIsKeptWhileAClientBeginsToReceiveIsDelivered() async throws {
    let process = Process()
    defer { process.source.stop() }
    let deliveries = Mutex<[TickEvent]>([])
    let client = Mutex<ServiceClient?>(nil)
    let identifier = process.manager.addClient { delivery in
      guard let event = delivery.event as? TickEvent else { return }
      let isFirst = deliveries.withLock { deliveries in
        deliveries.append(event)
        return deliveries.count == 1
      }
      if isFirst, let client = client.withLock({ $0 }) {
        client.setReceiving(true)
      } else {
        delivery.acknowledge()
      }
      delivery.finish()
    }
    client.withLock { $0 = identifier }
    process.host.update { service, output in
      service.set(.init(at: 1), named: "tea", in: .application, into: &output)
    }
    process.source.tick(1)
    #expect(await eventually { deliveries.withLock { $0.count } == 2 })
    // The event does not wait any more.
    identifier.setReceiving(false)
    identifier.setReceiving(true)
    #expect(deliveries.withLock { $0.count } == 2)
  }

  /// A client that refuses the alarm "tea", and keeps the others.
  private final class Refuser: Sendable {
    let kept = Mutex<[ServiceDelivery]>([])

    func receive(_ delivery: ServiceDelivery) {
      if case .alarm(let name, _)? = delivery.event as? TickEvent, name != "tea" {
        kept.withLock { $0.append(delivery) }
      } else {
        delivery.finish()
      }
    }
  }

  private func start(_ refuser: Refuser, _ file: String) async throws -> Process {
    let process = Process(.file(file))
    _ = process.manager.addClient { refuser.receive($0) }
    process.host.update { service, output in
      for (name, tick) in [("tea", 1), ("coffee", 2)] {
        service.set(.init(at: tick), named: name, in: .application, into: &output)
      }
    }
    process.source.tick(1)
    process.source.tick(2)
    #expect(await eventually { refuser.kept.withLock { $0.count } == 1 })
    process.manager.flush()
    return process
  }

  @Test(.timeLimit(.minutes(10)))
  func whatGoesWithItsRegistrationHoldsNoLaterEventBack() async throws {
    let (file, refuser) = (SeamTests.temporaryFile(), Refuser())
    let process = try await start(refuser, file)
    defer { process.source.stop() }
    for delivery in refuser.kept.withLock({ $0 }) { delivery.acknowledge() }
    #expect(try undelivered(file) == 2)
    process.host.update { service, output in
      service.cancel("tea", in: .application, into: &output)
    }
    process.manager.flush()
    #expect(try undelivered(file) == 0)
  }

  @Test(.timeLimit(.minutes(10)))
  func whatIsDealtWithAfterTheManagerIsGoneTakesNoEarlierEventAway() async throws {
    let (file, refuser) = (SeamTests.temporaryFile(), Refuser())
    var process: Process? = try await start(refuser, file)
    weak let manager = process?.manager
    process?.source.stop()
    process = nil
    #expect(await eventually { manager == nil })
    for delivery in refuser.kept.withLock({ $0 }) { delivery.acknowledge() }
    #expect(try undelivered(file) == 2)
  }
}
