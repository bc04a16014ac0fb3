// Apps and programs that manage apps, which talk to the service for apps on its socket. Input: a byte of choices, and a
// script (support/apps/Script.swift). Its commands: `@1` … `@4` go on with another connection, `@x` ends it, `@s30` lets
// the sources deliver 30 tenths of a second, `@f` and `@a` finish and acknowledge all events of the connection.
//
// The service answers, refuses and ends as a plain model of a connection states. What it stores stays small, and afterwards it
// serves another app.

import AppDaemon
import Dispatch
import FoundationEssentials
import Glibc
import Logging
import Scanning
import ServiceCore
import Synchronization

func check(_ input: [UInt8]) {
  let choices = input.first ?? 0
  let machine = Machine(rule: Int(choices & 3), isStored: choices & 4 != 0)
  let before = allocatedBytes()
  var run = Run(
    machine, pieces: [.max, 1, 7, 1000][Int(choices >> 3 & 3)], isIntroduced: choices & 32 != 0)
  var script = Script(input.dropFirst())
  while let step = script.step() { run.perform(step) }
  run.settle()
  let growth = allocatedBytes() - before
  require(
    growth < 4 << 20 + run.lines * 40 << 10, "\(growth) bytes are stored after \(run.lines) lines")
  run.end(cut: choices & 64 != 0)
  machine.serveOther()
  machine.stop()
}

@_silgen_name("__sanitizer_get_current_allocated_bytes")
private func allocatedBytes() -> Int

/// Everything that the service shares between apps, without state of an app.
private enum Shared {
  static let folder = "/dev/shm/beaconscan-fuzz-\(getpid())"
  static let rules = ["always", "whenInUse", "onRequest", "denied"]
  static let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
  static let scanner = PacedScanner()
  static let source = PacedLocations()
  static let (beacons, locations) = make()
  /// The number of services for apps so far.
  static let machines = Atomic<Int>(0)

  private static func make() -> (BeaconService, LocationService) {
    // The folder is made anew: another process had this number.
    try? FileManager.default.removeItem(atPath: folder)
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for rule in rules {
      try? Data(#"{"*": "\#(rule)"}"#.utf8).write(to: URL(filePath: "\(folder)/\(rule).json"))
    }
    atexit { try? FileManager.default.removeItem(atPath: Shared.folder) }
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.logger = logger
    settings.authorization = SystemAuthorization(path: "\(folder)/always.json")
    let manager = ServiceManager(settings)
    return (
      BeaconService(manager, scanner: scanner), LocationService(manager, source: source)
    )
  }
}

/// The service for apps, which nothing has used.
private final class Machine {
  private let apps: Apps
  private let server: AppServer
  private let socket: String
  private let stored: String?
  private let rule: String
  /// A connection that asks for the apps.
  private var manager: Peer?

  init(rule: Int, isStored: Bool) {
    // Before the folder is used.
    let (beacons, locations) = (Shared.beacons, Shared.locations)
    self.rule = Shared.rules[rule]
    stored = isStored ? "\(Shared.folder)/apps" : nil
    // The one before may still listen.
    socket = "\(Shared.folder)/\(Shared.machines.wrappingAdd(1, ordering: .relaxed).newValue).sock"
    if let stored {
      try? FileManager.default.createDirectory(atPath: stored, withIntermediateDirectories: true)
    }
    let decisions = "\(Shared.folder)/decisions.json"
    // The path outlives the call.
    unsafe unlink(decisions)
    var deciders = AppAuthorizations.Configuration(decisions: decisions)
    deciders.file = "\(Shared.folder)/\(self.rule).json"
    deciders.bus = nil
    deciders.timeout = 1_000_000_000
    var configuration = Apps.Configuration(folder: stored, beacons: BeaconService.Configuration())
    configuration.markers = "\(Shared.folder)/launch"
    apps = Apps(
      configuration, authorizations: AppAuthorizations(deciders, logger: Shared.logger),
      beacons: beacons, locations: locations, logger: Shared.logger)
    server = AppServer(apps, logger: Shared.logger)
    do {
      server.listen(on: try AppServer.listen(at: socket))
    } catch {
      fatalError("\(error.sentence)")
    }
  }

  func connect() -> Peer {
    guard let descriptor = DaemonLink.connect(to: socket) else {
      fatalError("the service does not accept a connection: \(errno)")
    }
    return Peer(descriptor)
  }

  private var reports: [AppReport] {
    let manager = manager ?? connect()
    self.manager = manager
    return manager.apps()
  }

  /// Lets the sources deliver to the apps that use them.
  func advance(by steps: Int) {
    let uses = reports.map(\.use)
    if uses.contains(where: { $0.beacons != .none }) { Shared.scanner.pace.advance(by: steps) }
    if uses.contains(where: \.locations) { Shared.source.pace.advance(by: steps) }
  }

