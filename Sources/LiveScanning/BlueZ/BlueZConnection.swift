import Adapters
import DBusMessages
import Glibc
import Scanning

/// The connection to bluetoothd: it finds bluetoothd on the bus, mirrors its objects, knows which call an answer is for, and
/// notices where none comes. After an error ``disconnect(_:at:)`` is called; the next ``connect(at:)`` that is due begins anew.
struct BlueZConnection: ~Copyable {
  /// Something that came, or that did not.
  enum Event {
    /// What was set up in bluetoothd is gone, with what keeps this process from it now; `nil` where it is there.
    case lost(BlueZView.Obstacle?)
    /// The mirror has all of bluetoothd's objects.
    case ready
    /// A request was accepted, or refused with an error.
    case answer(BlueZRequest, link: Int, error: BusError?)
    /// bluetoothd calls an object of this process.
    case call
    /// A signal of bluetoothd, which the mirror has followed.
    case signal(isAboutAdapters: Bool)
  }

  /// A call whose answer is awaited.
  private struct Call {
    enum Subject {
      case owner, objects, life
      case request(BlueZRequest, link: Int)
    }

    var subject: Subject
    var sent: MonotonicTime
  }

  /// The connection to the bus, while there is one.
  private(set) var bus: BusConnection?
  /// bluetoothd's objects, as far as they are known.
  private(set) var objects = ManagedObjects()
  /// Whether all of them are known.
  private(set) var isReady = false
  /// When bluetoothd sent something for the last time, came or went.
  private(set) var latestMessage = MonotonicTime(nanoseconds: 0)

  private let address: BusAddress
  private let limits: BusLimits
  private var nextAttempt: MonotonicTime?
  private var backoff = Backoff.quick
  /// The unique name of bluetoothd; `nil` while it is not there.
  private var owner: String?
  private var calls: [UInt32: Call] = [:]
  /// Whether bluetoothd has left calls unanswered.
  private var isMute = false
  private var latestRead = MonotonicTime(nanoseconds: 0)

  /// Messages that come faster than this are read together.
  private static let gathering: Int64 = 10_000_000
  /// After how long without a message bluetoothd is asked whether it is alive, and how long an answer may take.
  static let lifeInterval: Int64 = 2_000_000_000
  private static let answerLimit: Int64 = 4_000_000_000

  init(_ address: BusAddress, limits: BusLimits) {
    (self.address, self.limits) = (address, limits)
  }

  /// Whether something is awaited: a connection, or an answer.
  var isWaiting: Bool { bus == nil || !calls.isEmpty }

  // MARK: The bus

  /// Connects to the bus, if there is no connection and an attempt is due.
  mutating func connect(at now: MonotonicTime) throws(BusError) {
    guard bus == nil, now >= nextAttempt ?? now else { return }
    let bus = try BusConnection(
      address, limits: limits, timeout: MonotonicTime.nanosecondsPerSecond)
    self.bus = bus
    // The rules come first, so that no change is missed.
    let rules = ManagedObjects.matches(service: BlueZName.service)
    for rule in rules + [.owner(of: BlueZName.service)] {
      _ = try bus.send(.toBus("AddMatch", .string(rule.text)))
    }
    try ask(.toBus("GetNameOwner", .string(BlueZName.service)), .owner, at: now)
  }

  /// Ends the connection after an error, and returns what keeps this process from bluetoothd.
  mutating func disconnect(_ error: BusError, at now: MonotonicTime) -> BlueZView.Obstacle {
    let obstacle = error == .disconnected && awaitsObjects ? .tooLong : BlueZView.Obstacle(error)
    close(nextAttempt: now.advanced(by: backoff.next()))
    return obstacle
  }

  /// Ends the connection: bluetoothd drops what was set up by it. The next one may follow at once.
  mutating func end() {
    close(nextAttempt: nil)
    backoff.reset()
  }

  private mutating func close(nextAttempt: MonotonicTime?) {
    bus?.close()
    (bus, isMute, self.nextAttempt) = (nil, false, nextAttempt)
    forget()
  }

  /// Forgets bluetoothd.
  private mutating func forget() {
    (owner, isReady, calls) = (nil, false, [:])
    _ = objects.removeAll()
  }

  /// Whether the list of bluetoothd's objects was asked for and did not come.
  private var awaitsObjects: Bool {
    calls.values.contains { if case .objects = $0.subject { true } else { false } }
  }

  /// Whether bluetoothd was asked whether it is alive and did not answer.
  private var awaitsLife: Bool {
    calls.values.contains { if case .life = $0.subject { true } else { false } }
  }

  // MARK: What is sent

  /// Sends a request for one of the scanner's adapters.
  mutating func send(_ request: BlueZRequest, link: Int, at now: MonotonicTime) throws(BusError) {
    try ask(request.message, .request(request, link: link), at: now)
  }

