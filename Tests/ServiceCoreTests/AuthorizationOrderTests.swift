import Dispatch
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

/// The status that clients and services end with, and how much of it waits.
@Suite struct AuthorizationOrderTests {
  /// Returns the rule that it had when it was called, and returns late where a test wants that.
  private final class SlowProvider: AuthorizationProvider {
    let rule = Mutex(AuthorizationRule.denied)
    let waits = Atomic<Bool>(false)
    let isWaiting = DispatchSemaphore(value: 0)
    let goesOn = DispatchSemaphore(value: 0)

    func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
      let rule = rule.withLock { $0 }
      if waits.exchange(false, ordering: .relaxed) {
        isWaiting.signal()
        goesOn.wait()
      }
      return rule
    }
  }

  @Test func theLatestReadingCounts() throws {
    let provider = SlowProvider()
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = provider
    let manager = ServiceManager(configuration)
    let source = TickSource()
    let host = ServiceHost(TickService(), source: source, manager: manager)
    let client = manager.addClient()
    host.update { service, _ in service.listen(client, every: 1) }
    provider.waits.store(true, ordering: .relaxed)
    let isOver = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      manager.checkAuthorization()
      isOver.signal()
    }
    provider.isWaiting.wait()
    provider.rule.withLock { $0 = .granted(.authorizedAlways) }
    manager.checkAuthorization()
    #expect(host.read { $0.demand?.demand.every } == 1)
    provider.goesOn.signal()
    isOver.wait()
    // The one that came late changes nothing.
    #expect(manager.authorizationStatus == .authorizedAlways)
    #expect(host.read { $0.demand?.demand.every } == 1)
    source.stop()
  }

  @Test func ofAStatusThatIsNotReadTheLatestWaits() async throws {
    let provider = SlowProvider()
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    configuration.authorization = provider
    let manager = ServiceManager(configuration)
    let client = manager.addClient()
    for number in 0..<10000 {
      provider.rule.withLock { $0 = number % 2 == 0 ? .restricted : .granted(.authorizedAlways) }
      manager.checkAuthorization()
    }
    client.send(TickEvent.tick(1))
    let first = await client.nextDelivery()
    #expect((first?.event as? AuthorizationEvent)?.status == .authorizedAlways)
    #expect(await client.nextDelivery()?.event as? TickEvent == .tick(1))
  }

  @Test func anEventOfNoServiceIsDroppedWhereTooManyWait() async throws {
    let process = SeamTests.Process()
    let client = process.manager.addClient()
    for number in 0..<5000 { client.send(TickEvent.tick(number)) }
    process.manager.addClient().remove()
    var count = 0
    while count < 4096, await client.nextDelivery() != nil { count += 1 }
    client.send(TickEvent.tick(-1))
    #expect(await client.nextDelivery()?.event as? TickEvent == .tick(-1))
  }
}
