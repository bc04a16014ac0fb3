import Clocks
import Scanning
package import ServiceCore
import Synchronization

/// What a link publishes to a broker. It has no clock and no connection.
package protocol BrokerMessages: Sendable {
  var outbox: Outbox { get set }
  /// The topic under which the broker publishes `offline` when a connection is lost.
  var status: String { get }
  /// The subscriptions.
  var filters: [String] { get }

  mutating func begin()
  mutating func receive(_ message: BrokerMessage)
  mutating func publish(_ entry: JournalEntry)
}

/// Publishes to an MQTT broker: a receiver's reports, or the rooms of a fleet's beacons.
///
/// Entries, exits and visits come from a journal, if there is one, so those that occur without a
/// broker are published later, even by the next process. No call waits for the broker. A thread of
/// the link connects, publishes, and retries. It retains the link until ``stop()``.
package final class Broker<Messages: BrokerMessages>: Sendable {
  private struct State {
    var messages: Messages
    var gaps = 0
  }

  private let connector: BrokerConnector
  private let reader: JournalReader?
  private let state: Mutex<State>

  private static var restTime: Double { 0.5 }
  private static var stopTime: Double { 0.9 }

  fileprivate init(
    _ configuration: BrokerConfiguration, _ messages: Messages, _ reader: JournalReader?,
    report: @escaping @Sendable (BrokerEvent) -> Void
  ) throws(BrokerError) {
    connector = try BrokerConnector(configuration, lastWill: messages.status, report: report)
    self.reader = reader
    state = Mutex(State(messages: messages))
  }

  /// Starts to connect, unless it was started before. Pending state is published on connection.
  package func start() {
    connector.start { [self] session throws(MQTTClient.Failure) in
      state.withLock { $0.messages.begin() }
      defer {
        // Acknowledged messages are not published again.
        take(from: session)
        state.withLock { $0.messages.outbox.end() }
      }
      try publish(on: session)
    }
  }

  package func stop() { connector.stop(waiting: Self.stopTime) }

  package var status: BrokerStatus {
    let connection = connector.state
    var status = BrokerStatus()
    status.isConnected = connection.isConnected
    status.reconnects = max(0, connection.connections - 1)
    status.lastError = connection.lastError
    let acknowledged = state.withLock { state in
      status.published = state.messages.outbox.published
      status.gaps = state.gaps
      return state.messages.outbox.acknowledged
    }
    status.waiting = reader?.count(after: acknowledged) ?? 0
    return status
  }

  /// Makes the link look for new events in the journal.
  package func wake() { update(wakes: true) { _ in } }

  /// Changes the messages to publish, and wakes the thread if it can publish them.
  package func update(wakes alwaysWakes: Bool = false, _ body: (inout Messages) -> Void) {
    let wakes = state.withLock { state in
      let before = state.messages.outbox.revision
      body(&state.messages)
      return state.messages.outbox.isConnected
        && (alwaysWakes || state.messages.outbox.revision != before)
    }
    if wakes { thread.wake.send() }
  }

  private var thread: WorkerThread { connector.thread }

  private func publish(on session: MQTTClient) throws(MQTTClient.Failure) {
    let (filters, status) = state.withLock { state in
      (state.messages.filters, state.messages.status)
    }
    for filter in filters { try session.subscribe(filter) }
    var deadline: MonotonicTime?
    while true {
      if deadline == nil, thread.isStopping {
        deadline = .now.advanced(bySeconds: Self.restTime)
      }
      repeat {
        while let message = state.withLock({ $0.messages.outbox.next() }) {
          try session.publish(message)
        }
      } while takeEvent()
      if let deadline {
        let left = deadline.seconds(since: .now)
        if left <= 0 || state.withLock({ $0.messages.outbox.isEmpty }) { break }
        try session.wait(seconds: left, orUntil: thread.wake)
      } else {
        try session.wait(seconds: .infinity, orUntil: thread.wake)
      }
      take(from: session)
    }
    let end = MonotonicTime.now.advanced(bySeconds: Self.stopTime - Self.restTime - 0.1)
    try session.publish(
      Outbox.Message(token: 0, topic: status, payload: Array("offline".utf8), isRetained: true))
    while !session.takeAcknowledged().contains(0) {
      let left = end.seconds(since: .now)
      guard left > 0 else { return }
      try session.wait(seconds: left, orUntil: thread.wake)
    }
  }

  private func takeEvent() -> Bool {
    guard let reader else { return false }
    let position = state.withLock { state in
      state.messages.outbox.takesEvent ? state.messages.outbox.position : nil
    }
    guard let position else { return false }
    let next = reader.next(after: position)
    return state.withLock { state in
      // The dropped events are in no history either.
      if next.hasMissed { state.gaps += 1 }
      guard let entry = next.entry else {
        state.messages.outbox.skip(to: next.position)
        return false
      }
      state.messages.publish(entry)
      return true
    }
  }

  private func take(from session: MQTTClient) {
    let (tokens, messages) = (session.takeAcknowledged(), session.takeMessages())
    guard !tokens.isEmpty || !messages.isEmpty else { return }
    let acknowledged = state.withLock { state in
      for token in tokens { state.messages.outbox.acknowledge(token) }
      for message in messages { state.messages.receive(message) }
      return state.messages.outbox.acknowledged
    }
    reader?.mark(acknowledged)
  }
}

extension Broker<Publisher> {
  /// Creates a link of a receiver, which reports on its own thread.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid or libmosquitto cannot be loaded.
  package convenience init(
    _ configuration: BrokerConfiguration, _ journal: Journal,
    report: @escaping @Sendable (BrokerEvent) -> Void = { _ in }
  ) throws(BrokerError) {
    let reader = JournalReader(journal, name: "mqtt", kinds: ["enter", "exit", "visit"])
    try self.init(
      configuration, Publisher(configuration, position: reader.begin()), reader, report: report)
  }
}

extension Broker<RoomPublisher> {
  /// Creates a link of a fleet, which reports on its own thread.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid or libmosquitto cannot be loaded.
  package convenience init(
    _ configuration: BrokerConfiguration,
    report: @escaping @Sendable (BrokerEvent) -> Void = { _ in }
  ) throws(BrokerError) {
    try self.init(configuration, RoomPublisher(configuration), nil, report: report)
  }
}
