import Advertising
import Foundation
import Scanning
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import BrokerLink
@testable import FleetReports

@Suite(.blocking, .mosquitto) struct FleetReporterTests {
  private final class Events: Sendable {
    let all = Mutex<[FleetEvent]>([])
    var texts: [String] { all.withLock { $0.map { "\($0)" } } }
  }

  private let events = Events()

  private func configuration(_ scene: Scene) -> FleetConfiguration {
    var broker = scene.configuration
    (broker.username, broker.password) = ("kiosk", "secret")
    var fleet = FleetConfiguration(
      broker, site: "museum", receiver: "hall", outbox: scene.scratch["state/outbox"])
    fleet.interval = 0.02
    return fleet
  }

  private func reporter(
    _ configuration: FleetConfiguration, _ meter: SightingMeter? = nil
  ) throws -> FleetReporter {
    try FleetReporter(configuration, meter ?? SightingMeter()) { [events] event in
      events.all.withLock { $0.append(event) }
    }
  }

  private func reports(_ subscriber: Subscriber) -> [ReceiverReport] {
    subscriber.messages.filter { $0.topic.hasSuffix("/seen") }.compactMap { message in
      let bytes = Array(message.payload.utf8)
      // The array outlives the call.
      let report = unsafe try? ReceiverReport(parsing: bytes.span.bytes)
      #expect(report?.topic == message.topic && !message.isRetained, "\(message)")
      return report
    }
  }

  /// Reports are in order, each boot's from 1 on, and none is missing; a repeated one does not count.
  private func expectWhole(
    _ reports: [ReceiverReport], lost: [Int] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var known: Set<[UInt64]> = []
    let once = reports.filter { known.insert([$0.boot, UInt64($0.number)]).inserted }
    var next: (boot: UInt64, number: Int)?
    for report in once {
      var expected = next?.boot == report.boot ? next?.number ?? 1 : 1
      while expected < report.number, lost.contains(expected) { expected += 1 }
      #expect(report.number == expected, sourceLocation: sourceLocation)
      next = (report.boot, report.number + 1)
    }
  }

  private func sighting(
    _ beacon: BeaconIdentity, _ rssi: Int8?, power: Int8 = -59, adapter: UInt16 = 0
  ) -> Sighting {
    Sighting(
      time: .now, wallTime: .now, beacon: beacon, measuredPower: power, rssi: rssi,
      address: BluetoothAddress(rawValue: 1), addressType: .random, adapter: adapter)
  }

