import Foundation
import Records
import Regions
import Scanning
import Storage
import TestSupport
import Testing

@testable import BrokerLink
@testable import KioskService
@testable import ServiceCore
@testable import Webhooks

/// The service's state machines, driven by a seeded scheduler: regions are registered, changed and removed; things happen
/// to them; streams come, go on and fall behind; a webhook and a broker accept, refuse, fail and come back. What each
/// reader was given is compared with what happened.
@Suite(.timeLimit(.minutes(10))) struct ServiceSimulationTests {
  /// `SERVICE_SEEDS=10000` as CI runs it, `SERVICE_SEED=17` for one.
  @Test func everyReaderHasWhatHappened() throws {
    let environment = ProcessInfo.processInfo.environment
    let one = environment["SERVICE_SEED"].flatMap(UInt64.init)
    let count = environment["SERVICE_SEEDS"].flatMap(UInt64.init) ?? 1000
    let start = ContinuousClock.now
    var (steps, events) = (0, 0)
    let seeds = one.map { $0...$0 } ?? 0...(count - 1)
    for seed in seeds {
      var simulation = ServiceSimulation(seed: seed)
      let wrong = simulation.run()
      #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(3))")
      steps += simulation.steps
      events += simulation.happened.count
      guard wrong.isEmpty else { return }
    }
    print("\(steps) steps with \(events) events in \(ContinuousClock.now - start)")
    #expect(events > 10 || one != nil)
  }
}

private struct ServiceSimulation {
  /// A client of the event stream.
  private struct Stream {
    var position: Int64
    /// The regions as the client has them: from its latest snapshot, and the events after it.
    var inside: [String: Bool]
    var received: [Int64]
    var missed = 0
    var isConnected = true
  }

