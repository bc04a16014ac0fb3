// The service for apps, or another program at its socket, as the library of an app receives it. Input: a byte of
// choices, and a script (support/apps/Script.swift) of what the service sends. A call of the app is answered by the
// lines up to its reply, in which `#` is the number of the call, or else by `done`. Commands: `@e` ends the connection,
// `@h` leaves a call without an answer if the app is impatient, `@o` connects again, and the app's calls are below.
//
// Each event is handed out, acknowledged and finished as a plain model states: a stored one once. No call waits for
// ever, and afterwards the app is served by another connection.

import Advertising
import Dispatch
import Glibc
import Logging
import Positioning
import Regions
import Scanning
import ServiceCore
import Synchronization

func check(_ input: [UInt8]) {
  let choices = input.first ?? 0
  let run = Run(Script(input.dropFirst()), choices)
  run.perform()
}

private let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }

/// The descriptor that the app's next connection gets. Only `Run` connects.
private final class Door: Sendable {
  private let descriptor = Mutex<Int32?>(nil)
  private static let key = DispatchSpecificKey<Bool>()
  /// The queue of the app's calls, which wait.
  let queue: DispatchQueue

  init() {
    queue = DispatchQueue(label: "fuzz.app")
    queue.setSpecific(key: Self.key, value: true)
  }

  func open(_ end: Int32) { descriptor.withLock { $0 = end } }

  func connect() -> Int32? {
    DispatchQueue.getSpecific(key: Self.key) == true ? descriptor.withLock { $0.take() } : nil
  }
}

/// The events that a client gets, and what it does with them.
private final class Listener: Sendable {
  enum Use: UInt8 {
    case complete, keep, leave
  }

  private struct State {
    var received: [String] = []
    var kept: [ServiceDelivery] = []
  }

  private let state = Mutex(State())
  private let mode: UInt8

  init(mode: UInt8) { self.mode = mode }

  /// Returns the use of an event, by the number of those before it.
  static func use(_ count: Int, mode: UInt8) -> Use {
    Use(rawValue: mode < 3 ? mode : UInt8(count % 3)) ?? .complete
  }

  func receive(_ delivery: ServiceDelivery) {
    // The library reports an absence itself, at any time.
    if isAbsence(delivery.event) { return delivery.complete() }
    let text = "\(delivery.event)"
    let use = state.withLock { state in
      defer { state.received.append(text) }
      let use = Self.use(state.received.count, mode: mode)
      if use == .keep { state.kept.append(delivery) }
      return use
    }
    switch use {
    case .complete: delivery.complete()
    case .keep: break
    case .leave: delivery.finish()
    }
  }

  func completeAll() {
    let kept = state.withLock { state in
      defer { state.kept = [] }
      return state.kept
    }
    for delivery in kept { delivery.complete() }
  }

  var received: [String] { state.withLock { $0.received } }
}

private func isAbsence(_ event: any ServiceEvent) -> Bool {
  let sentence: String? =
    switch event {
    case BeaconEvent.health(let health, _): health.sentence
    case LocationEvent.health(let health, _): health.sentence
    default: nil
    }
  return sentence?.hasPrefix("the location service does not answer") == true
}

/// The app's manager and services.
private final class App: Sendable {
  let manager: ServiceManager
  let beacons: BeaconService
  let locations: LocationService

  init(_ link: DaemonLink) {
    var settings = ServiceManager.Configuration()
    settings.persistence = .none
    settings.logger = logger
    settings.daemon = link
    manager = ServiceManager(settings)
    beacons = BeaconService(manager, scanner: nil)
    locations = LocationService(manager, source: nil)
  }
}

/// The run of a script.
private final class Run {
  private var script: Script
  private let mode: UInt8
  private let isImpatient: Bool
  private let door = Door()
  private let link: DaemonLink
  private let app: App
  private var clients: [(client: ServiceClient, listener: Listener)] = []
  private var listeners: [UInt64: Listener] = [:]
  private var socket: Socket?
  private var model: Model
  /// A byte comes at one end when a call of the app has returned.
  private let (returned, returning) = Socket.pair()
  /// Whether the script answers the app's calls.
  private var isAsking = false
  private var isGreeted = false
  private var received: [[UInt8]] = []

  init(_ script: Script, _ choices: UInt8) {
    self.script = script
    mode = choices & 3
    isImpatient = choices & 4 != 0
    model = Model(mode: mode)
    let patience = isImpatient ? 0.002 : 600
    link = DaemonLink(AppHello(), patience: (patience, patience), logger: logger) { [door] in
      door.connect()
    }
    app = App(link)
  }

