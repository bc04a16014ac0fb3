import Advertising
import BeaconTesting
import Foundation
import Glibc
import Logging
import Positioning
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

@testable import AppDaemon

/// Apps that connect to a daemon on a real socket, and a scripted radio.
@Suite(.blocking) struct AppServerTests {
  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  static func region(_ identifier: String, minor: UInt16? = nil) -> BeaconRegion {
    BeaconRegion(
      identifier: identifier, constraint: BeaconConstraint(uuid: uuid, major: 1, minor: minor))
  }

  private static func frame(_ minor: UInt16) -> BeaconFrame {
    BeaconFrame(uuid: uuid, major: 1, minor: minor)
  }

  @Test func anAppRangesThroughTheDaemonAndTheRadioThenRests() async throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Self.frame(1), rssi: -60, every: 0.1, from: 0, to: 1000)
    let machine = try TestMachine(scanner)
    try machine.start()
    let app = try #require(machine.app())
    #expect(scanner.demands.allSatisfy { $0 == .none })
    try app.client.startRanging(RangingRequest(BeaconConstraint(uuid: Self.uuid)))
    #expect(
      await machine.advance {
        app.events.contains {
          if case .ranging(let report) = $0 { !report.beacons.isEmpty } else { false }
        }
      })
    #expect(app.client.service.received != nil)
    app.client.stopRanging(RangingRequest(BeaconConstraint(uuid: Self.uuid)))
    #expect(await eventually { scanner.demands.last == ScanDemand.none })
    await machine.stop()
  }

  @Test func aDaemonThatStartsAgainIsAFaultAndNothingIsTwice() async throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Self.frame(1), rssi: -60, every: 0.5, from: 10, to: 20)
    scanner.add(Self.frame(1), rssi: -60, every: 0.5, from: 60, to: 90)
    let machine = try TestMachine(scanner)
    try machine.start()
    let app = try #require(machine.app())
    try app.client.register(Self.region("door"))
    // The region is left later than that.
    #expect(await machine.advance(to: 15) { app.crossings == ["enter door"] })
    app.manager.flush()
    await machine.stop()
    #expect(await eventually { app.isWithoutDaemon })
    // What the app asks for meanwhile is done later.
    try app.client.register(Self.region("hall", minor: 7))
    #expect(app.client.regions.map(\.identifier) == ["door", "hall"])
    try machine.start()
    #expect(await eventually { app.client.service.availability == .available })
    #expect(app.client.regions.map(\.identifier) == ["door", "hall"])
    #expect(
      await machine.advance {
        app.crossings == ["enter door", "exit door", "enter door", "exit door"]
      })
    await machine.stop()
  }

  /// Otherwise an app would take an event for one of a region that it has stopped to monitor.
  @Test func aRegionOfAnEarlierProcessIsKnownByItsEventWithoutADaemon() async throws {
    let scanner = ScriptedScanner.visitor()
    let start = scanner.clock.now
    let machine = try TestMachine(scanner)
    try machine.start()
    do {
      let app = try #require(machine.app())
      try app.client.register(Self.region("door"))
      app.manager.flush()
      app.end()
    }
    #expect(await machine.isWithoutProcesses())
    #expect(await machine.advance { scanner.delivered.seconds(since: start) > 40 })
    let app = try #require(machine.app())
    #expect(await eventually { app.crossings == ["enter door", "exit door"] })
    await machine.stop()
    #expect(await eventually { app.isWithoutDaemon })
    #expect(app.client.region("door") == Self.region("door"))
  }

  @Test func eventsWaitForAnAppThatMayAlwaysAndComeOnce() async throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Self.frame(1), rssi: -60, every: 0.5, from: 10, to: 20)
    let start = scanner.clock.now
    let machine = try TestMachine(scanner)
    try machine.start()
    do {
      let app = try #require(machine.app())
      try app.client.register(Self.region("door"))
      app.manager.flush()
      app.end()
    }
    #expect(await machine.isWithoutProcesses())
    // The daemon itself also starts again meanwhile.
    await machine.stop()
    try machine.start()
    #expect(
      await machine.advance { scanner.delivered.seconds(since: start) > 40 })
    do {
      let app = try #require(machine.app())
      #expect(await eventually { app.crossings == ["enter door", "exit door"] })
      app.manager.flush()
      app.end()
    }
    await machine.stop()
    try machine.start()
    let later = try #require(machine.app())
    // The answer, or the event in place of it, comes after the events that wait.
    later.client.requestState(of: Self.region("door"))
    #expect(
      await machine.advance {
        later.events.contains {
          switch $0 {
          case .region, .regionState: true
          default: false
          }
        }
      })
    #expect(later.crossings.isEmpty)
    await machine.stop()
  }

  /// The settings of an app that lives without processes are those of an earlier one.
  @Test func theFirstProcessDecidesTheSettings() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    try machine.start()
    var hello = AppHello()
    hello.maximumRegions = 1
    do {
      let app = try #require(machine.app(hello))
      try app.client.register(Self.region("door"))
      #expect(throws: BeaconServiceError.self) { try app.client.register(Self.region("hall")) }
      app.end()
    }
    #expect(await machine.isWithoutProcesses())
    hello.maximumRegions = 2
    for _ in 1...2 {
      do {
        let app = try #require(machine.app(hello))
        try app.client.register(Self.region("hall"))
        #expect(app.client.regions.map(\.identifier) == ["door", "hall"])
        // Another process says something else meanwhile.
        let other = try #require(machine.app())
        #expect(throws: BeaconServiceError.self) { try other.client.register(Self.region("attic")) }
        app.end()
        other.end()
      }
      #expect(await machine.isWithoutProcesses())
      await machine.stop()
      try machine.start()
    }
    await machine.stop()
  }

  @Test func anAppThatEndsLeavesSettingsOnlyWithRegions() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false), file: #"{"*": "whenInUse"}"#)
    try machine.start()
    for register in [false, true] {
      do {
        let app = try #require(machine.app())
        #expect(machine.profiles.count == 1)
        if register { try app.client.register(Self.region("door")) }
        app.manager.flush()
        app.end()
      }
      // The app may not use the services without a process.
      #expect(await eventually { machine.apps?.uses.isEmpty == true })
      #expect(await eventually { machine.profiles.isEmpty == !register })
    }
    await machine.stop()
    try machine.start()
    #expect(machine.apps?.uses.isEmpty == true)
    // The daemon ends first here, so only its next start finds that there is nothing to do. The app
    // ends before that, or it would connect again.
    do {
      let app = try #require(machine.app())
      #expect(app.client.regions.map(\.identifier) == ["door"])
      app.client.unregister("door")
      app.manager.flush()
      app.end()
      await machine.stop()
    }
    try machine.start()
    let uses = { machine.apps?.uses ?? [:] }
    #expect(await eventually { machine.profiles.isEmpty }, "\(uses()) \(machine.scratch.names)")
    await machine.stop()
  }

  @Test func aUserCannotHaveAnyNumberOfApps() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    machine.maximumApps = UserLimit(own: 0, others: 0)
    try machine.start()
    let answers = try await exchange([.hello(AppHello())], machine)
    guard case .refused(let sentence) = answers.last else {
      Issue.record("the daemon answers \(answers)")
      return
    }
    #expect(sentence.contains("has 0 apps"))
    await machine.stop()
  }

  @Test func anAppThatDoesNotReadDisturbsNobody() async throws {
    let scanner = ScriptedScanner(isRecorded: false)
    scanner.add(Self.frame(1), rssi: -60, every: 0.01, from: 0, to: 10_000)
    let machine = try TestMachine(scanner)
    try machine.start()
    // This one reads nothing after its requests.
    let socket = try #require(DaemonLink.connect(to: machine.socket))
    defer { close(socket) }
    let messages: [AppMessage] = [
      .hello(AppHello()),
      .addClient(
        ClientIdentifier(rawValue: 1), group: .application, isReceiving: true,
        pacesRecordings: false),
      .call(1, .beacons(.startSightings, ClientIdentifier(rawValue: 1))),
    ]
    // The kernel shows the sender of what comes after the greeting.
    var greeting = [UInt8](repeating: 0, count: 64)
    _ = unsafe greeting.withUnsafeMutableBytes { unsafe read(socket, $0.baseAddress, $0.count) }
    for message in messages {
      let line = try message.line() + [UInt8(ascii: "\n")]
      _ = unsafe line.withUnsafeBytes { unsafe write(socket, $0.baseAddress, $0.count) }
    }
    let app = try #require(machine.app())
    try app.client.startRanging(RangingRequest(nil))
    for count in 1...200 {
      #expect(
        await machine.advance(by: 1) {
          app.events.count { if case .ranging = $0 { true } else { false } } >= count
        })
    }
    await machine.stop()
  }

  /// Sends the messages of an app, and returns the answers until the end of the connection.
  private func exchange(_ messages: [AppMessage], _ machine: TestMachine) async throws
    -> [DaemonMessage]
  {
    let descriptor = try #require(DaemonLink.connect(to: machine.socket))
    let queue = DispatchQueue(label: "test")
    let socket = LineSocket(descriptor, maximumLine: 1 << 20, on: queue)
    let lines = Mutex<[[UInt8]]>([])
    let hasEnded = Atomic<Bool>(false)
    socket.start(received: { line in lines.withLock { $0.append(line) } }) {
      hasEnded.store(true, ordering: .releasing)
    }
    // The kernel shows the sender of what comes after the greeting.
    #expect(await eventually { !lines.withLock { $0.isEmpty } })
    for message in messages { socket.send(try message.line()) }
    #expect(await eventually { hasEnded.load(ordering: .acquiring) })
    return try lines.withLock { $0 }.map { try DaemonMessage(line: $0) }
  }

  /// A connection that waits makes the socket readable all the time.
  @Test func aShortageOfDescriptorsMakesThePaceSlow() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    let times = Mutex<[ContinuousClock.Instant]>([])
    try machine.start { listener in
      let count = times.withLock { times in
        times.append(.now)
        return times.count
      }
      guard count > 2 else {
        errno = EMFILE
        return -1
      }
      return Glibc.accept(listener, nil, nil)
    }
    let answers = try await exchange([.finish(1)], machine)
    #expect(answers.count == 2)
    let found = times.withLock { $0 }
    for (earlier, later) in zip(found.prefix(2), found.dropFirst()) {
      #expect(later - earlier > .milliseconds(990))
    }
    await machine.stop()
  }

  @Test func rootAndTheServicesUserMayHaveMore() {
    let limit = UserLimit(own: 2, others: 1)
    #expect(limit[0] == 2)
    #expect(limit[geteuid()] == 2)
    #expect(limit[geteuid() + 1] == 1)
  }

  @Test func aGroupWithALongNameIsRefused() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    try machine.start()
    func add(_ number: UInt64, _ name: String) -> AppMessage {
      .addClient(
        ClientIdentifier(rawValue: number), group: ClientGroup(name), isReceiving: true,
        pacesRecordings: false)
    }
    // Each of these letters has two bytes.
    let answers = try await exchange(
      [
        .hello(AppHello()), add(1, String(repeating: "é", count: 128)),
        add(2, String(repeating: "é", count: 129)),
      ], machine)
    guard case .refused(let sentence) = answers.last else {
      Issue.record("the daemon answers \(answers)")
      return
    }
    #expect(sentence == "the name of a group may have 256 bytes at most")
    await machine.stop()
  }

  /// An event for a client is kept until the client finishes it, with its region.
  @Test func aLongNameIsRefusedInEveryRequestThatIsKept() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    try machine.start()
    let client = ClientIdentifier(rawValue: 1)
    let name = String(repeating: "a", count: 5000)
    let place = try #require(Coordinate(latitude: 48, longitude: 11))
    let circle = try CircularRegion(identifier: name, center: place, radius: 100)
    let answers = try await exchange(
      [
        .hello(AppHello()),
        .addClient(client, group: .application, isReceiving: false, pacesRecordings: false),
        .call(1, .beacons(.requestState(Self.region(name)), client)),
        .call(2, .beacons(.startRanging([RangingRequest(nil, identifier: name)]), client)),
        .call(3, .location(.requestState(circle), client)),
        // The same client once more, which ends the connection.
        .addClient(client, group: .application, isReceiving: false, pacesRecordings: false),
      ], machine)
    let failures = answers.compactMap { answer -> Int? in
      switch answer {
      case .reply(_, .beaconsFailed(.identifierTooLong(let bytes))): bytes
      case .reply(_, .locationFailed(.identifierTooLong(let bytes))): bytes
      default: nil
      }
    }
    #expect(failures == [5000, 5000, 5000])
    await machine.stop()
  }

  /// Clients that are added or removed do not get another 4,096 events each without end.
  @Test func aProcessThatFinishesNoEventsIsRefused() async throws {
    let machine = try TestMachine(ScriptedScanner(isRecorded: false), file: #"{"*": "denied"}"#)
    try machine.start()
    let queue = DispatchQueue(label: "test")
    let socket = LineSocket(
      try #require(DaemonLink.connect(to: machine.socket)), maximumLine: 1 << 20, on: queue)
    let answers = Mutex<[DaemonMessage]>([])
    socket.start(received: { line in
      guard let message = try? DaemonMessage(line: line) else { return }
      answers.withLock { $0.append(message) }
    }) {
    }
    func isAnswered(_ condition: @escaping (DaemonMessage) -> Bool) async -> Bool {
      await eventually { answers.withLock { $0.contains(where: condition) } }
    }
    #expect(await isAnswered { if case .greeting = $0 { true } else { false } })
    socket.send(try AppMessage.hello(AppHello()).line())
    for round in UInt64(1)...5 {
      let client = ClientIdentifier(rawValue: round)
      socket.send(
        try AppMessage.addClient(
          client, group: .application, isReceiving: true, pacesRecordings: false
        ).line())
      let ask = AppCall.beacons(.requestState(Self.region("door")), client)
      for _ in 1...4200 { socket.send(try AppMessage.call(0, ask).line()) }
      guard round < 5 else { break }
      socket.send(try AppMessage.call(round, .afterOutput(.beacons)).line())
      #expect(await isAnswered { if case .reply(round, _) = $0 { true } else { false } })
      if round < 3 { socket.send(try AppMessage.removeClient(client).line()) }
    }
    #expect(
      await isAnswered {
        guard case .refused(let sentence) = $0 else { return false }
        return sentence.contains("unfinished events")
      })
    socket.close()
    await machine.stop()
  }

  private static let wrongLines = [
    "no JSON", "{}", #"{"call":{"_0":1,"_1":{"flush":{}}}}"#, #"{"hello":{"_0":{"version":99}}}"#,
    String(repeating: "a", count: 2 << 20), "\u{0}",
  ]

  @Test(arguments: wrongLines.indices)
  func aWrongFirstMessageIsRefused(index: Int) async throws {
    let line = Self.wrongLines[index]
    let machine = try TestMachine(ScriptedScanner(isRecorded: false))
    try machine.start()
    let descriptor = try #require(DaemonLink.connect(to: machine.socket))
    let queue = DispatchQueue(label: "test")
    let socket = LineSocket(descriptor, maximumLine: 1 << 20, on: queue)
    let lines = Mutex<[[UInt8]]>([])
    let hasEnded = Atomic<Bool>(false)
    socket.start(received: { line in lines.withLock { $0.append(line) } }) {
      hasEnded.store(true, ordering: .releasing)
    }
    #expect(await eventually { lines.withLock { $0.count } == 1 })
    socket.send(Array(line.utf8))
    #expect(await eventually { hasEnded.load(ordering: .acquiring) })
    if line.utf8.count < 1 << 20 {
      let last = try DaemonMessage(line: try #require(lines.withLock { $0.last }))
      guard case .refused(let sentence) = last else {
        Issue.record("the daemon answers \(last)")
        return
      }
      #expect(sentence.contains("version") || sentence.contains("hello"))
    }
    await machine.stop()
  }
}
