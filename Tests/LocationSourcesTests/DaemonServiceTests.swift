import DBusMessages
import Foundation
import Positioning
import Scanning
import ServiceCore
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// The location service on real daemons: what it reports when they end, hang, refuse and are missing, and what of them is on.
@Suite(.blocking, .daemons) struct DaemonServiceTests {
  let scratch: Scratch
  let bus: BusDaemon
  let port: UInt16

  init() throws {
    scratch = try Scratch()
    bus = try BusDaemon(in: scratch)
    port = try freePort()
  }

  /// How often each daemon is killed: three times, or as the environment says.
  static let rounds =
    ProcessInfo.processInfo.environment["BEACONSCAN_DAEMON_ROUNDS"].flatMap { Int($0) } ?? 3

  private var gpsdSource: GPSDSource { GPSDSource(.tcp(host: "127.0.0.1", port: port)) }
  private var geoClueSource: GeoClueSource { GeoClueSource(bus: .address(bus.address)) }

  private func log() throws -> String {
    let lines = (0..<600).flatMap { GPSDSourceTests.epoch($0) }.map(nmeaLine)
    try scratch.write(Array("# log\n\(lines.joined())".utf8), "own.log")
    return scratch["own.log"]
  }

  private func gpsfake() throws -> Daemon {
    try Daemon.gpsfake(try log(), on: port, output: scratch["gpsfake.log"])
  }