  deinit {
    close(returned)
    close(returning)
  }

  func perform() {
    connect()
    add()
    while let step = script.step() {
      switch step {
      case .line(let line): send(line)
      case .command(let letter, let number): perform(letter, number)
      }
    }
    check()
    complete()
    check()
    serveAgain()
    for (client, _) in clients { act { client.remove() } }
  }

  /// Checks that another connection of the service delivers a stored event once.
  private func serveAgain() {
    guard !isImpatient else { return }
    script = Script([])
    endConnection()
    connect(journal: "another")
    require(socket != nil, "a service is not connected to")
    add()
    guard let client = clients.last?.client.identifier else { return }
    let count = listeners[client.rawValue]?.received.count
    for number in UInt64(1)...2 {
      send(
        .delivery(
          number, client, .beacons(.ended("\(client)", isFailure: false)), entry: Int64(number / 2))
      )
      send(.delivery(number + 2, client, .beacons(.ended("", isFailure: false)), entry: nil))
    }
    check()
    require(count == 0 && listeners[client.rawValue]?.received.count == 4, "an event is missing")
  }

  // MARK: The app

  /// Runs a part of the app, and answers its calls meanwhile.
  private func act(isAsking: Bool = false, _ body: @escaping @Sendable () -> Void) {
    start(body)
    self.isAsking = isAsking
    while !wait() {}
    self.isAsking = false
  }

  private func start(_ body: @escaping @Sendable () -> Void) {
    door.queue.async { [returning] in
      body()
      var byte: UInt8 = 1
      // The byte outlives the call.
      _ = unsafe write(returning, &byte, 1)
    }
  }

  /// Waits for messages, which it processes. Returns whether the part of the app has returned.
  private func wait() -> Bool {
    guard let socket else {
      var byte: UInt8 = 0
      // The byte outlives the call.
      return unsafe read(returned, &byte, 1) == 1
    }
    let isOver = socket.receive(orWhen: returned) { received.append($0) }
    while !received.isEmpty { take(received.removeFirst()) }
    if socket.hasEnded {
      require(isImpatient || !model.isConnected, "the app ends the connection")
      if self.socket === socket { disconnected() }
    }
    return isOver
  }

  private func add() {
    guard clients.count < 4 else { return }
    let listener = Listener(mode: mode)
    let added = Mutex<ServiceClient?>(nil)
    act { [app] in
      let client = app.manager.addClient(pacesRecordings: false) { listener.receive($0) }
      added.withLock { $0 = client }
    }
    guard let client = added.withLock({ $0 }) else { return }
    clients.append((client, listener))
    listeners[client.identifier.rawValue] = listener
    model.clients.insert(client.identifier.rawValue)
  }

  private func perform(_ letter: UInt8, _ number: Int) {
    let client = clients.isEmpty ? nil : clients[number % clients.count].client
    let (manager, beacons, locations) = (app.manager, app.beacons, app.locations)
    switch letter {
    case UInt8(ascii: "e"): endConnection()
    case UInt8(ascii: "o"): if socket == nil { connect() }
    case UInt8(ascii: "c"): add()
    case UInt8(ascii: "d"):
      guard let client else { return }
      check()
      clients.removeAll { $0.client.identifier == client.identifier }
      act { client.remove() }
      model.remove(client.identifier.rawValue)
    case UInt8(ascii: "b"):
      guard let client else { return }
      let request = Self.requests[number / 4 % Self.requests.count]
      act(isAsking: true) { _ = try? beacons.perform(request, for: client) }
    case UInt8(ascii: "l"):
      guard let client else { return }
      let call = Self.calls[number / 4 % Self.calls.count]
      act(isAsking: true) { _ = try? locations.perform(call, for: client) }
    case UInt8(ascii: "g"): act(isAsking: true) { _ = manager.authorizationStatus }
    case UInt8(ascii: "q"):
      act(isAsking: true) { manager.requestAuthorization(.authorizedAlways) }
    case UInt8(ascii: "s"):
      act(isAsking: true) {
        _ = (beacons.received, beacons.receiverStates, beacons.availability, beacons.end)
        _ = (locations.latestFix, locations.wallClockOffset, locations.fault, locations.failure)
      }
    case UInt8(ascii: "w"): act(isAsking: true) { manager.flush() }
    case UInt8(ascii: "u"): act { client?.setReceiving(number % 2 == 0) }
    case UInt8(ascii: "t"):
      check()
      complete()
    default: break
    }
  }

