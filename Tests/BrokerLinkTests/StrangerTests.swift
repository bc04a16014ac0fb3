import TestDaemons
import TestSupport
import Testing

@testable import BrokerLink

/// What the broker retains of regions that are gone.
@Suite struct StrangerTests {
  private func region(_ number: Int) -> BrokerRegion { BrokerRegion("region \(number)") }

  @Test func `regions that are gone are removed, however many they are`() {
    var publisher = Publisher(
      BrokerConfiguration(host: "localhost", node: "kiosk"), position: 0)
    publisher.begin()
    // The broker sends what it retains before the regions are known.
    let count = 5000
    for number in 0..<count {
      for entity in publisher.discovery.entities(of: region(number)) {
        publisher.receive(
          BrokerMessage(topic: entity.topic, payload: [0x7B], isRetained: true))
      }
    }
    publisher.setRegions([region(0)])
    publisher.setBeacons([:])
    // And some of it after that.
    for entity in publisher.discovery.entities(of: region(count)) {
      publisher.receive(
        BrokerMessage(topic: entity.topic, payload: [0x7B], isRetained: true))
    }
    var removed: Set<String> = []
    while let message = publisher.outbox.next() {
      if message.payload.isEmpty { removed.insert(message.topic) }
      publisher.outbox.acknowledge(message.token)
    }
    let gone = (1...count).flatMap { publisher.discovery.entities(of: region($0)).map(\.topic) }
    #expect(Set(gone).subtracting(removed).isEmpty)
    #expect(
      publisher.discovery.entities(of: region(0)).allSatisfy { !removed.contains($0.topic) })
  }
}

@Suite(.blocking, .mosquitto) struct RetainedStrangerTests {
  @Test func `a broker's retained entities are removed beyond those that it queues`() throws {
    let scene = try Scene()
    let first = try scene.link()
    first.update { $0.setRegions((0..<2000).map { BrokerRegion("region \($0)") }) }
    first.update { $0.setBeacons([:]) }
    first.start()
    #expect(eventually { first.status.waiting == 0 && first.status.published > 4000 })
    first.stop()
    let second = try scene.link()
    second.update { $0.setRegions([BrokerRegion("region 0")]) }
    second.update { $0.setBeacons([:]) }
    second.start()
    #expect(
      eventually {
        guard let subscriber = try? scene.subscriber() else { return false }
        let config = "homeassistant/binary_sensor/beaconscan_kiosk/region_region_0"
        return eventually { subscriber.newest.keys.contains { $0.hasPrefix(config) } }
          && subscriber.newest.keys.count { $0.hasSuffix("/config") } < 20
      })
    second.stop()
  }
}
