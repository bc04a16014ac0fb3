package import Clocks

/// A client of one service on a bus: it connects, knows which call an answer is for and who owns the service's name, and
/// tries again after failures, with waits that grow.
///
/// Any process can send signals, so only those of the name's owner are the service's. After an error ``fail(at:)`` is called;
/// the next ``connect(at:matching:)`` that is due begins anew.
package struct BusClient<Subject: Sendable>: ~Copyable {
  /// A call whose answer is awaited.
  package struct Call: Sendable {
    package var subject: Subject
    package var sent: MonotonicTime
  }

  /// What a message means.
  package enum Event: Sendable {
    /// The service was started, with its unique name, or has ended.
    case owner(String?)
    /// The answer to a call: a reply or an error.
    case answer(Call, BusMessage)
    /// A signal or a call of the service.
    case service(BusMessage)
    /// A signal or a call of somebody else.
    case other(BusMessage)
  }

  /// The service's well-known name.
  package let service: String
  /// The connection to the bus, while there is one.
  package private(set) var bus: BusConnection?
  /// The service's unique name, as the bus or its own answers have it; `nil` before that is known, and while it does not run.
  package private(set) var owner: String?
  /// The calls whose answers are awaited, by their serial numbers.
  package private(set) var calls: [UInt32: Call] = [:]

  private let address: BusAddress
  private let limits: BusLimits
  private var nextAttempt: MonotonicTime?
  private var backoff = Backoff.quick

  package init(of service: String, on address: BusAddress, limits: BusLimits) {
    (self.service, self.address, self.limits) = (service, address, limits)
  }

  // MARK: The connection

  /// Connects to the bus, if there is no connection and an attempt is due, and has the bus send what the rules match and each
  /// change of the service's owner: before anything is asked, so that no change is missed. Returns whether it connected.
  package mutating func connect(
    at now: MonotonicTime, matching rules: [BusMatch]
  ) throws(BusError) -> Bool {
    guard bus == nil, now >= nextAttempt ?? now else { return false }
    let bus = try BusConnection(
      address, limits: limits, timeout: MonotonicTime.nanosecondsPerSecond)
    self.bus = bus
    for rule in rules + [.owner(of: service)] {
      _ = try bus.send(.toBus("AddMatch", .string(rule.text)))
    }
    return true
  }

  /// Records that the service works: the wait after the next failure is the shortest.
  package mutating func succeed() { backoff.reset() }

  /// Ends the connection because of a failure.
  package mutating func fail(at now: MonotonicTime) {
    disconnect(nextAttempt: now.advanced(by: backoff.next()))
  }

  /// Ends the connection, and with it what the service did for this process. The next one may follow at once, or at a moment.
  package mutating func disconnect(nextAttempt: MonotonicTime? = nil) {
    bus?.close()
    (bus, self.nextAttempt) = (nil, nextAttempt)
    forget()
  }

  /// Forgets the service: its owner, and what it was asked.
  package mutating func forget() { (owner, calls) = (nil, [:]) }

  // MARK: What is sent

  /// Sends a call, whose answer is ``Event/answer(_:_:)``; nothing is sent without a connection.
  package mutating func ask(
    _ message: BusMessage, _ subject: Subject, at now: MonotonicTime
  ) throws(BusError) {
    guard let bus else { return }
    calls[try bus.send(message)] = Call(subject: subject, sent: now)
  }

  /// Gives all answers time anew, as this process did not run.
  package mutating func restartAnswerTimes(at now: MonotonicTime) {
    for serial in calls.keys { calls[serial]?.sent = now }
  }

  /// Awaits some answers no longer.
  package mutating func dropCalls(where isDropped: (Subject) -> Bool) {
    calls = calls.filter { !isDropped($0.value.subject) }
  }

  // MARK: What comes

  /// Waits for messages until a moment, or until it is woken; without a connection until the next attempt.
  package func receive(
    until end: MonotonicTime, wakeSignal: borrowing WakeSignal
  ) throws(BusError) -> [BusMessage] {
    let now = MonotonicTime.now
    guard let bus else {
      wakeSignal.wait(nanoseconds: min(end, nextAttempt ?? end).nanoseconds(since: now))
      return []
    }
    let other = wakeSignal.descriptor >= 0 ? wakeSignal.descriptor : nil
    return try bus.receive(waitingAtMost: max(0, end.nanoseconds(since: now)), orUntil: other)
  }

  /// Returns what a message means; `nil` for nothing, also after the connection has ended.
  package mutating func event(of message: BusMessage) -> Event? {
    guard bus != nil else { return nil }
    if let change = message.ownerChange {
      guard change.name == service else { return nil }
      return found(change.owner).map { .owner($0) }
    }
    switch message.kind {
    case .reply, .error:
      guard let call = calls.removeValue(forKey: message.replySerial) else { return nil }
      if message.kind == .reply, message.sender != Bus.name { owner = message.sender }
      return .answer(call, message)
    case .signal, .call:
      return owner != nil && message.sender == owner ? .service(message) : .other(message)
    }
  }

  /// Records the service's owner; returns it where it has changed, or there is none.
  package mutating func found(_ owner: String?) -> String?? {
    guard owner != self.owner || owner == nil else { return nil }
    self.owner = owner
    return .some(owner)
  }
}
