import Storage
import Synchronization
import Testing

@testable import ServiceCore

@Suite struct StoredDeliveriesTests {
  /// An app may name any number of groups.
  @Test func aGroupWithoutClientsAndEventsIsForgotten() {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    let deliveries = StoredDeliveries(RegistrationStore(configuration))
    let received = Mutex<[ServiceDelivery]>([])
    let group = ClientGroup("kitchen")
    let client = Client(
      ClientIdentifier(rawValue: 1), in: group,
      sink: .function { delivery in received.withLock { $0.append(delivery) } }, isReceiving: true,
      pacesRecordings: false, resume: {})
    let key = Store.Key(service: "ticks", group: group.name, identifier: "tea")
    func alarm(_ id: Int64) -> StoredEvent {
      StoredEvent(event: TickEvent.alarm("tea", at: 1), id: id, key: key, pace: nil)
    }
    deliveries.setReceivers([client], of: group, hasArrival: true)
    deliveries.append([alarm(1)])
    deliveries.send(to: group)
    deliveries.setReceivers([], of: group, hasArrival: true)
    deliveries.send(to: group)
    // The client has not finished its event.
    #expect(deliveries.groupCount == 1)
    received.withLock { $0 }.first?.complete()
    #expect(deliveries.groupCount == 0)
    deliveries.append([alarm(2)])
    deliveries.send(to: group)
    #expect(deliveries.groupCount == 1)
    deliveries.removeEvents(of: key)
    #expect(deliveries.groupCount == 0)
    // A later event is delivered as before.
    deliveries.append([alarm(3)])
    deliveries.setReceivers([client], of: group, hasArrival: true)
    deliveries.send(to: group)
    #expect(received.withLock { $0.map(\.entry) } == [1, 3])
  }
}