  private var random: SplitMix64
  private let manager: ServiceManager
  private let hub: KioskHub
  /// What happened, in order.
  private(set) var happened: [Int64] = []
  private(set) var steps = 0
  /// The regions that are registered, and whether each is occupied.
  private var regions: [String: Bool] = [:]
  /// The entries and exits, which webhooks and brokers are given.
  private var crossings: [Int64] = []
  private var streams: [Stream] = []
  private var schedule: DeliverySchedule
  private let webhook: JournalReader
  private var delivered: [Int64] = []
  private var now = MonotonicTime(nanoseconds: 0)
  private var publisher: Publisher
  private let mqtt: JournalReader
  private var flying: [Outbox.Message] = []
  private var broker: [String: String] = [:]
  private var wrong: [String] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    var configuration = ServiceManager.Configuration()
    configuration.persistence = .none
    let format = EventFormat(rules: .standard)
    configuration.journalFormat = { format.describe($0) }
    manager = ServiceManager(configuration)
    hub = KioskHub(
      manager.journal, format: format, isRecorded: true, version: "1",
      now: { WallClockTime(nanoseconds: 0) }, isReceiving: { (true, true) })
    webhook = JournalReader(manager.journal, name: "w", kinds: ["enter", "exit"])
    mqtt = JournalReader(manager.journal, name: "m", kinds: ["enter", "exit"])
    schedule = DeliverySchedule(WebhookConfiguration([]), position: 0)
    publisher = Publisher(BrokerConfiguration(host: "h", node: "k"), position: 0)
  }

  mutating func run() -> [String] {
    for _ in 0..<(20 + random.next() % 60) {
      steps += 1
      step()
    }
    settle()
    return wrong
  }

  private mutating func step() {
    let name = "r\(random.next() % 4)"
    switch random.next() % 14 {
    case 0...1: register(name)
    case 2:
      if regions.removeValue(forKey: name) != nil {
        submit([.unregister(key(name))])
      }
    case 3...6: cross(name, count: Int(random.next() % 3) + 1)
    case 7: receiverChanges()
    case 8: connect()
    case 9...10: readStreams()
    case 11: attempt()
    case 12: publish()
    default:
      flying = []
      publisher.outbox.end()
      if random.next() % 2 == 0 { publisher.begin() }
    }
  }

  private func key(_ name: String) -> Store.Key {
    Store.Key(service: BeaconService.name, identifier: name)
  }

  /// Gives the journal items, and has the publisher follow what became of them.
  private mutating func submit(_ items: [Journal.Item]) {
    let before = manager.journal.latest
    manager.journal.submit(items)
    manager.journal.finish()
    let batch = manager.journal.read(after: before)
    for entry in batch.entries {
      happened.append(entry.id)
      if ["enter", "exit"].contains(entry.kind) { crossings.append(entry.id) }
      if entry.kind == "regions" { setRegions() }
    }
    follow()
  }

  private mutating func setRegions() {
    publisher.setRegions(
      hub.regions.map { BrokerRegion($0.name, state: $0.state, beacons: $0.beacons) })
  }

  /// Publishes the states as the service's link does.
  private mutating func follow() {
    for region in hub.regions {
      publisher.outbox.set(
        publisher.topics.region(region.name).state, Array(region.state.name.utf8), .state)
    }
  }

  private mutating func register(_ name: String) {
    // Another beacon every time, so that the definition changes.
    let region = BeaconRegion(
      identifier: name, constraint: KioskScene.constraint(UInt16(random.next() % 3)))
    let state = BeaconRegistrationState(state: regions[name] == true ? .inside : .outside)
    regions[name] = regions[name] ?? false
    submit([.register(key(name), region, state: state, encode: { nil })])
  }

  private mutating func cross(_ name: String, count: Int) {
    var items: [Journal.Item] = []
    for _ in 0..<count {
      guard let isInside = regions[name] else { break }
      regions[name] = !isInside
      now = now.advanced(bySeconds: 1)
      let region = BeaconRegion(identifier: name, constraint: KioskScene.constraint(1))
      let reason = RegionTransition.Reason(
        .sighting, lastSighting: nil, samples: 1, exitTimeout: nil, interval: nil, loss: nil)
      let event = RegionEvent(
        region: region,
        transition: RegionTransition(
          isInside ? .exit : .enter, at: now, region: name,
          beaconsInside: isInside ? 0 : 1, previous: isInside ? .inside : .outside,
          reason: reason), wallClockOffset: .zero)
      items.append(
        .event(Journal.NewEvent(event: BeaconEvent.region(event), key: key(name))))
    }
    submit(items)
  }

  private mutating func receiverChanges() {
    submit([
      .event(
        Journal.NewEvent(
          event: BeaconEvent.health(
            ScannerHealth(.scanning, at: now, isReceptionLost: false, sentence: "on"),
            at: WallClockTime(nanoseconds: 0)), key: nil))
    ])
  }

  // MARK: Streams

  private mutating func connect() {
    let snapshot = hub.snapshot()
    let inside = Dictionary(
      uniqueKeysWithValues: snapshot.record.regions.map { ($0.name, $0.state == .inside) })
    guard streams.count >= 3 else {
      streams.append(Stream(position: snapshot.place.position, inside: inside, received: []))
      return
    }
    let index = Int(random.next() % 3)
    streams[index].isConnected.toggle()
    guard streams[index].isConnected else { return }
    // It comes back: what it missed, and then the snapshot.
    let text = hub.journal.text(of: streams[index].position)
    let (events, isWhole) = hub.missed(after: text, through: snapshot.place.position)
    if !isWhole { streams[index].missed += 1 }
    streams[index].received += events.map(\.id)
    streams[index].position = snapshot.place.position
    streams[index].inside = inside
  }

  private mutating func readStreams() {
    for index in streams.indices where streams[index].isConnected { read(index) }
  }

  private mutating func read(_ index: Int) {
    let batch = hub.journal.read(after: streams[index].position)
    if batch.hasMissed { streams[index].missed += 1 }
    for entry in batch.entries {
      streams[index].received.append(entry.id)
      if entry.kind == "regions" {
        // The newest list counts, and the events after it lead there again.
        streams[index].inside = Dictionary(
          uniqueKeysWithValues: hub.regions.map { ($0.name, $0.state == .inside) })
      }
      guard let region = entry.region else { continue }
      streams[index].inside[region] = entry.kind == "enter"
    }
    streams[index].position = batch.position
  }

  // MARK: The webhook and the broker

  /// Tries to deliver the next event.
  private mutating func attempt() {
    now = now.advanced(bySeconds: 100)
    guard schedule.due(at: now) == now else { return }
    let next = webhook.next(after: schedule.position)
    guard let entry = next.entry else { return schedule.skip(to: next.position) }
    schedule.begin(
      WebhookMessage(number: entry.id, id: "\(entry.id)", body: entry.record),
      after: next.position, hasGap: next.hasMissed)
    if random.next() % 3 == 0 {
      _ = schedule.end(.failed(retryAfter: 0), at: now, factor: 1)
    } else {
      delivered.append(entry.id)
      _ = schedule.end(.delivered, at: now, factor: 1)
    }
  }

  /// Publishes for a while.
  private mutating func publish() {
    for _ in 0..<(1 + random.next() % 6) {
      if let message = publisher.outbox.next() {
        flying.append(message)
      } else if publisher.outbox.takesEvent {
        let next = mqtt.next(after: publisher.outbox.position)
        guard let entry = next.entry else {
          publisher.outbox.skip(to: next.position)
          continue
        }
        publisher.publish(entry)
      }
      // The broker has a message, and its acknowledgment comes later, or never.
      if !flying.isEmpty, random.next() % 2 == 0 { acknowledge() }
    }
  }

  private mutating func acknowledge() {
    let message = flying.removeFirst()
    if message.isRetained {
      broker[message.topic] = String(decoding: message.payload, as: UTF8.self)
    }
    publisher.outbox.acknowledge(message.token)
  }

  // MARK: The end

  /// Lets everybody come to the end, and compares.
  private mutating func settle() {
    for index in streams.indices {
      if !streams[index].isConnected {
        let text = hub.journal.text(of: streams[index].position)
        let (events, isWhole) = hub.missed(after: text, through: hub.journal.latest)
        if !isWhole { streams[index].missed += 1 }
        streams[index].received += events.map(\.id)
        streams[index].inside = Dictionary(
          uniqueKeysWithValues: hub.regions.map { ($0.name, $0.state == .inside) })
      } else {
        read(index)
      }
    }
    let states = Dictionary(
      uniqueKeysWithValues: hub.regions.map { ($0.name, $0.state == .inside) })
    if states != regions { wrong.append("the hub has \(states), and \(regions) is so") }
    let ids = (0..<happened.count).map { Int64($0) + 1 }
    if happened != ids { wrong.append("the identifiers do not rise by 1") }
    for (index, stream) in streams.enumerated() {
      if stream.missed != 0 { wrong.append("stream \(index) missed events") }
      let first = stream.received.first ?? 0
      if stream.received != happened.filter({ $0 >= first && first > 0 }) {
        wrong.append("stream \(index) received \(stream.received) of \(happened)")
      }
      let known = stream.inside.filter { regions[$0.key] != nil && $0.value != regions[$0.key] }
      if !known.isEmpty { wrong.append("stream \(index) has wrong states: \(known)") }
    }
    for _ in 0..<10_000 where delivered.count < crossings.count { attempt() }
    if delivered != crossings {
      wrong.append("the webhook was delivered \(delivered) of \(crossings)")
    }
    publisher.begin()
    for _ in 0..<10_000 {
      publish()
      while !flying.isEmpty { acknowledge() }
      if publisher.outbox.isEmpty, publisher.outbox.position >= hub.journal.latest { break }
    }
    let retained = broker.filter {
      $0.key.hasSuffix("/state") && $0.key.contains("/regions/") && !$0.value.isEmpty
    }
    let topics = Dictionary(
      uniqueKeysWithValues: regions.map {
        (publisher.topics.region($0.key).state, $0.value ? "inside" : "outside")
      })
    if retained != topics { wrong.append("the broker has \(retained), and \(topics) is so") }
    if publisher.outbox.acknowledged < crossings.last ?? 0 {
      wrong.append("the broker lacks events")
    }
  }
}