  private static let region = BeaconRegion(
    identifier: "door",
    constraint: BeaconConstraint(
      uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)))
  private static let requests: [BeaconRequest] = [
    .startRanging([RangingRequest(nil)]), .rangingRequests, .register(region, assuming: nil),
    .regions, .region("door"), .snapshot("door"), .approach("door"), .unregister("door"),
    .startSightings, .reportReceiverStates, .requestState(region),
    .stopRanging(RangingRequest(nil)),
  ]
  private static let calls: [LocationCall] = [
    .startUpdates(UpdateSettings()), .use, .requestFix(.best), .startVisits, .circles,
    .snapshot("door"), .startHeadings(filter: nil, .portrait), .latestHeading, .reportHealth,
    .stopUpdates, .stopVisits, .startSignificantChanges,
  ]

  /// Finishes the events that clients have kept.
  private func complete() {
    let all = Array(listeners.values)
    act { for listener in all { listener.completeAll() } }
    model.completeAll()
  }

  /// Checks that the events so far were handed out and answered as the model states.
  private func check() {
    // The second time, the answers to events have arrived.
    for _ in 1...2 {
      act { [app] in
        let done = DispatchSemaphore(value: 0)
        app.beacons.afterOutput { done.signal() }
        done.wait()
      }
    }
    guard !isImpatient else { return }
    for (client, listener) in listeners {
      let (got, expected) = (listener.received, model.events[client] ?? [])
      require(got.count == expected.count, "events \(got) in place of \(expected)")
      for (one, other) in zip(got, expected) {
        require(counts(one.utf8) == counts(other.utf8), "the event \(one) in place of \(other)")
      }
    }
    guard model.isConnected else { return }
    let (acknowledged, finished) = (model.acknowledged, model.finished)
    require(
      acknowledgments.sorted() == acknowledged.sorted(),
      "acknowledged \(acknowledgments) in place of \(acknowledged)")
    require(finishes.sorted() == finished.sorted(), "finished \(finishes) in place of \(finished)")
  }

  // MARK: The service

  private var acknowledgments: [UInt64] = []
  private var finishes: [UInt64] = []

  /// Connects the app, with the next lines of the script as greeting and welcome.
  private func connect(journal: String = "journal") {
    let (one, other) = Socket.pair()
    door.open(one)
    let socket = Socket(other)
    self.socket = socket
    isGreeted = false
    let result = Mutex(false)
    start { [link] in
      let isOpen = link.open()
      result.withLock { $0 = isOpen }
    }
    var welcome: String?
    var isOver = false
    if case .greeting? = open(.greeting(version: 1)) {
      while !isGreeted, !isOver { isOver = wait() }
      if !isOver, case .welcome(_, let name)? = open(.welcome(version: 1, journal: journal)) {
        welcome = name
      }
    }
    while !isOver { isOver = wait() }
    guard result.withLock({ $0 }), let welcome else { return disconnected() }
    acknowledgments = []
    finishes = []
    model.connect(welcome)
  }

  /// Sends the next line of the script, or a message in place of it. Returns what was sent.
  private func open(_ message: DaemonMessage) -> DaemonMessage? {
    switch script.step() {
    case .line(let line): return send(opening: line)
    case .command(UInt8(ascii: "e"), _)?: socket?.finish()
    case .command(UInt8(ascii: "h"), _)? where isImpatient: break
    case let step?:
      script.putBack(step)
      return send(opening: encoded(message))
    case nil: return send(opening: encoded(message))
    }
    return nil
  }

  private func send(opening line: [UInt8]) -> DaemonMessage? {
    socket?.send(line + [UInt8(ascii: "\n")]) { received.append($0) }
    return message(line, as: DaemonMessage.self)
  }

  private func encoded(_ message: DaemonMessage) -> [UInt8] {
    guard let line = try? message.line() else { fatalError("not encoded: \(message)") }
    return line
  }

  private func send(_ message: DaemonMessage) { send(encoded(message), isScripted: false) }

  /// Sends a line. Returns the message that it is.
  @discardableResult
  private func send(_ line: [UInt8], isScripted: Bool = true) -> DaemonMessage? {
    guard let socket else { return nil }
    socket.send(line + [UInt8(ascii: "\n")]) { received.append($0) }
    let message =
      isScripted ? message(line, as: DaemonMessage.self) : try? DaemonMessage(line: line)
    if case .delivery(let number, let client, let event, let entry)? = message {
      model.deliver(number, client.rawValue, event, entry)
    }
    return message
  }

  /// Ends the connection, after everything that was sent has been processed.
  private func endConnection() {
    guard let socket else { return }
    check()
    guard self.socket === socket else { return }
    model.isConnected = false
    socket.finish()
    socket.receive(until: { false }) { _ in }
    disconnected()
  }

  private func disconnected() {
    model.isConnected = false
    received = []
    socket = nil
  }

  private func take(_ line: [UInt8]) {
    switch try? AppMessage(line: line) {
    case nil: fatalError("the app sends \(String(decoding: line, as: UTF8.self))")
    case .hello: isGreeted = true
    case .acknowledge(let number): acknowledgments.append(number)
    case .finish(let number): finishes.append(number)
    case .call(let number, let call):
      switch call {
      case .afterOutput, .deliveriesFinished, .keepRegistrations: send(.reply(number, .done))
      default: if isAsking { answer(number) } else { send(.reply(number, .done)) }
      }
    default: break
    }
  }

  private func answer(_ number: UInt64) {
    script.number = number
    defer { script.number = nil }
    while let step = script.step() {
      switch step {
      case .line(let line):
        if case .reply(number, _)? = send(line) { return }
        continue
      case .command(UInt8(ascii: "e"), _):
        model.isConnected = false
        socket?.finish()
        return
      case .command(UInt8(ascii: "h"), _) where isImpatient: return
      case .command: script.putBack(step)
      }
      break
    }
    send(.reply(number, .done))
  }
}