  private mutating func ask(
    _ message: BusMessage, _ subject: Call.Subject, at now: MonotonicTime
  ) throws(BusError) {
    guard let bus else { return }
    calls[try bus.send(message)] = Call(subject: subject, sent: now)
  }

  /// Asks bluetoothd whether it is alive where it sends nothing or something is due.
  mutating func checkLife(
    until deadline: MonotonicTime?, at now: MonotonicTime
  ) throws(BusError) {
    guard owner != nil, !awaitsLife else { return }
    let isDue = deadline.map { latestMessage < $0 && $0 <= now } ?? false
    guard isDue || now.nanoseconds(since: latestMessage) >= Self.lifeInterval else { return }
    var call = BusMessage(
      call: "Ping", of: "org.freedesktop.DBus.Peer", at: "/", to: BlueZName.service)
    call.startsService = false
    try ask(call, .life, at: now)
  }

  /// Returns whether bluetoothd does not answer, after everything that came was handled.
  mutating func checkAnswers(at now: MonotonicTime) -> Bool {
    // An answer may wait behind other messages, but not when none come.
    isMute =
      owner != nil
      && calls.values.contains { call in
        now.nanoseconds(since: max(call.sent, latestMessage)) >= Self.answerLimit
      }
    return isMute
  }

  /// Gives all answers time anew, as this process did not run.
  mutating func restartAnswerTimes(at now: MonotonicTime) {
    for serial in calls.keys { calls[serial]?.sent = now }
  }

  // MARK: What comes

  /// Waits for messages until a moment, or until it is woken.
  mutating func receive(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal, from start: MonotonicTime
  ) throws(BusError) -> [BusMessage] {
    defer { wakeSignal.reset() }
    guard let bus else {
      wakeSignal.wait(nanoseconds: end.nanoseconds(since: start))
      return []
    }
    let gather = min(
      Self.gathering - start.nanoseconds(since: latestRead), end.nanoseconds(since: start))
    if gather > 0 { usleep(UInt32(gather / 1000)) }
    let left = max(0, end.nanoseconds(since: MonotonicTime.now))
    let other = wakeSignal.descriptor >= 0 ? wakeSignal.descriptor : nil
    let messages = try bus.receive(waitingAtMost: left, orUntil: other)
    // An answer that has too many bytes ends the connection, and one that has too many values is dropped.
    if bus.droppedMessages > 0, awaitsObjects { throw .disconnected }
    if !messages.isEmpty { latestRead = MonotonicTime.now }
    return messages
  }

  /// Takes a message in, and returns what it means; `nil` for nothing.
  mutating func handle(_ message: BusMessage, at now: MonotonicTime) throws(BusError) -> Event? {
    guard bus != nil else { return nil }
    if let change = message.ownerChange, change.name == BlueZName.service {
      return try found(change.owner, at: now)
    }
    if owner != nil, message.sender == owner {
      latestMessage = now
      if isMute, isReady {
        // What it did of the requests is not known: everything begins anew with another connection.
        close(nextAttempt: now)
        return .lost(nil)
      }
    }
    switch message.kind {
    case .reply, .error:
      guard let call = calls.removeValue(forKey: message.replySerial) else { return nil }
      return try answered(call, by: message, at: now)
    case .call where message.sender == owner: return .call
    case .signal where message.sender == owner:
      let changes = objects.apply(message)
      let isAboutAdapters = changes.contains { change in
        switch change {
        case .added(_, let name), .changed(_, let name, _, _), .removed(_, let name):
          name == BlueZName.adapter || name == BlueZName.monitorManager
        }
      }
      return .signal(isAboutAdapters: isAboutAdapters && isReady)
    default: return nil
    }
  }

  private mutating func answered(
    _ call: Call, by message: BusMessage, at now: MonotonicTime
  ) throws(BusError) -> Event? {
    switch call.subject {
    case .owner:
      return try found(message.kind == .reply ? message.body.first?.asString : nil, at: now)
    case .objects:
      if let error = message.error { throw error }
      _ = objects.reset(message.body)
      isReady = true
      backoff.reset()
      return .ready
    case .life: return nil
    case .request(let request, let link):
      return .answer(request, link: link, error: message.error)
    }
  }

  /// Records that bluetoothd is there, or is not.
  private mutating func found(_ name: String?, at now: MonotonicTime) throws(BusError) -> Event? {
    guard name != owner || name == nil else { return nil }
    forget()
    (owner, objects.owner, latestMessage) = (name, name, now)
    guard name != nil else { return .lost(.notRunning) }
    try ask(.objects, .objects, at: now)
    return .lost(nil)
  }
}
