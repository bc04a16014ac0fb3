import Advertising
import Foundation
import Logging
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

/// The app's side of the protocol, against a scripted daemon.
@Suite(.blocking) struct DaemonLinkTests {
  /// A daemon that answers as a test states. It ends a connection instead of sending `nil`.
  private final class ScriptedDaemon: Sendable {
    typealias Answer = @Sendable (_ message: AppMessage, _ connection: Int) -> [DaemonMessage?]

    private struct State {
      var received: [[AppMessage]] = []
      var sockets: [LineSocket] = []
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "test")
    private let answer: Answer

    init(_ answer: @escaping Answer) { self.answer = answer }

    /// The messages of each connection.
    var received: [[AppMessage]] { state.withLock { $0.received } }

    func calls(_ connection: Int) -> [AppCall] {
      received.dropFirst(connection).first?.compactMap {
        if case .call(_, let call) = $0 { call } else { nil }
      } ?? []
    }

    func endConnections() { for socket in state.withLock({ $0.sockets }) { socket.close() } }

    func connect() -> Int32? {
      var ends: [Int32] = [0, 0]
      guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
        return nil
      }
      let socket = LineSocket(ends[0], maximumLine: 1 << 20, on: queue)
      let connection = state.withLock { state in
        state.received.append([])
        state.sockets.append(socket)
        return state.received.count - 1
      }
      socket.start { [self] line in
        guard let message = try? AppMessage(line: line) else { return }
        state.withLock { $0.received[connection].append(message) }
        for message in answer(message, connection) {
          guard let line = try? message?.line() else { return socket.close() }
          socket.send(line)
        }
      } ended: {
      }
      if let line = try? DaemonMessage.greeting(version: 1).line() { socket.send(line) }
      return ends[1]
    }
  }

  private static func link(_ connect: @escaping DaemonLink.Connect) -> DaemonLink {
    DaemonLink(
      AppHello(), patience: (600, 600),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, connect: connect)
  }

  private static func manager(_ link: DaemonLink) -> (ServiceManager, BeaconClient) {
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.daemon = link
    let manager = ServiceManager(settings)
    let beacons = BeaconService(manager, scanner: nil)
    return (manager, BeaconClient(manager.addClient(pacesRecordings: false), of: beacons))
  }

  /// Answers as a daemon does that carries out everything.
  private static let carriesOut: ScriptedDaemon.Answer = { message, connection in
    switch message {
    case .hello: [.welcome(version: 1, journal: "journal")]
    case .call(let number, .beacons): [.reply(number, .beacons(.done))]
    case .call(let number, .location): [.reply(number, .location(.done))]
    case .call(let number, _): [.reply(number, .done)]
    default: []
    }
  }

  private static func region(_ identifier: String) -> BeaconRegion {
    BeaconRegion(
      identifier: identifier, constraint: BeaconConstraint(uuid: AppServerTests.uuid, major: 1))
  }

  private static func names(_ calls: [AppCall]) -> [String] {
    calls.compactMap {
      switch $0 {
      case .beacons(.keep(let region), _): "keep \(region.identifier)"
      case .beacons(.register(let region, _), _): "register \(region.identifier)"
      case .beacons(.unregister(let name), _): "unregister \(name)"
      case .beacons(.startRanging, _): "range"
      case .location(.startVisits, _): "visits"
      case .location(.stopVisits, _): "no visits"
      default: nil
      }
    }
  }

  @Test(arguments: 1...100)
  func aConnectionThatEndsWithTheWelcomeIsMadeAgain(count: Int) async throws {
    let daemon = ScriptedDaemon { message, connection in
      if connection == 0, case .hello = message {
        return [.welcome(version: 1, journal: "journal"), nil]
      }
      return Self.carriesOut(message, connection)
    }
    let link = Self.link { daemon.connect() }
    _ = link.open()
    let (manager, client) = Self.manager(link)
    #expect(await eventually { daemon.received.count == 2 })
    try client.register(Self.region("door"))
    #expect(await eventually { Self.names(daemon.calls(1)).last?.hasSuffix("door") == true })
    withExtendedLifetime(manager) {}
  }

  @Test func aRegionThatEndsWithoutADaemonEndsInTheNextOne() async throws {
    let isAway = Atomic<Bool>(false)
    let daemon = ScriptedDaemon(Self.carriesOut)
    let link = Self.link { isAway.load(ordering: .acquiring) ? nil : daemon.connect() }
    #expect(link.open())
    let (manager, client) = Self.manager(link)
    try client.register(Self.region("door"))
    try client.register(Self.region("hall"))
    let locations = LocationClient(client.client, of: LocationService(manager, source: nil))
    try locations.startVisits()
    isAway.store(true, ordering: .releasing)
    // Everything is confirmed, so nothing of it is repeated.
    #expect(
      await eventually {
        if case .keepRegistrations? = daemon.calls(0).last { true } else { false }
      })
    manager.flush()
    daemon.endConnections()
    #expect(await eventually { client.service.fault != nil })
    client.unregister("door")
    locations.stopVisits()
    try client.register(Self.region("yard"))
    isAway.store(false, ordering: .releasing)
    #expect(await eventually { daemon.received.count == 2 })
    #expect(
      await eventually {
        Self.names(daemon.calls(1)) == ["unregister door", "no visits", "keep yard"]
      })
  }

  @Test func aDaemonWithoutItsDataGetsEverythingAgain() async throws {
    let daemon = ScriptedDaemon { message, connection in
      if case .hello = message { return [.welcome(version: 1, journal: "\(connection)")] }
      return Self.carriesOut(message, connection)
    }
    let link = Self.link { daemon.connect() }
    #expect(link.open())
    let (manager, client) = Self.manager(link)
    try client.register(Self.region("door"))
    manager.flush()
    daemon.endConnections()
    #expect(await eventually { Self.names(daemon.calls(1)) == ["keep door"] })
    withExtendedLifetime(manager) {}
  }

  /// The event of the daemon that lost its data does not stand for the one with the same number.
  @Test func anEventOfLostDataIsNotTakenForALaterOne() async throws {
    let daemon = ScriptedDaemon { message, connection in
      switch message {
      case .hello: [.welcome(version: 1, journal: "\(connection)")]
      case .addClient(let client, _, _, _):
        [
          .delivery(
            UInt64(connection) + 5, client, .beacons(.registered(Self.region("\(connection)"))),
            entry: 1)
        ]
      default: Self.carriesOut(message, connection)
      }
    }
    let link = Self.link { daemon.connect() }
    #expect(link.open())
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.daemon = link
    let manager = ServiceManager(settings)
    let deliveries = Mutex<[ServiceDelivery]>([])
    let client = manager.addClient { delivery in
      if case .registered? = delivery.event as? BeaconEvent {
        deliveries.withLock { $0.append(delivery) }
      } else {
        delivery.complete()
      }
    }
    #expect(await eventually { deliveries.withLock { $0.count } == 1 })
    daemon.endConnections()
    #expect(await eventually { deliveries.withLock { $0.count } == 2 })
    func answers() -> [String] {
      manager.flush()
      return daemon.received[1].compactMap {
        switch $0 {
        case .acknowledge(let number): "acknowledge \(number)"
        case .finish(let number): "finish \(number)"
        default: nil
        }
      }
    }
    deliveries.withLock { $0[0] }.complete()
    #expect(answers() == [])
    deliveries.withLock { $0[1] }.complete()
    #expect(answers() == ["acknowledge 6", "finish 6"])
    client.remove()
  }

  @Test func aRequestThatFailsIsNotRepeated() async throws {
    let daemon = ScriptedDaemon { message, connection in
      if case .call(let number, .beacons(.startRanging, _)) = message {
        return [.reply(number, .beaconsFailed(.unavailable("there is no adapter")))]
      }
      return Self.carriesOut(message, connection)
    }
    let link = Self.link { daemon.connect() }
    #expect(link.open())
    let (manager, client) = Self.manager(link)
    #expect(throws: BeaconServiceError.unavailable("there is no adapter")) {
      try client.startRanging(RangingRequest(nil))
    }
    client.requestState(of: Self.region("door"))
    daemon.endConnections()
    #expect(await eventually { daemon.received.count == 2 })
    manager.flush()
    #expect(Self.names(daemon.calls(1)).isEmpty)
  }

  @Test func anAbsentDaemonIsAFaultForEachClientThatBegins() async throws {
    let link = Self.link { nil }
    let (manager, client) = Self.manager(link)
    #expect(client.service.fault?.condition == .notAnswering)
    let sentences = Mutex<[String]>([])
    let observer = manager.addClient(isReceiving: false) { delivery in
      if case .health(let health, _)? = delivery.event as? BeaconEvent {
        sentences.withLock { $0.append(health.sentence) }
      }
      delivery.complete()
    }
    BeaconClient(observer, of: client.service).reportReceiverStates()
    #expect(await eventually { sentences.withLock { $0.count } == 1 })
    #expect(sentences.withLock { $0[0] }.hasPrefix("the location service does not answer"))
  }

  @Test func aSocketThatNobodyAcceptsIsNoDaemon() throws {
    let scratch = try Scratch()
    let listener = try DaemonLink.listen(at: scratch["apps.sock"])
    defer { close(listener) }
    let link = DaemonLink(
      AppHello(), patience: (0.05, 600),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { DaemonLink.connect(to: scratch["apps.sock"]) }
    // The last ones find the listener's queue full.
    for _ in 1...200 where link.open() { Issue.record("nobody has answered") }
  }

  @Test func aPeerThatDoesNotReadIsDisconnected() async throws {
    var ends: [Int32] = [0, 0]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[1]) }
    let hasEnded = Atomic<Bool>(false)
    let queue = DispatchQueue(label: "test")
    let socket = LineSocket(ends[0], maximumLine: 1 << 20, on: queue)
    socket.start(received: { _ in }, ended: { hasEnded.store(true, ordering: .releasing) })
    let line = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    for _ in 0..<30 { socket.send(line) }
    queue.sync {}
    let hasEndedEarly = hasEnded.load(ordering: .acquiring)
    #expect(!hasEndedEarly)
    for _ in 0..<4 { socket.send(line) }
    #expect(await eventually { hasEnded.load(ordering: .acquiring) })
  }

  @Test(arguments: [
    #"{"version":1,"rangingInterval":0}"#, #"{"version":1,"rangingInterval":"nan"}"#,
    #"{"version":1,"rangingInterval":"inf"}"#, #"{"version":1,"maximumRegions":-1}"#,
  ])
  func aWrongSettingIsRefused(hello: String) throws {
    let message = try AppMessage(line: Array(#"{"hello":{"_0":\#(hello)}}"#.utf8))
    guard case .hello(let hello) = message else {
      Issue.record("\(message)")
      return
    }
    #expect(hello.refusal?.contains("; state") == true)
  }

  /// What a process sent before its end arrives, also where the end is noticed by sending to it.
  @Test func theLastLinesOfAnEndedPeerAreRead() {
    var ends: [Int32] = [0, 0]
    #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let queue = DispatchQueue(label: "test")
    let socket = LineSocket(ends[0], maximumLine: 100, on: queue)
    let lines = Mutex<[String]>([])
    let hasEnded = Atomic<Bool>(false)
    // The queue does not read until the peer's end was noticed.
    queue.suspend()
    socket.start { line in
      lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    } ended: {
      hasEnded.store(true, ordering: .releasing)
    }
    let text = Array("one\ntwo\n".utf8)
    #expect(unsafe write(ends[1], text, text.count) == text.count)
    close(ends[1])
    socket.send(Array("answer".utf8))
    queue.resume()
    #expect(eventually { hasEnded.load(ordering: .acquiring) })
    #expect(lines.withLock { $0 } == ["one", "two"])
  }
}