  /// Checks that another app is served after the connections have ended.
  func serveOther() {
    while reports.contains(where: { !$0.use.processes.isEmpty }) {}
    let other = connect()
    let client = ClientIdentifier(rawValue: 1)
    let request = AppCall.beacons(.startRanging([RangingRequest(nil)]), client)
    other.send(.hello(AppHello()))
    other.send(
      .addClient(client, group: ClientGroup("other"), isReceiving: true, pacesRecordings: false))
    other.send(.call(1, .requestAuthorization(.authorizedAlways)))
    other.send(.call(2, .authorization))
    other.send(.call(3, request))
    other.synchronize()
    guard case .authorization(let status)? = other.replies[2], let reply = other.replies[3] else {
      fatalError("another app is not served: \(other.replies)")
    }
    switch rule {
    case "always": require(status == .authorizedAlways, "another app is \(status)")
    case "whenInUse": require(status == .authorizedWhenInUse, "another app is \(status)")
    case "denied": require(status == .denied, "another app is \(status)")
    default: break
    }
    if case .beaconsFailed(.denied) = reply {
      require(!status.isAuthorized, "another app that may range is refused")
    } else {
      guard case .beacons(.done) = reply else { fatalError("another app cannot range: \(reply)") }
    }
    while status.isAuthorized, !other.hasRanged {
      advance(by: 15)
      other.synchronize()
    }
    other.end()
  }

  func stop() {
    manager?.end()
    apps.endRelaunch()
    server.stop()
    let stopped = DispatchSemaphore(value: 0)
    Task { [apps] in
      await apps.stop()
      stopped.signal()
    }
    stopped.wait()
    // The path outlives the call.
    unsafe unlink(socket)
    if let stored { try? FileManager.default.removeItem(atPath: stored) }
  }
}

/// The run of a script.
private struct Run {
  private let machine: Machine
  private let pieces: Int
  private let isIntroduced: Bool
  private var peers: [Int: Peer] = [:]
  private var current = 1
  private var connections = 0
  private(set) var lines = 0

  init(_ machine: Machine, pieces: Int, isIntroduced: Bool) {
    self.machine = machine
    self.pieces = pieces
    self.isIntroduced = isIntroduced
  }

  mutating func perform(_ step: Script.Step) {
    switch step {
    case .line(let line):
      guard let peer = peer() else { return }
      lines += 1
      peer.send(line: line)
      if peer.kind == .refused {
        peer.awaitEnd()
        peers[current] = nil
      }
    case .command(let letter, let number):
      switch letter {
      case UInt8(ascii: "1")...UInt8(ascii: "4"): current = Int(letter - UInt8(ascii: "0"))
      case UInt8(ascii: "x"): peers.removeValue(forKey: current)?.end()
      case UInt8(ascii: "s"):
        settle()
        machine.advance(by: min(number, 200))
        settle()
      case UInt8(ascii: "f"): peers[current]?.finishAll()
      case UInt8(ascii: "a"): peers[current]?.acknowledgeAll()
      default: break
      }
    }
  }

  /// Returns the current connection, made anew after a refusal.
  private mutating func peer() -> Peer? {
    if let peer = peers[current] { return peer }
    guard connections < 16 else { return nil }
    connections += 1
    let peer = machine.connect()
    peer.pieces = pieces
    peer.checks = 100
    peers[current] = peer
    guard isIntroduced, current < 3 else { return peer }
    peer.send(.hello(AppHello()))
    peer.send(
      .addClient(
        ClientIdentifier(rawValue: 1), group: .application, isReceiving: true,
        pacesRecordings: true))
    return peer
  }

  /// Waits until the service has processed all lines.
  func settle() {
    for peer in peers.values { peer.synchronize() }
  }

  func end(cut isCut: Bool) {
    for peer in peers.values { peer.end(cut: isCut) }
  }
}

/// A program that is connected to the service, and a plain model of what the service does with its messages.
private final class Peer {
  enum Kind {
    case unknown, app, manager, refused
  }

  private(set) var kind = Kind.unknown
  var pieces = Int.max
  /// The number of messages that are checked to be sent as they were read, because that is slow.
  var checks = 0
  private(set) var replies: [UInt64: DaemonReply] = [:]
  private(set) var hasRanged = false

  private let socket: Socket
  private var waiting: [UInt8] = []
  private var clients: Set<UInt64> = []
  private var everyClient: Set<UInt64> = []
  /// How often each number was called and not answered.
  private var calls: [UInt64: Int] = [:]
  private var latestCall = UInt64.max
  private var latestDelivery: UInt64 = 0
  /// The client of each delivery that is not finished.
  private var unfinished: [UInt64: UInt64] = [:]
  private var unfinishedOf: [UInt64: Int] = [:]
  private var isGreeted = false
  private var isWelcomed = false
  private var isRefused = false
  /// How many answers with the apps were requested and came.
  private var requests = 0
  private var answers: [[AppReport]] = []

  init(_ descriptor: Int32) {
    socket = Socket(descriptor)
    socket.receive(until: { isGreeted }) { take($0) }
    require(isGreeted, "the service does not greet")
  }

  private func read<Message: Codable & Sendable>(
    _ line: [UInt8], as type: Message.Type
  ) -> Message? {
    guard checks > 0, line.count < 1 << 16 else { return try? Message(line: line) }
    checks -= 1
    return message(line, as: type)
  }

