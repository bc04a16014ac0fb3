package import Clocks

/// A client of one service on a bus, which connects, matches answers with calls, tracks the owner
/// of the service's name, and retries after failures at growing intervals. After an error, call
/// ``fail(at:)``.
package struct BusClient<Subject: Sendable>: ~Copyable {
  package struct Call: Sendable {
    package var subject: Subject
    package var sent: MonotonicTime
  }

  package enum Event: Sendable {
    /// The service has started, with its unique name, or ended.
    case owner(String?)
    case answer(Subject)
    /// A signal or call, from the service or another sender.
    case service, other
  }

  package let service: String
  package private(set) var bus: BusConnection?
  /// The service's unique name; `nil` while it is unknown or the service does not run.
  package private(set) var owner: String?
  /// The calls without an answer yet, by serial number. Answers to removed calls are ignored.
  package var calls: [UInt32: Call] = [:]

  private let address: BusAddress
  private let limits: BusLimits
  private var nextAttempt: MonotonicTime?
  private var backoff = Backoff.quick

  package init(of service: String, on address: BusAddress, limits: BusLimits) {
    self.service = service
    self.address = address
    self.limits = limits
  }

  /// Connects to the bus if there is no connection and an attempt is due; returns whether it did.
  /// It first adds the matches of the rules and of the owner, so that no change is missed.
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

  package mutating func succeed() { backoff.reset() }

  package mutating func fail(at now: MonotonicTime) {
    disconnect(nextAttempt: now.advanced(by: backoff.next()))
  }

  package mutating func disconnect(nextAttempt: MonotonicTime? = nil) {
    bus?.close()
    bus = nil
    owner = nil
    calls = [:]
    self.nextAttempt = nextAttempt
  }

  /// Sends a call, which ``Event/answer(_:)`` answers; does nothing without a connection.
  package mutating func ask(
    _ message: BusMessage, _ subject: Subject, at now: MonotonicTime
  ) throws(BusError) {
    guard let bus else { return }
    calls[try bus.send(message)] = Call(subject: subject, sent: now)
  }

  package func awaits(_ isMeant: (Subject) -> Bool) -> Bool {
    calls.values.contains { isMeant($0.subject) }
  }

  /// Waits for messages or the signal; without a connection, at most until the next attempt.
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

  /// Returns the meaning of a message; `nil` if it has none or the connection has ended.
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
      return .answer(call.subject)
    case .signal, .call:
      return owner != nil && message.sender == owner ? .service : .other
    }
  }

  /// Records the service's owner; returns it if it has changed or if there is none.
  package mutating func found(_ owner: String?) -> String?? {
    guard owner != self.owner || owner == nil else { return nil }
    self.owner = owner
    return .some(owner)
  }
}
