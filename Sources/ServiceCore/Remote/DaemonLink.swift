import DequeModule
import Dispatch
import Glibc
package import Logging
import Positioning
import Scanning
import Synchronization

/// The daemon that receives in place of this process, for the clients of one ``ServiceManager``.
///
/// A manager with a daemon passes its clients' calls on, and hands out the events that come back. A
/// daemon that ends is a fault of the source: clients are notified, requests are kept, and a new
/// connection repeats them. An event that a client has processed is not delivered again by it.
package final class DaemonLink: Sendable {
  /// Connects to the daemon; returns the socket's descriptor, or `nil` if it does not answer.
  package typealias Connect = @Sendable () -> Int32?

  private let hello: AppHello
  private let connect: Connect
  private let logger: Logger
  private let wire = DispatchQueue(label: "ServiceCore.daemon.wire")
  private let events = DispatchQueue(label: "ServiceCore.daemon.events")
  private let state = Mutex(State())

  /// The longest waits for a greeting and for an answer, in seconds.
  private let patience: (greeting: Double, answer: Double)
  /// The most bytes of a message.
  private static let maximumLine = 64 << 20
  /// The seconds before the first and the later attempts to connect again.
  private static let pauses = [0.05, 0.2, 1, 2, 5]
  /// The number of processed stored events to remember, more than can be on their way.
  private static let maximumProcessed = 16384

  private typealias Answer = @Sendable (DaemonReply?) -> Void

  /// A stored event on its way to one client.
  private struct Entry: Hashable {
    var client: ClientIdentifier
    var number: Int64
  }

  private struct State {
    weak var manager: ServiceManager?
    var socket: LineSocket?
    /// The number of connections so far. Deliveries of an earlier one are not acknowledged.
    var connections: UInt64 = 0
    /// The latest connection that has ended.
    var latestEnd: UInt64 = 0
    var isClosed = false
    var latestCall: UInt64 = 0
    var answers: [UInt64: Answer] = [:]
    var kept = KeptCalls()
    /// The stored events that clients process, with their latest deliveries.
    var processing: [Entry: Delivery] = [:]
    var processed: Set<Entry> = []
    var processedInOrder = Deque<Entry>()
    /// The journal that numbers the stored events.
    var journal = ""
    /// The first connection to the daemon that has the journal.
    var journalStart: UInt64 = 0
    /// Whether the daemon is storing the latest changes of registrations.
    var isConfirming = false
    var authorization = AuthorizationStatus.notDetermined
    var attempts = 0

    mutating func number() -> UInt64 {
      latestCall += 1
      return latestCall
    }

    /// Returns the stored event of a delivery; `nil` if the daemon has lost its data since, and
    /// numbers its events anew.
    func current(_ entry: Entry?, of delivery: Delivery) -> Entry? {
      delivery.connection >= journalStart ? entry : nil
    }
  }

  /// Creates a link. A daemon greets at once, but may ask others before it answers.
  package init(
    _ hello: AppHello, patience: (greeting: Double, answer: Double) = (2, 30), logger: Logger,
    connect: @escaping Connect
  ) {
    self.hello = hello
    self.patience = patience
    self.logger = logger
    self.connect = connect
  }

  /// Whether the daemon serves this process now.
  package var isConnected: Bool { state.withLock { $0.socket != nil } }

  /// Uses the daemon for a manager. One that does not answer yet is connected to later.
  func attach(_ manager: ServiceManager) {
    state.withLock { $0.manager = manager }
    guard !isConnected else { return }
    logger.error("\(Self.absence)")
    connectAgain()
  }

  func close() {
    let socket = state.withLock { state in
      state.isClosed = true
      return state.socket
    }
    socket?.close()
  }

  /// One sentence for people.
  static let absence =
    "the location service does not answer; start it by: systemctl start beaconscan-serve"

  // MARK: The connection

  /// Connects, and repeats the kept requests. Returns whether the daemon serves this process.
  package func open() -> Bool {
    guard let descriptor = connect() else { return false }
    let socket = LineSocket(descriptor, maximumLine: Self.maximumLine, on: wire)
    let connection = state.withLock { state in
      state.connections += 1
      return state.connections
    }
    let opening = Opening()
    socket.start { [weak self] line in
      if opening.isOver { self?.receive(line, connection) } else { opening.take(line) }
    } ended: { [weak self] in
      opening.end()
      self?.connectionEnded(connection)
    }
    guard case .greeting? = opening.next(patience.greeting) else {
      socket.close()
      return false
    }
    send([.hello(hello)], to: socket)
    let answer = opening.next(patience.answer)
    guard case .welcome(_, let journal)? = answer else {
      if case .refused(let sentence)? = answer { logger.error("\(sentence)") }
      socket.close()
      return false
    }
    // Under the lock, so that no later request comes before the kept ones.
    let isUsed = state.withLock { state in
      guard !state.isClosed, state.connections == connection, state.latestEnd < connection else {
        return false
      }
      state.socket = socket
      state.attempts = 0
      let isNewJournal = state.journal != journal
      if isNewJournal {
        state.journal = journal
        state.journalStart = connection
        state.processing = [:]
        state.processed = []
        state.processedInOrder = []
      }
      var latest = state.latestCall
      let messages = state.kept.messages(everything: isNewJournal) {
        latest += 1
        return latest
      }
      state.latestCall = latest
      send(messages, to: socket)
      return true
    }
    guard isUsed else {
      socket.close()
      return false
    }
    confirm()
    return true
  }

  /// The first messages of a connection: the greeting, and a welcome or a refusal.
  private final class Opening: Sendable {
    private let messages = Mutex<(taken: Int, waiting: [DaemonMessage])>((0, []))
    private let arrived = DispatchSemaphore(value: 0)

    var isOver: Bool { messages.withLock { $0.taken == 2 } }

    func take(_ line: [UInt8]) {
      messages.withLock { messages in
        messages.taken += 1
        if let message = try? DaemonMessage(line: line) { messages.waiting.append(message) }
      }
      arrived.signal()
    }

    func end() { arrived.signal() }

    /// Returns the next message; `nil` at the end of the connection or after so many seconds.
    func next(_ seconds: Double) -> DaemonMessage? {
      _ = arrived.wait(timeout: .now() + seconds)
      return messages.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }
  }

  private func connectionEnded(_ connection: UInt64) {
    let (answers, manager) = state.withLock { state -> ([Answer], ServiceManager?) in
      state.latestEnd = max(state.latestEnd, connection)
      guard state.connections == connection, state.socket != nil else { return ([], nil) }
      state.socket = nil
      defer { state.answers = [:] }
      return (Array(state.answers.values), state.isClosed ? nil : state.manager)
    }
    for answer in answers { answer(nil) }
    guard let manager else { return }
    logger.error("\(Self.absence)")
    events.async { [self] in reportAbsence(to: manager) }
    connectAgain()
  }

  private func connectAgain() {
    let pause = state.withLock { state in
      defer { state.attempts += 1 }
      return Self.pauses[min(state.attempts, Self.pauses.count - 1)]
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [weak self] in
      // The manager must not be released under the lock, which its release takes.
      guard let self, let manager = state.withLock({ $0.isClosed ? nil : $0.manager }) else {
        return
      }
      if withExtendedLifetime(manager, { open() }) {
        logger.notice("the location service answers again")
      } else {
        connectAgain()
      }
    }
  }

  private func reportAbsence(to manager: ServiceManager) {
    for client in manager.clients({ $0.isReceiving }) {
      for service in ServiceName.allCases { client.send(Self.absence(of: service)) }
    }
  }

  /// Reports to a client that begins to receive that nothing is received.
  private func reportAbsence(to identifier: ClientIdentifier, _ service: ServiceName) {
    events.async { [self] in
      let client = state.withLock { $0.manager }?.client(identifier)
      client?.send(Self.absence(of: service))
    }
  }

  private static func absence(of service: ServiceName) -> any ServiceEvent {
    switch service {
    case .beacons: BeaconEvent.health(absentScanner, at: .now)
    case .location: LocationEvent.health(absentLocations, at: .now)
    }
  }

  private static var absentScanner: ScannerHealth {
    ScannerHealth(.notAnswering, at: .now, isReceptionLost: true, sentence: absence)
  }

  private static var absentLocations: LocationHealth {
    LocationHealth(.notAnswering, at: .now, sentence: absence)
  }

  private func send(_ messages: [AppMessage], to socket: LineSocket?) {
    for message in messages {
      do {
        try socket?.send(message.line())
      } catch {
        logger.error("a request cannot be encoded: \(error)")
      }
    }
  }

  // MARK: Clients

  func add(
    _ client: ClientIdentifier, in group: ClientGroup, isReceiving: Bool, pacesRecordings: Bool
  ) {
    pass(
      .addClient(client, group: group, isReceiving: isReceiving, pacesRecordings: pacesRecordings)
    ) {
      $0.add(
        KeptCalls.Client(group, isReceiving: isReceiving, pacesRecordings: pacesRecordings), client)
    }
  }

  func remove(_ client: ClientIdentifier) {
    pass(.removeClient(client)) { $0.remove(client) }
    state.withLock { state in
      state.processing = state.processing.filter { $0.key.client != client }
    }
  }

  func setReceiving(_ isReceiving: Bool, _ client: ClientIdentifier) {
    pass(.setReceiving(client, isReceiving)) {
      $0.change(client) {
        $0.isReceiving = isReceiving
        $0.isReceivingStored = isReceiving
      }
    }
  }

  func beginReceiving(_ client: ClientIdentifier) {
    pass(.beginReceiving(client)) { $0.change(client) { $0.isReceiving = true } }
  }

  /// Keeps a request and sends it, in one order with all others.
  private func pass(_ message: AppMessage, _ keep: (inout KeptCalls) -> Void) {
    state.withLock { state in
      keep(&state.kept)
      send([message], to: state.socket)
    }
  }

  // MARK: Calls

  private typealias Keep = @Sendable (inout KeptCalls) -> Void

  /// Makes a call, and returns the reply; `nil` without a daemon. Keeps it unless it fails.
  private func ask(_ call: AppCall, keep: @escaping Keep = { _ in }) -> DaemonReply? {
    let answered = DispatchSemaphore(value: 0)
    let slot = Slot()
    let isSent = start(call, keep: keep) { value in
      slot.value.withLock { $0 = value }
      answered.signal()
    }
    guard isSent else { return nil }
    if answered.wait(timeout: .now() + patience.answer) == .timedOut {
      // A daemon that does not answer is one that does not run.
      state.withLock { $0.socket }?.close()
    }
    return slot.value.withLock { $0 }
  }

  private final class Slot: Sendable {
    let value = Mutex<DaemonReply?>(nil)
  }

  private func start(
    _ call: AppCall, keep: @escaping Keep = { _ in }, _ answer: @escaping Answer
  ) -> Bool {
    state.withLock { state in
      guard let socket = state.socket else {
        keep(&state.kept)
        return false
      }
      let number = state.number()
      state.answers[number] = { [weak self] reply in
        if reply?.isFailure != true { self?.state.withLock { keep(&$0.kept) } }
        answer(reply)
      }
      send([.call(number, call)], to: socket)
      return true
    }
  }

  /// Lets the daemon store the changes of registrations, so that later connections need not repeat
  /// them.
  private func confirm() {
    let number = state.withLock { state -> UInt64? in
      guard !state.isConfirming, state.socket != nil else { return nil }
      state.isConfirming = state.kept.unconfirmed != nil
      return state.kept.unconfirmed
    }
    guard let number else { return }
    let isSent = start(.keepRegistrations) { [weak self] reply in
      self?.state.withLock { state in
        state.isConfirming = false
        if reply != nil { state.kept.confirm(through: number) }
      }
      if reply != nil { self?.confirm() }
    }
    if !isSent { state.withLock { $0.isConfirming = false } }
  }

  func perform(
    _ request: BeaconRequest, for client: ClientIdentifier
  ) throws(BeaconServiceError) -> BeaconReply {
    let reply = ask(.beacons(request, client)) { $0.keep(request, of: client) }
    defer { confirm() }
    switch reply {
    case .beacons(let reply)?:
      state.withLock { $0.kept.update(reply, of: client) }
      return reply
    case .beaconsFailed(let error)?: throw error
    default:
      if case .reportReceiverStates = request { reportAbsence(to: client, .beacons) }
      return state.withLock { $0.kept.reply(to: request, of: client) }
    }
  }

  func perform(
    _ call: LocationCall, for client: ClientIdentifier
  ) throws(LocationServiceError) -> LocationReply {
    let reply = ask(.location(call, client)) { $0.keep(call, of: client) }
    defer { confirm() }
    switch reply {
    case .location(let reply)?:
      state.withLock { $0.kept.update(reply, of: client) }
      return reply
    case .locationFailed(let error)?: throw error
    default:
      if case .reportHealth = call { reportAbsence(to: client, .location) }
      return state.withLock { $0.kept.reply(to: call, of: client) }
    }
  }

  var beaconStatus: BeaconStatus {
    if case .beaconStatus(let status)? = ask(.beaconStatus) { return status }
    var status = BeaconStatus()
    status.source.availability = .unavailable(Self.absence)
    status.fault = Self.absentScanner
    return status
  }

  var locationStatus: LocationStatus {
    if case .locationStatus(let status)? = ask(.locationStatus) { return status }
    var status = LocationStatus()
    status.source.availability = .unavailable(Self.absence)
    status.fault = Self.absentLocations
    return status
  }

  /// Calls a function after the events of earlier calls are handed out.
  func afterOutput(_ service: ServiceName, _ body: @escaping @Sendable () -> Void) {
    call(.afterOutput(service)) { [events] in events.async(execute: body) }
  }

  func deliveriesFinished(_ service: ServiceName) async {
    await withCheckedContinuation { continuation in
      call(.deliveriesFinished(service)) { continuation.resume() }
    }
  }

  private func call(_ call: AppCall, then body: @escaping @Sendable () -> Void) {
    if !start(call, { _ in body() }) { body() }
  }

  func flush() { _ = ask(.flush) }

  // MARK: Authorization

  /// The status, which the daemon checks.
  func checkAuthorization() -> AuthorizationStatus {
    let reply = ask(.authorization)
    return state.withLock { state in
      if case .authorization(let status)? = reply { state.authorization = status }
      return state.authorization
    }
  }

  func requestAuthorization(_ wanted: AuthorizationStatus) {
    _ = ask(.requestAuthorization(wanted)) { $0.authorization = wanted }
  }

  // MARK: Events

  private func receive(_ line: [UInt8], _ connection: UInt64) {
    let message: DaemonMessage
    do {
      message = try DaemonMessage(line: line)
    } catch {
      return logger.error("a message of the location service is not understood: \(error)")
    }
    switch message {
    case .greeting, .welcome: break
    case .refused(let sentence): logger.error("\(sentence)")
    case .reply(let number, let reply):
      state.withLock { $0.answers.removeValue(forKey: number) }?(reply)
    case .delivery(let number, let client, let event, let entry):
      // In the order of the replies. Without a daemon, this shows what is registered.
      state.withLock { $0.kept.note(event.event, of: client) }
      events.async { [self] in
        deliver(
          Delivery(number: number, connection: connection, client: client), event.event,
          entry.map { Entry(client: client, number: $0) })
      }
    }
  }

  private struct Delivery: Sendable {
    let number: UInt64
    let connection: UInt64
    let client: ClientIdentifier
  }

  private func deliver(_ delivery: Delivery, _ event: any ServiceEvent, _ entry: Entry?) {
    guard let client = state.withLock({ $0.manager })?.client(delivery.client) else {
      return answer(delivery, entry, wasProcessed: false)
    }
    if let event = event as? AuthorizationEvent {
      state.withLock { $0.authorization = event.status }
    }
    let isNew = state.withLock { state -> Bool? in
      guard let entry = state.current(entry, of: delivery) else { return true }
      if state.processed.contains(entry) { return nil }
      defer { state.processing[entry] = delivery }
      return state.processing[entry] == nil
    }
    guard let isNew else {
      // The acknowledgment was lost with the daemon.
      answer(delivery, entry, wasProcessed: true)
      return
    }
    guard isNew else { return }
    client.send(
      event,
      returned: { [self] wasProcessed in
        if wasProcessed { acknowledge(delivery, entry) }
      },
      finished: { [self] in finish(delivery, entry) })
  }

  private func answer(_ delivery: Delivery, _ entry: Entry?, wasProcessed: Bool) {
    if wasProcessed { acknowledge(delivery, entry) }
    finish(delivery, entry)
  }

  private func acknowledge(_ delivery: Delivery, _ entry: Entry?) {
    state.withLock { state in
      let entry = state.current(entry, of: delivery)
      let latest = entry.flatMap { state.processing[$0] } ?? delivery
      if let entry, state.processed.insert(entry).inserted {
        state.processedInOrder.append(entry)
        if state.processedInOrder.count > Self.maximumProcessed {
          state.processed.remove(state.processedInOrder.removeFirst())
        }
      }
      if latest.connection == state.connections {
        send([.acknowledge(latest.number)], to: state.socket)
      }
    }
  }

  private func finish(_ delivery: Delivery, _ entry: Entry?) {
    state.withLock { state in
      let latest =
        state.current(entry, of: delivery).flatMap { state.processing.removeValue(forKey: $0) }
        ?? delivery
      if latest.connection == state.connections {
        send([.finish(latest.number)], to: state.socket)
      }
    }
  }
}
