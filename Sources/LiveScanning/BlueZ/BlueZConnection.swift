import DBusMessages
import Glibc
import Scanning

/// The connection to bluetoothd, which finds it on the bus, mirrors its objects, matches answers
/// with calls, and notices missing answers. After an error, call ``disconnect(_:at:)``; the next
/// ``connect(at:)`` that is due starts again.
struct BlueZConnection: ~Copyable {
  enum Event {
    /// The setup in bluetoothd is gone. The obstacle is `nil` if bluetoothd is there.
    case lost(BlueZView.Obstacle?)
    /// The mirror has all of bluetoothd's objects.
    case ready
    /// A request was accepted, or refused with an error.
    case answer(BlueZRequest, link: Int, error: BusError?)
    /// bluetoothd calls an object of this process.
    case call
    /// A signal from bluetoothd, which the mirror has applied.
    case signal(isAboutAdapters: Bool)
  }

  private enum Subject: Hashable {
    case owner, objects, life
    case request(BlueZRequest, link: Int)
  }

  private var client: BusClient<Subject>
  private(set) var objects = ManagedObjects()
  /// Whether the mirror is complete.
  private(set) var isReady = false
  /// The time when bluetoothd last sent something, came or went.
  private(set) var latestMessage = MonotonicTime(nanoseconds: 0)

  private var isMute = false
  private var latestRead = MonotonicTime(nanoseconds: 0)

  /// The nanoseconds in which messages are gathered, to be read together.
  private static let gathering: Int64 = 10_000_000
  /// The nanoseconds without a message after which bluetoothd is pinged, and for an answer.
  static let lifeInterval: Int64 = 2_000_000_000
  private static let answerLimit: Int64 = 4_000_000_000

  init(_ address: BusAddress, limits: BusLimits) {
    client = BusClient(of: BlueZName.service, on: address, limits: limits)
  }

  var bus: BusConnection? { client.bus }

  var isWaiting: Bool { client.bus == nil || !client.calls.isEmpty }

  // MARK: The bus

  mutating func connect(at now: MonotonicTime) throws(BusError) {
    let rules = ManagedObjects.matches(service: BlueZName.service)
    guard try client.connect(at: now, matching: rules) else { return }
    try client.ask(.toBus("GetNameOwner", .string(BlueZName.service)), .owner, at: now)
  }

  /// Ends the connection after an error, and returns the obstacle to bluetoothd.
  mutating func disconnect(_ error: BusError, at now: MonotonicTime) -> BlueZView.Obstacle {
    let obstacle = error == .disconnected && awaits(.objects) ? .tooLong : BlueZView.Obstacle(error)
    client.fail(at: now)
    forget()
    return obstacle
  }

  /// Ends the connection, with which bluetoothd drops its setup. The next one may follow at once.
  mutating func end() {
    client.disconnect()
    client.succeed()
    forget()
  }

  private mutating func forget() {
    (isReady, isMute) = (false, false)
    objects.reset([])
  }

  private func awaits(_ subject: Subject) -> Bool {
    client.calls.values.contains { $0.subject == subject }
  }

  // MARK: What is sent

  mutating func send(
    _ request: BlueZRequest, to adapter: String, link: Int, at now: MonotonicTime
  ) throws(BusError) {
    try client.ask(request.call(to: adapter), .request(request, link: link), at: now)
  }

  /// Pings bluetoothd if it sends nothing, or if the deadline has passed.
  mutating func checkLife(
    until deadline: MonotonicTime?, at now: MonotonicTime
  ) throws(BusError) {
    guard client.owner != nil, !awaits(.life) else { return }
    let isDue = deadline.map { latestMessage < $0 && $0 <= now } ?? false
    guard isDue || now.nanoseconds(since: latestMessage) >= Self.lifeInterval else { return }
    var call = BusMessage(
      call: "Ping", of: "org.freedesktop.DBus.Peer", at: "/", to: BlueZName.service)
    call.startsService = false
    try client.ask(call, .life, at: now)
  }

  /// Returns whether bluetoothd does not answer; call it after all messages were handled.
  mutating func checkAnswers(at now: MonotonicTime) -> Bool {
    // Other messages may come before an answer, so the time counts from the latest one.
    isMute =
      client.owner != nil
      && client.calls.values.contains { call in
        now.nanoseconds(since: max(call.sent, latestMessage)) >= Self.answerLimit
      }
    return isMute
  }

  mutating func restartAnswerTimes(at now: MonotonicTime) { client.restartAnswerTimes(at: now) }

  // MARK: What comes

  mutating func receive(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) throws(BusError) -> [BusMessage] {
    defer { wakeSignal.reset() }
    guard let bus = client.bus else {
      return try client.receive(until: end, wakeSignal: wakeSignal)
    }
    let gather = min(
      Self.gathering - start.nanoseconds(since: latestRead), end.nanoseconds(since: start))
    if gather > 0 { usleep(UInt32(gather / 1000)) }
    let messages = try client.receive(until: end, wakeSignal: wakeSignal)
    // An answer with too many bytes ends the connection, and one with too many values is dropped.
    if bus.droppedMessages > 0, awaits(.objects) { throw .disconnected }
    if !messages.isEmpty { latestRead = MonotonicTime.now }
    return messages
  }

  mutating func handle(_ message: BusMessage, at now: MonotonicTime) throws(BusError) -> Event? {
    let event = client.event(of: message)
    if let owner = client.owner, message.sender == owner {
      latestMessage = now
      if isMute, isReady {
        // The fate of the requests is unknown, so everything starts again with a new connection.
        client.disconnect()
        forget()
        return .lost(nil)
      }
    }
    switch event {
    case .owner(let owner): return try found(owner, at: now)
    case .answer(let subject): return try answered(subject, by: message, at: now)
    case .service where message.kind == .call: return .call
    case .service:
      let isAboutAdapters = objects.apply(message).contains { name in
        name == BlueZName.adapter || name == BlueZName.monitorManager
      }
      return .signal(isAboutAdapters: isAboutAdapters && isReady)
    case .other, nil: return nil
    }
  }

  private mutating func answered(
    _ subject: Subject, by message: BusMessage, at now: MonotonicTime
  ) throws(BusError) -> Event? {
    switch subject {
    case .owner:
      let owner = message.kind == .reply ? message.body.first?.asString : nil
      guard let change = client.found(owner) else { return nil }
      return try found(change, at: now)
    case .objects:
      if let error = message.error { throw error }
      objects.reset(message.body)
      isReady = true
      client.succeed()
      return .ready
    case .life: return nil
    case .request(let request, let link):
      return .answer(request, link: link, error: message.error)
    }
  }

  private mutating func found(_ name: String?, at now: MonotonicTime) throws(BusError) -> Event? {
    client.dropCalls { _ in true }
    forget()
    (objects.owner, latestMessage) = (name, now)
    guard name != nil else { return .lost(.notRunning) }
    try client.ask(ManagedObjects.request(to: BlueZName.service), .objects, at: now)
    return .lost(nil)
  }
}
