import Dispatch
import ServiceCore
import Synchronization
import TestSupport
import Testing

/// The order in which the stored events of a group are delivered, whichever threads deliver them.
@Suite struct StoredOrderTests {
  typealias Process = SeamTests.Process

  /// The alarms that a client received; it stands still with the first one where a test wants that.
  private final class Log: Sendable {
    let received = Mutex<[Int]>([])
    let isWaiting = DispatchSemaphore(value: 0)
    private let goesOn = DispatchSemaphore(value: 0)
    private let waits: Bool

    init(waits: Bool = false) { self.waits = waits }

    func receive(_ delivery: ServiceDelivery) {
      if case .alarm(_, let tick)? = delivery.event as? TickEvent {
        let count = received.withLock { received in
          received.append(tick)
          return received.count
        }
        if waits, count == 1 {
          isWaiting.signal()
          goesOn.wait()
        }
      }
      delivery.acknowledge()
      delivery.finish()
    }

    func resume() { goesOn.signal() }

    func hasReceived(_ count: Int) async -> Bool {
      await eventually { received.withLock { $0.count } >= count }
    }
  }

  private static func set(_ ticks: ClosedRange<Int>, in process: Process) {
    process.host.update { service, output in
      for tick in ticks {
        service.set(.init(at: tick), named: "\(tick)", in: .application, into: &output)
      }
    }
  }

  /// Waits until what the ticks so far brought about is delivered or waits for a client.
  private static func finish(_ tick: Int, in process: Process) async {
    let client = process.manager.addClient(in: ClientGroup("ticks"))
    process.host.update { service, _ in service.listen(client, every: 1) }
    process.source.tick(tick)
    while let delivery = await client.nextDelivery() {
      if delivery.event as? TickEvent == .tick(tick) { break }
    }
    await withCheckedContinuation { continuation in
      process.host.afterOutput { continuation.resume() }
    }
    client.remove()
  }

  @Test func aNewEventComesAfterThoseThatWaited() async {
    let process = Process()
    defer { process.source.stop() }
    let log = Log(waits: true)
    let client = process.manager.addClient(isReceiving: false) { log.receive($0) }
    Self.set(1...3, in: process)
    await Self.finish(1, in: process)
    await Self.finish(2, in: process)
    DispatchQueue.global().async { client.setReceiving(true) }
    #expect(await eventually { log.isWaiting.wait(timeout: .now()) == .success })
    // The first one is being delivered, and the second one waits behind it.
    await Self.finish(3, in: process)
    log.resume()
    #expect(await log.hasReceived(3))
    #expect(log.received.withLock { $0 } == [1, 2, 3])
  }

  /// Without a database, what comes back has its place too.
  @Test func anEventThatComesBackIsFirst() async throws {
    let process = Process()
    defer { process.source.stop() }
    let reader = process.manager.addClient()
    Self.set(1...3, in: process)
    await Self.finish(1, in: process)
    reader.setReceiving(false)
    await Self.finish(2, in: process)
    // The first event comes back from it, while the second one waits already.
    reader.remove()
    await Self.finish(3, in: process)
    let log = Log()
    _ = process.manager.addClient { log.receive($0) }
    #expect(await log.hasReceived(3))
    #expect(log.received.withLock { $0 } == [1, 2, 3])
  }

  @Test(arguments: [false, true]) func theOrderStaysWhileClientsComeAndGo(isStored: Bool) async {
    let process = Process(isStored ? .file(SeamTests.temporaryFile()) : .none)
    defer { process.source.stop() }
    let log = Log()
    let client = process.manager.addClient { log.receive($0) }
    let count = 2000
    Self.set(1...count, in: process)
    await withTaskGroup { group in
      for _ in 0..<2 {
        group.addTask {
          while !Task.isCancelled {
            client.setReceiving(false)
            client.setReceiving(true)
            // It is given nothing, so that nothing comes back from it after later events were delivered.
            process.manager.addClient(isReceiving: false).remove()
            await Task.yield()
          }
        }
      }
      for tick in 1...count {
        process.source.tick(tick)
        if tick.isMultiple(of: 50) { try? await Task.sleep(for: .milliseconds(1)) }
      }
      #expect(await log.hasReceived(count))
      group.cancelAll()
    }
    #expect(log.received.withLock { $0 } == Array(1...count))
  }
}