  /// Expects that a client receives, and that this was reported once, without a fault. gpsfake starts a gpsd that has no receiver
  /// for a moment, which is reported where the client is quick.
  private func expectReturn(
    of client: LocationListener, _ subject: LocationHealth.Subject = .locations, round: Int
  ) {
    #expect(
      client.receives { received in
        received.conditions(of: subject).last == .receiving
          && (subject == .headings ? !received.headings.isEmpty : !received.fixes.isEmpty)
      }, "round \(round)")
    let conditions = client.received.conditions(of: subject)
    #expect(conditions.filter { $0 == .receiving }.count == 1, "round \(round): \(conditions)")
    #expect(
      client.received.faults.allSatisfy { $0 == .noReceiver }, "round \(round): \(conditions)")
    client.forget()
  }

  /// Expects that the loss was reported, once.
  private func expectLoss(
    of client: LocationListener, _ subject: LocationHealth.Subject = .locations, round: Int
  ) {
    #expect(
      client.receives { $0.conditions(of: subject).contains(.notRunning) }, "round \(round)")
    #expect(client.received.faults == [.notRunning], "round \(round)")
    client.forget()
  }

  // MARK: Daemons that are killed

  @Test func aClientOutlivesEachGPSD() throws {
    let client = LocationListener(gpsdSource)
    try client.start()
    #expect(client.receives { $0.conditions == [.notRunning] })
    client.forget()
    for round in 1...Self.rounds {
      let fake = try gpsfake()
      expectReturn(of: client, round: round)
      fake.kill()
      expectLoss(of: client, round: round)
    }
  }

  @Test func aClientOutlivesEachGeoClue() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let agent = try GeoClueAgent(bus.address)
    let client = LocationListener(geoClueSource)
    try client.start()
    #expect(client.receives { $0.conditions == [.notRunning] })
    client.forget()
    for round in 1...Self.rounds {
      let geoclue = try Daemon.geoclue(on: bus, in: scratch)
      expectReturn(of: client, round: round)
      geoclue.kill()
      expectLoss(of: client, round: round)
    }
    withExtendedLifetime((receiver, agent)) {}
  }

  /// The whole bus ends, with all that is on it.
  @Test func aClientOutlivesEachBus() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let client = LocationListener(geoClueSource)
    try client.start()
    #expect(client.receives { $0.conditions == [.notRunning] })
    client.forget()
    var bus: BusDaemon? = bus
    for round in 1...Self.rounds {
      let current = try bus ?? BusDaemon(in: scratch)
      let geoclue = try Daemon.geoclue(on: current, in: scratch)
      let agent = try GeoClueAgent(current.address)
      expectReturn(of: client, round: round)
      current.kill()
      bus = nil
      expectLoss(of: client, round: round)
      geoclue.kill()
      withExtendedLifetime(agent) {}
    }
    withExtendedLifetime(receiver) {}
  }

  @Test func aClientOutlivesEachSensorProxy() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let source = CombinedSource(
      fixes: FixedSource(place), compass: CompassSource(bus: .address(bus.address)))
    let client = LocationListener(source)
    let machine = try CompassMachine(bus.address)
    #expect(throws: LocationServiceError.self) {
      try client.client.startHeadings(filter: nil)
    }
    try machine.run("heading 10", "start")
    #expect(eventually { source.hasCompass })
    try client.client.startHeadings(filter: nil)
    for round in 1...Self.rounds {
      expectReturn(of: client, .headings, round: round)
      try machine.run("kill")
      expectLoss(of: client, .headings, round: round)
      try machine.run("heading \(round)", "start")
    }
    expectReturn(of: client, .headings, round: 0)
  }

  // MARK: Daemons that hang, and receivers that come and go

  @Test func aGPSDThatDoesNotAnswerIsReported() throws {
    let gpsd = try GPSDDaemon(on: port, in: scratch)
    var feed = try freePort()
    try gpsd.add(feed)
    let client = LocationListener(gpsdSource)
    try client.start()
    var number = 0
    func receives(_ condition: (LocationListener.Received) -> Bool) -> Bool {
      client.receives { received in
        number += 1
        // gpsd forgets a receiver that it cannot open, as where the port was taken meanwhile.
        if number % 2000 == 0, received.conditions.last == .noReceiver, let other = try? freePort()
        {
          try? gpsd.remove(feed)
          try? gpsd.add(other)
          feed = other
        }
        gpsd.send(GPSDSourceTests.epoch(number / 20 % 600), to: feed)
        return condition(received)
      }
    }
    #expect(receives { $0.conditions.last == .receiving })
    client.forget()
    gpsd.pause()
    #expect(client.receives { !$0.faults.isEmpty })
    // Its socket accepts connections, and none is answered.
    usleep(8_000_000)
    #expect(client.received.conditions == [.notAnswering])
    #expect(client.received.health[0].sentence.contains("sudo systemctl restart gpsd"))
    client.forget()
    gpsd.resume()
    #expect(receives { $0.conditions.last == .receiving && !$0.fixes.isEmpty })
    #expect(client.received.faults.isEmpty)
  }

  @Test func receiversComeAndGo() throws {
    let gpsd = try GPSDDaemon(on: port, in: scratch)
    let client = LocationListener(gpsdSource)
    try client.start()
    #expect(client.receives { $0.conditions.last == .noReceiver })
    let feeds = [try freePort(), try freePort()]
    var number = 0
    func receives(
      from feeds: ArraySlice<UInt16>, _ condition: (LocationListener.Received) -> Bool
    ) -> Bool {
      client.receives { received in
        number += 1
        for feed in feeds { gpsd.send(GPSDSourceTests.epoch(number / 20 % 600), to: feed) }
        return condition(received)
      }
    }
    for round in 1...Self.rounds {
      client.forget()
      try gpsd.add(feeds[0])
      #expect(
        receives(from: feeds[..<1]) { $0.conditions.last == .receiving }, "round \(round)")
      // A second one takes over where the first is removed, and that is no fault.
      try gpsd.add(feeds[1])
      try gpsd.remove(feeds[0])
      client.forget()
      #expect(receives(from: feeds[1...]) { $0.fixes.count >= 3 }, "round \(round)")
      #expect(client.received.faults.isEmpty, "round \(round)")
      try gpsd.remove(feeds[1])
      #expect(client.receives { $0.conditions.last == .noReceiver }, "round \(round)")
      #expect(client.received.faults == [.noReceiver], "round \(round)")
    }
  }

  // MARK: Refusals and absence

  @Test func aRefusalByGeoClueDeniesTheApplicationUntilItIsPermitted() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address, level: 0)
    let client = LocationListener(AutomaticSource([gpsdSource, geoClueSource]))
    #expect(client.receives { $0.statuses.last == .authorizedAlways })
    try client.start()
    #expect(client.receives { $0.statuses.last == .denied && $0.conditions.last == .denied })
    #expect(client.manager.authorizationStatus == .denied)
    // Services that GeoClue does not decide on are not refused.
    #expect(client.received.refusals == 0 && client.received.fixes.isEmpty)
    agent.setLevel(8)
    #expect(client.receives { $0.statuses.last == .authorizedAlways && !$0.fixes.isEmpty })
    agent.setLevel(0)
    #expect(client.receives { $0.statuses.last == .denied })
    #expect(
      client.received.statuses.drop { $0 == .notDetermined }
        == [.authorizedAlways, .denied, .authorizedAlways, .denied])
    // The answer holds while nobody asks; the next one who asks finds out that it has changed.
    client.stop()
    #expect(eventually { !receiver.isConnected })
    agent.setLevel(8)
    client.manager.checkAuthorization()
    #expect(client.manager.authorizationStatus == .denied)
    try client.start()
    #expect(client.receives { $0.statuses.last == .authorizedAlways })
    withExtendedLifetime((receiver, geoclue, agent)) {}
  }

  @Test func withoutAnyDaemonThereIsOneSentence() throws {
    let looks = Counter()
    let client = LocationListener(
      CountedSource(AutomaticSource([gpsdSource, geoClueSource]), looks))
    try client.start()
    try client.client.startVisits()
    #expect(eventually { looks.count.withLock { $0 } >= 4 })
    #expect(
      client.received.health.map(\.sentence) == [
        "no location source can be used: no gpsd answers at 127.0.0.1:\(port) (Connection refused); start it: "
          + "sudo systemctl start gpsd.socket; GeoClue is not installed; install it: sudo apt install "
          + "geoclue-2.0, or configure a fixed position"
      ])
    #expect(client.received.faults == [.notRunning])
  }

  /// A number that several threads count.
  final class Counter: Sendable { let count = Mutex(0) }

  /// A source that counts how often it is received from.
  private final class CountedSource: LocationSource {
    private let source: any LocationSource
    private let counter: Counter
    init(_ source: any LocationSource, _ counter: Counter) {
      (self.source, self.counter) = (source, counter)
    }
    var name: String { source.name }
    var isRecorded: Bool { false }
    var availability: ScannerAvailability { source.availability }
    func receive(
      for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
    ) throws -> LocationProgress {
      counter.count.withLock { $0 += 1 }
      return try source.receive(for: demand, until: deadline, into: &inputs)
    }
    func wake() { source.wake() }
    func rest() { source.rest() }
  }

  // MARK: Power

  /// The open connections to the gpsd, by the kernel's table: an established one has the state 01.
  private func connections() throws -> Int {
    let name = String(port, radix: 16, uppercase: true)
    let text = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
    return text.split(separator: "\n").count { line in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[2].hasSuffix(":" + ("0000" + name).suffix(4))
        && fields[3] == "01"
    }
  }

  private typealias Step = (LocationListener) throws -> Void

  private func property(
    _ name: String, of service: String, _ path: String, _ object: String
  ) throws -> BusValue? {
    let observer = try BusConnection(.address(bus.address))
    defer { observer.close() }
    let call = BusMessage(
      call: "Get", of: "org.freedesktop.DBus.Properties", at: "\(path)/\(object)", to: service,
      body: [.string("\(service).\(object)"), .string(name)])
    return try observer.call(call).first
  }

  /// gpsd has headings of a receiver with a compass, where no other compass is there.
  @Test func theCompassOfAReceiverIsUsed() throws {
    let lines = (0..<600).flatMap {
      GPSDSourceTests.epoch($0) + ["PTNTHTM,142.5,N,1.0,N,-4.0,N,100,100"]
    }.map(nmeaLine)
    try scratch.write(Array("# log\n\(lines.joined())".utf8), "compass.log")
    let fake = try Daemon.gpsfake(
      scratch["compass.log"], on: port, output: scratch["gpsfake.log"])
    defer { fake.kill() }
    let source = CombinedSource(
      fixes: gpsdSource, compass: CompassSource(bus: .address(bus.address)))
    #expect(eventually { source.mayHaveCompass } && !source.hasCompass)
    let client = LocationListener(source)
    try client.client.startHeadings(filter: nil)
    #expect(client.receives { !$0.headings.isEmpty })
    // gpsd has it from true north, and the declination of the place, of 13 degrees to the east.
    let heading = try #require(client.received.headings.first).magneticHeading
    #expect((125..<135).contains(heading), "\(heading)")
    #expect(source.hasCompass && client.received.fixes.isEmpty)
  }

  /// What is on in each daemon for each demand: gpsd has a connection, GeoClue's receiver is connected, and the compass follows
  /// the sensor.
  @Test func nothingIsOnWithoutADemand() throws {
    let receiver = try NMEAServer(at: scratch["nmea"])
    let fake = try gpsfake()
    let geoclue = try Daemon.geoclue(on: bus, in: scratch)
    let agent = try GeoClueAgent(bus.address)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 1", "start")
    let compass = { CompassSource(bus: .address(bus.address)) }
    let (gpsd, geoClue) = (
      LocationListener(CombinedSource(fixes: gpsdSource, compass: compass())),
      LocationListener(CombinedSource(fixes: geoClueSource, compass: compass()))
    )
    #expect(eventually { gpsd.service.source?.hasCompass == true })
    func isInUse() throws -> Bool? {
      try property("InUse", of: "org.freedesktop.GeoClue2", "/org/freedesktop/GeoClue2", "Manager")?
        .asBool
    }
    func heading() throws -> Double? {
      try property(
        "CompassHeading", of: "net.hadess.SensorProxy", "/net/hadess/SensorProxy", "Compass")?
        .asDouble
    }
    // Beside asking whether there is a compass, nothing was needed.
    #expect(try connections() == 0)
    #expect(try isInUse() == false)

    // Each service that needs fixes, alone: it turns its daemon on, and its end turns it off.
    let circle = try CircularRegion(
      identifier: "c", center: try #require(Coordinate(latitude: 37.4, longitude: -122.03)),
      radius: 200)
    let services: [(String, Step, Step)] = [
      ("updates", { try $0.start() }, { $0.stop() }),
      (
        "visits", { try $0.client.startVisits() },
        { $0.client.stopVisits() }
      ),
      (
        "significant changes", { try $0.client.startSignificantChanges() },
        { $0.client.stopSignificantChanges() }
      ),
      (
        "circles", { try $0.client.register(MonitoredCircle(circle)) },
        { $0.client.unregister("c") }
      ),
    ]
    for (name, start, stop) in services {
      let before = gpsd.service.latestFix?.time
      try start(gpsd)
      // The connection may be over when it is looked for: rare fixes need none between them.
      #expect(eventually { gpsd.service.latestFix?.time != before }, "\(name)")
      try stop(gpsd)
      #expect(try eventually { try connections() == 0 }, "\(name)")
      try start(geoClue)
      #expect(try eventually { try isInUse() == true }, "\(name)")
      try stop(geoClue)
      #expect(try eventually { try isInUse() == false && !receiver.isConnected }, "\(name)")
    }

    // Headings need no fixes. GeoClue claims the compass too while it has a client, and may be late to release it.
    geoclue.kill()
    try gpsd.client.startHeadings(filter: nil)
    #expect(gpsd.receives { !$0.headings.isEmpty })
    try machine.run("heading 2")
    #expect(try eventually { try heading() == 2 })
    #expect(try connections() == 0)
    gpsd.client.stopHeadings()
    #expect(eventually { !gpsd.service.isWanted })
    // The daemon looks at a sensor that is claimed each 0.7 s. The claim ends soon, not at once.
    var isFollowed = true
    for value in 3..<20 where isFollowed {
      try machine.run("heading \(value)")
      usleep(2_000_000)
      isFollowed = try heading() == Double(value)
    }
    #expect(!isFollowed)
    withExtendedLifetime((fake, agent)) {}
  }
}