  // MARK: What is sent

  func send(_ message: AppMessage) { send(encoded: message) }

  private func send(encoded message: some Encodable & Sendable) {
    guard let line = try? message.line() else { fatalError("not encoded: \(message)") }
    send(line: line)
  }

  func send(line: [UInt8]) {
    waiting += line
    waiting.append(UInt8(ascii: "\n"))
    note(line)
    if waiting.count > 1 << 16 { flush() }
  }

  private func flush() {
    socket.send(waiting, inPieces: pieces) { take($0) }
    waiting = []
  }

  /// Follows what the service makes of a line.
  private func note(_ line: [UInt8]) {
    guard line.count <= 1 << 20 else {
      kind = .refused
      return
    }
    if let message = read(line, as: AppMessage.self) {
      switch (kind, message) {
      // A second one is ignored, unless the service does not speak its version.
      case (.unknown, .hello(let hello)), (.app, .hello(let hello)):
        kind = hello.version == AppHello.version && hello.refusal == nil ? .app : .refused
      case (.app, _): note(message)
      default: kind = .refused
      }
    } else if let message = read(line, as: ManagementMessage.self), kind != .app {
      kind = .manager
      if case .apps = message { requests += 1 }
    } else {
      kind = .refused
    }
  }

  private func note(_ message: AppMessage) {
    switch message {
    case .addClient(let client, let group, _, _):
      let isAdded =
        group.name.utf8.count <= 256 && clients.count < 1024
        && clients.insert(client.rawValue).inserted
      if !isAdded { kind = .refused }
      everyClient.insert(client.rawValue)
    case .removeClient(let client): clients.remove(client.rawValue)
    case .finish(let number):
      if let client = unfinished.removeValue(forKey: number) { unfinishedOf[client]? -= 1 }
    case .call(let number, _): calls[number, default: 0] += 1
    default: break
    }
  }

  func finishAll() {
    guard kind == .app else { return }
    for number in unfinished.keys.sorted() { send(.finish(number)) }
  }

  func acknowledgeAll() {
    guard kind == .app else { return }
    for number in unfinished.keys.sorted() { send(.acknowledge(number)) }
  }

  // MARK: What is received

  /// Waits until the service has processed every message, and answered each call once.
  func synchronize() {
    switch kind {
    case .app:
      send(.call(latestCall, .afterOutput(.beacons)))
      latestCall -= 1
      flush()
      socket.receive(until: { calls.isEmpty }) { take($0) }
      require(isWelcomed, "an app is not welcome")
    case .manager:
      _ = apps()
    case .unknown, .refused: flush()
    }
    require(!socket.hasEnded || kind == .refused, "the service ends a connection that is right")
  }

  /// Requests the apps, as a program that manages them.
  func apps() -> [AppReport] {
    send(encoded: ManagementMessage.apps)
    flush()
    socket.receive(until: { answers.count == requests }) { take($0) }
    require(!socket.hasEnded, "the service ends the connection of a manager")
    let latest = answers.last ?? []
    requests -= answers.count
    answers = []
    return latest
  }

  /// Waits for the refusal and for the end of the connection.
  func awaitEnd() {
    flush()
    socket.receive(until: { false }) { take($0) }
  }

  func end(cut isCut: Bool = false) {
    flush()
    if isCut { socket.send(Array(#"{"call":{"_0":1"#.utf8)) { take($0) } }
    socket.finish()
    awaitEnd()
  }

  private func take(_ line: [UInt8]) {
    if let message = read(line, as: DaemonMessage.self) {
      return take(message)
    }
    guard let reply = read(line, as: ManagementReply.self) else {
      fatalError("the service sends \(String(decoding: line, as: UTF8.self))")
    }
    if case .apps(let reports) = reply { answers.append(reports) }
  }

  private func take(_ message: DaemonMessage) {
    if case .greeting = message {
      require(!isGreeted, "a second greeting")
      isGreeted = true
    }
    require(isGreeted, "a message comes before the greeting: \(message)")
    switch message {
    case .greeting: break
    case .welcome:
      require(!isWelcomed, "a second welcome")
      isWelcomed = true
    case .refused(let sentence):
      // Events may follow, which other threads send.
      require(kind == .refused && !isRefused, "refused: \(sentence)")
      isRefused = true
    case .reply(let number, let reply):
      let count = calls[number] ?? 0
      require(count > 0, "a reply without a call: \(message)")
      calls[number] = count > 1 ? count - 1 : nil
      replies[number] = reply
    case .delivery(let number, let client, let event, _):
      require(number == latestDelivery + 1, "delivery \(number) follows \(latestDelivery)")
      latestDelivery = number
      require(everyClient.contains(client.rawValue), "an event for an unknown client: \(message)")
      unfinished[number] = client.rawValue
      let count = (unfinishedOf[client.rawValue] ?? 0) + 1
      unfinishedOf[client.rawValue] = count
      // Two threads may each find room for one more.
      require(count <= 4096 + 8, "a client has \(count) events")
      if case .beacons(.ranging(let report)) = event, !report.beacons.isEmpty { hasRanged = true }
    }
  }
}
