import DBusMessages
import Foundation
import Positioning
import Scanning
import Synchronization
import TestDaemons
import TestSupport
import Testing

@testable import LocationSources

/// The source on a real iio-sensor-proxy, on a bus of its own, with a compass that umockdev shows to the daemon.
@Suite(.blocking, .daemons) struct CompassSourceTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func client(_ bus: BusDaemon) -> SourceClient {
    let client = SourceClient(CompassSource(bus: .address(bus.address)))
    client.demand = LocationDemand(needsHeading: true)
    return client
  }

  @Test func headingsAreReceived() throws {
    let bus = try BusDaemon(in: scratch)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 90", "start")
    #expect(try client.receive { client.readings.count == 1 })
    try machine.run("heading 359.875")
    #expect(try client.receive { client.readings.count == 2 })
    try machine.run("heading 360")
    #expect(try client.receive { client.readings.count == 3 })
    try machine.run("heading 12")
    #expect(try client.receive { client.readings.count == 4 })
    #expect(client.readings.map(\.magneticHeading) == [90, 359.875, 0, 12])
    #expect(client.readings.allSatisfy { $0.accuracy == nil && $0.field == nil })
    #expect(client.conditions == [.receiving])
    #expect(client.health.allSatisfy { $0.subject == .headings })
    #expect(client.source.availability == .available)
    // Another client of a compass that lies still: the daemon reports no change.
    let second = self.client(bus)
    #expect(try second.receive { !second.readings.isEmpty })
    #expect(second.readings.map(\.magneticHeading) == [12])
    #expect(second.conditions == [.receiving])
  }

  @Test func theCompassIsClaimedOnlyWhileHeadingsAreNeeded() throws {
    let bus = try BusDaemon(in: scratch)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 1", "start")
    #expect(eventually { client.source.availability == .available })
    #expect(try client.receive { !client.readings.isEmpty })
    // What else is claimed is not seen by an observer, but a compass that is not claimed has no new headings.
    let observer = try BusConnection(.address(bus.address))
    func stated() throws -> Double? {
      try observer.call(
        BusMessage(
          call: "Get", of: "org.freedesktop.DBus.Properties",
          at: "/net/hadess/SensorProxy/Compass", to: "net.hadess.SensorProxy",
          body: [.string("net.hadess.SensorProxy.Compass"), .string("CompassHeading")])
      ).first?.asDouble
    }
    try machine.run("heading 2")
    #expect(try eventually { try stated() == 2 })
    client.source.rest()
    #expect(client.source.availability == .available)
    try machine.run("heading 3")
    // Longer than the daemon's 0.7 s between two looks at the sensor.
    usleep(2_000_000)
    #expect(try stated() == 2)
    client.forget()
    #expect(try client.receive { client.readings.last?.magneticHeading == 3 })
    // The heading of the earlier claim is not delivered.
    #expect(client.readings.count == 1)
    client.demand.needsHeading = false
    client.source.wake()
    #expect(try client.receive { true })
    try machine.run("heading 4")
    usleep(2_000_000)
    #expect(try stated() == 3)
  }

  @Test func aCompassComesAndGoes() throws {
    let bus = try BusDaemon(in: scratch)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    try machine.run("start")
    // It is there, but has measured nothing.
    #expect(try client.receive(until: .searching))
    try machine.run("heading 45")
    #expect(try client.receive(until: .receiving))
    for round in 1...3 {
      try machine.run("remove")
      #expect(try client.receive(until: .noReceiver), "round \(round)")
      #expect(client.health.last?.sentence.contains("has no compass") == true)
      guard case .unavailable = client.source.availability else {
        Issue.record("\(client.source.availability)")
        return
      }
      client.forget()
      try machine.run("add", "heading \(round * 10)")
      #expect(try client.receive(until: .receiving), "round \(round)")
      #expect(try client.receive { client.readings.last?.magneticHeading == Double(round) * 10 })
    }
  }

  @Test func aDaemonThatIsKilledTwentyTimesIsUsedAgain() throws {
    let bus = try BusDaemon(in: scratch)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    #expect(try client.receive(until: .notRunning))
    #expect(client.health.last?.sentence.contains("apt install iio-sensor-proxy") == true)
    try machine.run("heading 123.5")
    for round in 0..<20 {
      client.forget()
      try machine.run("start")
      #expect(try client.receive { !client.readings.isEmpty }, "round \(round)")
      #expect(client.readings.map(\.magneticHeading) == [123.5])
      // On a busy machine it may take longer to start than an answer may take.
      #expect(client.conditions.filter { $0 != .notAnswering } == [.receiving])
      client.forget()
      try machine.run("kill")
      #expect(try client.receive(until: .notRunning), "round \(round)")
      #expect(client.conditions == [.notRunning])
    }
  }

  @Test func aDaemonThatHangsIsReported() throws {
    let bus = try BusDaemon(in: scratch)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 0.5", "start")
    #expect(try client.receive(until: .receiving))
    try machine.run("pause")
    // The compass lies still, so that nothing else shows it.
    #expect(try client.receive(until: .notAnswering))
    #expect(client.health.last?.sentence.contains("systemctl restart iio-sensor-proxy") == true)
    try machine.run("resume")
    #expect(try client.receive(until: .receiving))
  }

  @Test func theBusPermitsItByOurPolicy() throws {
    let source = URL(filePath: #filePath).resolvingSymlinksInPath()
    let root = source.appending(path: "../../..").standardizedFileURL
    let file = root.appending(path: "Packaging/beaconscan-compass.conf").path
    // The system's bus forbids calls that no policy permits; the daemon's own policy is Debian's.
    let bus = try BusDaemon(
      in: scratch,
      rules: """
        <deny send_destination="net.hadess.SensorProxy" send_type="method_call"/>
        </policy>
        <include>\(Self.policy)</include>
        <include ignore_missing="yes">\(scratch["policy.conf"])</include>
        <policy context="default">
        """)
    let client = client(bus)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 180", "start")
    #expect(try client.receive(until: .notPermitted))
    let sentence = try #require(client.health.last?.sentence)
    #expect(sentence.contains("copy beaconscan-compass.conf"))
    #expect(client.source.availability == .notPermitted(sentence))
    client.source.rest()
    let other = self.client(bus)
    #expect(other.source.availability == .notPermitted(sentence))

    try FileManager.default.copyItem(atPath: file, toPath: scratch["policy.conf"])
    _ = try BusConnection(.address(bus.address)).call(.toBus("ReloadConfig"))
    #expect(try client.receive(until: .receiving))
    #expect(client.readings.last?.magneticHeading == 180)
    #expect(eventually { other.source.availability == .available })
  }

  private static let policy = "/etc/dbus-1/system.d/net.hadess.SensorProxy.conf"

  // MARK: Beside a source of fixes

  @Test func aCompassBesideASourceOfFixes() throws {
    let bus = try BusDaemon(in: scratch)
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let scripted = ScriptedSource("gpsd")
    let fixes = AutomaticSource([scripted, FixedSource(place)])
    let source = CombinedSource(fixes: fixes, compass: CompassSource(bus: .address(bus.address)))
    let client = SourceClient(source)
    let machine = try CompassMachine(bus.address)
    #expect(!source.hasCompass)
    scripted.set(.unavailable("no gpsd answers"))

    // Both.
    client.demand.needsHeading = true
    #expect(try client.receive { !client.fixes.isEmpty })
    // The state of the fixes may come after it.
    #expect(try client.receive { client.health.contains { $0.condition == .notRunning } })
    let fault = try #require(client.health.first { $0.condition == .notRunning })
    #expect(fault.subject == .headings && fault.sentence.contains("iio-sensor-proxy"))
    #expect(source.availability == .available)
    #expect(!source.hasCompass)
    try machine.run("heading 7", "start")
    #expect(try client.receive { !client.readings.isEmpty })
    #expect(source.hasCompass)
    for (index, progress) in client.progress.enumerated().dropFirst() {
      let before = try #require(client.progress[index - 1].reached)
      #expect(try #require(progress.reached) >= before)
    }
    let times = client.inputs.map(\.time)
    #expect(times == times.sorted())

    // Headings alone.
    scripted.set(.available)
    client.demand = LocationDemand(needsHeading: true)
    client.forget()
    try machine.run("heading 8")
    #expect(try client.receive { client.readings.last?.magneticHeading == 8 })
    #expect(client.fixes.isEmpty)
    #expect(scripted.isResting)

    // Fixes alone: nothing comes of the compass.
    client.demand = LocationDemand(fixes: .init(accuracy: 0, interval: 0, distance: 0))
    scripted.set(.unavailable("no gpsd answers"))
    client.forget()
    try machine.run("heading 9")
    #expect(try client.receive { !client.fixes.isEmpty })
    let observer = try BusConnection(.address(bus.address))
    usleep(2_000_000)
    #expect(client.readings.isEmpty)
    let stated = try observer.call(
      BusMessage(
        call: "Get", of: "org.freedesktop.DBus.Properties", at: "/net/hadess/SensorProxy/Compass",
        to: "net.hadess.SensorProxy",
        body: [.string("net.hadess.SensorProxy.Compass"), .string("CompassHeading")])
    ).first?.asDouble
    #expect(stated == 8)
    source.rest()
    #expect(source.hasCompass)
  }

  /// An app may ask on its main thread: the bus is asked on another one, once at a time, and what was known stays known.
  @Test func whetherThereIsACompassIsAskedOnAnotherThread() throws {
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let caller = pthread_self()
    let asked = Mutex(0)
    let answer = Mutex(ScannerAvailability?.none)
    let compass = CompassSource("iio-sensor-proxy", CompassSession(on: .address("none"))) {
      asked.withLock { $0 += 1 }
      while pthread_self() != caller {
        if let answer = answer.withLock({ $0 }) { return answer }
        usleep(1000)
      }
      return .unavailable("asked on the thread of its caller")
    }
    let source = CombinedSource(fixes: FixedSource(place), compass: compass)
    // The first call waits a second for the answer, which does not come; the others do not wait.
    for _ in 0..<1000 { #expect(!source.hasCompass) }
    #expect(asked.withLock { $0 } == 1)
    answer.withLock { $0 = .available }
    #expect(eventually { source.hasCompass })
    answer.withLock { $0 = nil }
    // It is asked anew, and the latest answer holds meanwhile.
    let before = asked.withLock { $0 }
    #expect(eventually { source.hasCompass && asked.withLock { $0 } > before })
    for _ in 0..<1000 { #expect(source.hasCompass) }
    answer.withLock { $0 = .unavailable("none") }
    #expect(eventually { !source.hasCompass })
  }

  @Test func aDemandThatChangesOftenLeavesNothingBehind() throws {
    let bus = try BusDaemon(in: scratch)
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let compass = CompassSource(bus: .address(bus.address))
    let source = CombinedSource(fixes: FixedSource(place), compass: compass)
    let client = SourceClient(source)
    let machine = try CompassMachine(bus.address)
    try machine.run("heading 7", "start")
    let observer = try BusConnection(.address(bus.address))
    func connections() throws -> Int? {
      try observer.call(.toBus("ListNames")).first?.asArray?
        .count { $0.asString?.hasPrefix(":") == true }
    }
    let before = try connections()
    for round in 0..<200 {
      client.demand.needsHeading = round % 2 == 0
      client.demand.fixes =
        round % 3 == 0 ? nil : .init(accuracy: 0, interval: Double(round), distance: 0)
      source.wake()
      #expect(try client.receive { true })
    }
    client.demand = LocationDemand(needsHeading: true)
    client.forget()
    #expect(try client.receive { !client.readings.isEmpty })
    let whileReceiving = try connections()
    #expect(try #require(whileReceiving) == #require(before) + 1)
    source.rest()
    #expect(try eventually { try connections() == before })
  }
}