/// The app's side of deliveries, the plainest way.
private struct Model {
  private struct Entry: Hashable {
    var client: UInt64
    var number: Int64
  }

  private struct Delivery {
    var number: UInt64
    var connection: Int
    var journal: Int
    var entry: Entry?
  }

  private let mode: UInt8
  var clients: Set<UInt64> = []
  var isConnected = false
  private var connection = 0
  private var journal = (name: "", number: 0)
  private var processing: [Entry: Delivery] = [:]
  private var processed: Set<Entry> = []
  private var kept: [Delivery] = []
  /// The events that each client gets, and the numbers that are sent back on this connection.
  private(set) var events: [UInt64: [String]] = [:]
  private(set) var acknowledged: [UInt64] = []
  private(set) var finished: [UInt64] = []

  init(mode: UInt8) { self.mode = mode }

  mutating func connect(_ name: String) {
    isConnected = true
    connection += 1
    acknowledged = []
    finished = []
    guard name != journal.name else { return }
    journal = (name, journal.number + 1)
    processing = [:]
    processed = []
  }

  mutating func remove(_ client: UInt64) {
    clients.remove(client)
    processing = processing.filter { $0.key.client != client }
  }

  mutating func deliver(
    _ number: UInt64, _ client: UInt64, _ event: DeliveredEvent, _ entry: Int64?
  ) {
    let delivery = Delivery(
      number: number, connection: connection, journal: journal.number,
      entry: entry.map { Entry(client: client, number: $0) })
    guard clients.contains(client) else { return finish(delivery) }
    if let entry = delivery.entry {
      if processed.contains(entry) {
        acknowledge(delivery)
        return finish(delivery)
      }
      let isNew = processing[entry] == nil
      processing[entry] = delivery
      guard isNew else { return }
    }
    var use = Listener.Use.complete
    let value = value(of: event)
    if !isAbsence(value) {
      use = Listener.use(events[client]?.count ?? 0, mode: mode)
      events[client, default: []].append("\(value)")
    }
    switch use {
    case .complete:
      acknowledge(delivery)
      finish(delivery)
    case .keep: kept.append(delivery)
    case .leave: finish(delivery)
    }
  }

  private func value(of event: DeliveredEvent) -> any ServiceEvent {
    switch event {
    case .beacons(let event): event
    case .location(let event): event
    case .authorization(let event): event
    }
  }

  mutating func completeAll() {
    for delivery in kept {
      acknowledge(delivery)
      finish(delivery)
    }
    kept = []
  }

  private mutating func acknowledge(_ delivery: Delivery) {
    var latest = delivery
    if let entry = delivery.entry, delivery.journal == journal.number {
      latest = processing[entry] ?? delivery
      processed.insert(entry)
    }
    if isConnected, latest.connection == connection { acknowledged.append(latest.number) }
  }

  private mutating func finish(_ delivery: Delivery) {
    var latest = delivery
    if let entry = delivery.entry, delivery.journal == journal.number {
      latest = processing.removeValue(forKey: entry) ?? delivery
    }
    if isConnected, latest.connection == connection { finished.append(latest.number) }
  }
}