  @Test func `a report has each sighting once, and comes without one too`() throws {
    let scene = try Scene()
    let subscriber = try scene.subscriber()
    let configuration = configuration(scene)
    let meter = SightingMeter()
    let reporter = try reporter(configuration, meter)
    reporter.start { nil }
    let strengths: [Int8] = [-60, -61, -66, -57, -60, -70]
    for rssi in strengths { meter.receive([sighting(keys, rssi), sighting(bag, nil)]) }
    #expect(
      eventually {
        let received = reports(subscriber)
        return received.contains { !$0.beacons.isEmpty } && received.last?.beacons.isEmpty == true
      })
    reporter.stop()
    let received = reports(subscriber)
    expectWhole(received)
    #expect(received.allSatisfy { $0.reception == .receiving && $0.seconds > 0 })
    let beacons = received.flatMap(\.beacons)
    let all = beacons.filter { $0.beacon == keys }
    #expect(all.reduce(0) { $0 + $1.sightings } == strengths.count)
    #expect(all.compactMap(\.signal?.maximum).max() == -57)
    if all.count == 1, let signal = all[0].signal {
      // By another program: python3 -c 'import statistics as s; print(s.pvariance([…]))'
      #expect(signal.mean == -62.33 && signal.variance == 18.89)
    }
    let silent = beacons.filter { $0.beacon == bag }
    #expect(silent.allSatisfy { $0.signal == nil && $0.measuredPower == -59 })
    #expect(silent.reduce(0) { $0 + $1.sightings } == strengths.count)
    // The last report was sent too.
    #expect(reporter.status.waiting == 0 && reporter.status.dropped == 0)
    #expect(reporter.status.sent >= received.count)
    #expect(events.texts == ["broker(BrokerLink.BrokerEvent.connected)"])
  }

  @Test func `the statistics of a report`() {
    var meter = ReportMeter()
    for rssi in [-60, -61, -66, -57, -60, -70] as [Int8] { meter.receive(sighting(keys, rssi)) }
    meter.receive(sighting(keys, nil, power: -50))
    meter.receive(sighting(keys, -10), hasSignal: false)
    var report = ReceiverReport(site: "s", receiver: "r", boot: 1, number: 1, time: .now)
    meter.move(to: &report)
    #expect(report.beacons.count == 1)
    let beacon = report.beacons[0]
    #expect(beacon.beacon == keys && beacon.sightings == 8 && beacon.measuredPower == -59)
    // python3 -c 'import statistics as s; x=[-60,-61,-66,-57,-60,-70]; print(s.mean(x), s.pvariance(x))'
    let signal = beacon.signal
    #expect(abs((signal?.mean ?? 0) - -62.333333333333336) < 1e-12)
    #expect(abs((signal?.variance ?? 0) - 18.88888888888889) < 1e-12)
    #expect(signal?.maximum == -57)
    report.beacons = []
    meter.move(to: &report)
    #expect(report.beacons.isEmpty)
  }

  @Test func `only the beacons of the fleet, from one adapter, up to a bound`() {
    let meter = SightingMeter(uuids: [keys.uuid], pins: [bag: BluetoothAddress(rawValue: 2)])
    var stranger = keys
    stranger.uuid.low += 1
    meter.receive([sighting(keys, -60), sighting(stranger, -40), sighting(bag, -50)])
    meter.receive(
      (0..<5000).map { minor in
        sighting(BeaconIdentity(uuid: keys.uuid, major: 9, minor: UInt16(minor)), -70)
      })
    var taken = ReportMeter()
    meter.exchange(&taken)
    #expect(taken.leftOut == 5001 - ReceiverReport.maximumBeacons)
    var report = ReceiverReport(site: "s", receiver: "r", boot: 1, number: 1, time: .now)
    taken.move(to: &report)
    #expect(report.beacons.count == ReceiverReport.maximumBeacons)
    #expect(report.beacons[0].beacon == keys)
    #expect(!report.beacons.contains { $0.beacon == stranger || $0.beacon == bag })
  }

  /// Printed, not checked: a machine may be busy.
  @Test func cost() {
    let meter = SightingMeter()
    let sightings = (0..<100).map { minor in
      sighting(BeaconIdentity(uuid: keys.uuid, major: 1, minor: minor), -60)
    }
    var taken = ReportMeter()
    var report = ReceiverReport(site: "s", receiver: "r", boot: 1, number: 1, time: .now)
    var payload: [UInt8] = []
    let clock = ContinuousClock()
    let receiving = clock.measure { for _ in 0..<10000 { meter.receive(sightings) } }
    let reporting = clock.measure {
      meter.exchange(&taken)
      taken.move(to: &report)
      report.write(to: &payload)
    }
    let parsing = clock.measure {
      // The array outlives the call.
      for _ in 0..<100 { _ = unsafe try? ReceiverReport(parsing: payload.span.bytes) }
    }
    print(
      "a sighting: \(receiving / 1_000_000); a report of 100 beacons, \(payload.count) bytes: "
        + "\(reporting) to make, \(parsing / 100) to parse")
    #expect(report.beacons.count == 100)
  }

  @Test func `lost reception is in the report`() throws {
    let scene = try Scene()
    let subscriber = try scene.subscriber()
    let reporter = try reporter(configuration(scene))
    let reason = Reason()
    reporter.start { reason.text.withLock { $0 } }
    func eventuallyReports(_ reception: ReceiverReport.Reception) -> Bool {
      eventually { reports(subscriber).last?.reception == reception }
    }
    #expect(eventuallyReports(.receiving))
    reason.text.withLock { $0 = "hci0 is down" }
    #expect(eventuallyReports(.lost("hci0 is down")))
    reason.text.withLock { $0 = nil }
    #expect(eventuallyReports(.receiving))
    reporter.stop()
  }

  private final class Reason: Sendable { let text = Mutex<String?>(nil) }

  @Test func `a configuration comes, is tried, and is kept`() throws {
    let scene = try Scene()
    let subscriber = try scene.subscriber()
    var configuration = configuration(scene)
    configuration.settings.trialTime = 0.2
    let reporter = try reporter(configuration)
    let used = Mutex<[[UInt8]?]>([])
    reporter.start(receptionLost: { nil }) { text in
      used.withLock { $0.append(text) }
      return nil
    }
    let topic = FleetTopic.configuration(ofSite: "museum", receiver: "hall")
    #expect(eventually { reporter.status.sent > 0 })
    // Other topics are not for it.
    try send("exit-after = 1", to: topic + "/more", in: scene)
    let version = ConfigurationVersion(of: Array("exit-after = 20".utf8))
    #expect(
      eventually {
        // The subscription may not be there yet; the fleet repeats it, too.
        try? send("exit-after = 20", to: topic, in: scene)
        return reports(subscriber).last?.configuration.version == version
      })
    let states = reports(subscriber).map(\.configuration)
    #expect(Set(states.map { "\($0)" }).count == 3)
    #expect(states.contains(.init(trial: version)))
    #expect(used.withLock { $0 } == [Array("exit-after = 20".utf8)])
    reporter.stop()
    #expect(FleetSettings("\(configuration.outbox).settings").state == .init(version: version))
  }

  @Test func `reports go on where the user of the configurations is missing, until it is there`()
    throws
  {
    let scene = try Scene()
    scene.kill()
    try scene.restart(try scene.passwords(["reader": "one", "museum.hall": "two"]))
    let subscriber = try scene.subscriber(["-u", "reader", "-P", "one"])
    var configuration = configuration(scene)
    (configuration.broker.username, configuration.broker.password) = ("museum.hall", "two")
    configuration.settings.trialTime = 0.2
    let reporter = try reporter(configuration)
    reporter.start { nil }
    func refusals() -> [String] { events.texts.filter { $0.hasPrefix("refused") } }
    #expect(eventually { !refusals().isEmpty })
    #expect(refusals()[0].contains("cannot be received"), "\(refusals())")
    #expect(refusals()[0].contains("museum.hall/configuration"))
    let sent = reporter.status.sent
    #expect(eventually { reporter.status.sent > sent + 50 })
    #expect(refusals().count == 1)
    try scene.add("museum.hall/configuration", "two")
    scene.broker?.reload()
    let version = ConfigurationVersion(of: Array("exit-after = 20".utf8))
    #expect(
      eventually {
        try? send(
          "exit-after = 20", to: FleetTopic.configuration(ofSite: "museum", receiver: "hall"),
          ["-u", "reader", "-P", "one"], in: scene)
        return reports(subscriber).last?.configuration.version == version
      })
    expectWhole(reports(subscriber))
    reporter.stop()
  }

  private func send(
    _ text: String, to topic: String, _ more: [String] = [], in scene: Scene
  ) throws {
    let arguments = [
      "/usr/bin/mosquitto_pub", "-h", "127.0.0.1", "-p", "\(scene.port)", "-q", "1", "-t", topic,
      "-m", text,
    ]
    let daemon = try Daemon(arguments + more, log: scene.scratch["publisher.log"])
    #expect(eventually { !daemon.isRunning })
  }

  /// Restarts the broker, which lets the reporter in only after there is a subscriber.
  private func restart(_ scene: Scene) throws -> Subscriber {
    try scene.restart(try scene.passwords(["reader": "one"]))
    let subscriber = try scene.subscriber(["-u", "reader", "-P", "one"])
    try scene.add("kiosk", "secret")
    scene.broker?.reload()
    return subscriber
  }

  @Test func `a killed broker gets every report later, in order`() throws {
    let scene = try Scene()
    let before = try scene.subscriber()
    let reporter = try reporter(configuration(scene))
    reporter.start { nil }
    var received: [ReceiverReport] = []
    var lost: [Int] = []
    /// Kills the broker, after it has delivered everything up to now.
    func killBroker(_ subscriber: Subscriber) {
      #expect(eventually { reporter.status.isConnected && reporter.status.waiting < 5 })
      let sent = reporter.status.sent
      #expect(eventually { reports(subscriber).last?.number ?? 0 >= sent })
      scene.kill()
      #expect(eventually { !reporter.status.isConnected })
      received += reports(subscriber)
      // What a broker acknowledged last, it may not have delivered before its end.
      let last = received.last?.number ?? 0
      lost += (last + 1..<max(last, reporter.status.sent) + 1)
    }
    #expect(eventually { reporter.status.sent > 10 })
    killBroker(before)
    for _ in 0..<2 {
      let waiting = reporter.status.waiting
      #expect(eventually { reporter.status.waiting >= waiting + 50 })
      killBroker(try restart(scene))
    }
    let subscriber = try restart(scene)
    #expect(eventually { reporter.status.isConnected && reporter.status.waiting < 5 })
    reporter.stop()
    let sent = reporter.status.sent
    #expect(eventually { (reports(subscriber).last?.number ?? 0) >= sent })
    received += reports(subscriber)
    expectWhole(received, lost: lost)
    #expect(Set(received.map(\.boot)).count == 1 && reporter.status.dropped == 0)
    print("\(received.count) reports over three kills of the broker, which lost \(lost)")
    #expect(lost.count < 30)
  }

  @Test func `a killed process loses no report, with a broker that is down at its start`() throws {
    let scene = try Scene()
    scene.kill()
    let arguments = ["\(scene.port)", scene.scratch["outbox"]]
    /// The number of reports that wait, of at least 200 bytes each.
    func waits(_ count: Int) -> Bool {
      let bytes = ["outbox.1", "outbox.2"].map { (try? scene.scratch.bytes($0).count) ?? 0 }
      return bytes.reduce(0, +) > count * 300
    }
    for life in 1...3 {
      let run = try ChildRun("broker-link-run", arguments, in: scene.scratch)
      #expect(eventually { waits(life * 20) })
      run.kill()
    }
    let subscriber = try restart(scene)
    func boots() -> Int { Set(reports(subscriber).map(\.boot)).count }
    // The first is killed while it catches up, the others after reports of their own.
    for life in 1...4 {
      let before = boots()
      let run = try ChildRun("broker-link-run", arguments, in: scene.scratch)
      #expect(eventually { life == 1 ? reports(subscriber).count > 1 : boots() > before })
      run.kill()
    }
    #expect(boots() > 3)
    let received = reports(subscriber)
    expectWhole(received)
    var repeats: Set<[UInt64]> = []
    let repeated = received.filter { !repeats.insert([$0.boot, UInt64($0.number)]).inserted }
    print(
      "\(received.count) reports of \(Set(received.map(\.boot)).count) processes, "
        + "\(repeated.count) of them again")
  }

  @Test func `reports of a broker's failure are caught up in order`() throws {
    let scene = try Scene()
    scene.kill()
    var configuration = configuration(scene)
    configuration.interval = 0.002
    let reporter = try reporter(configuration)
    reporter.start { nil }
    // As many as in ten minutes.
    let start = ContinuousClock.now
    #expect(
      eventually {
        reporter.status.waiting >= 600 && start.duration(to: .now) > .seconds(2.5)
      })
    let subscriber = try restart(scene)
    let began = ContinuousClock.now
    #expect(eventually { reporter.status.sent >= 600 })
    print("600 reports after a failure: \(ContinuousClock.now - began)")
    reporter.stop()
    #expect(eventually { reports(subscriber).count >= 600 })
    expectWhole(reports(subscriber))
    // The first one waited for all that time.
    #expect(reports(subscriber).first?.delay ?? 0 >= 2)
    #expect(
      events.texts.first?.contains("MQTT broker at 127.0.0.1") == true,
      "\(events.texts)")
  }

  @Test func `the oldest are dropped, counted, and said once`() throws {
    let scene = try Scene()
    scene.kill()
    var configuration = configuration(scene)
    configuration.outboxBytes = 10000
    configuration.interval = 0.002
    let reporter = try reporter(configuration)
    reporter.start { nil }
    #expect(eventually { reporter.status.dropped > 60 })
    reporter.stop()
    let texts = events.texts
    #expect(texts.count { $0.contains("the oldest are dropped") } == 1, "\(texts)")
    #expect(reporter.status.waiting > 10)
  }

  @Test func `a wrong outbox is refused`() throws {
    let scene = try Scene()
    try scene.scratch.write(Array("notes".utf8) + Array(repeating: 1, count: 40), "other.1")
    var configuration = configuration(scene)
    configuration.outbox = scene.scratch["other"]
    let error = #expect(throws: BrokerError.self) { try reporter(configuration) }
    #expect(error?.isOfFile == true)
    #expect(error?.description.contains("other.1") == true, "\(error?.description ?? "")")
  }
}
