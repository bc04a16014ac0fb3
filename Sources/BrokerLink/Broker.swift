import Clocks
import Scanning
package import ServiceCore
import Synchronization

/// Publishes a receiver's reports to an MQTT broker, with discovery for Home Assistant.
///
/// Entries, exits and visits come from the journal, so those that occur without a broker are
/// published later, even by the next process. No call waits for the broker. A thread of the link
/// connects, publishes, and retries. It retains the link until ``stop()``.
package final class Broker: Sendable {
  private struct State {
    var publisher: Publisher
    var gaps = 0
  }

  private let connector: BrokerConnector
  private let reader: JournalReader
  private let state: Mutex<State>

  private static let restTime = 0.5
  private static let stopTime = 0.9

  /// Creates a link, which reports on its own thread.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid or libmosquitto cannot be loaded.
  package init(
    _ configuration: BrokerConfiguration, _ journal: Journal,
    report: @escaping @Sendable (BrokerEvent) -> Void = { _ in }
  ) throws(BrokerError) {
    connector = try BrokerConnector(
      configuration, lastWill: Topics(prefix: configuration.prefix).status, report: report)
    reader = JournalReader(journal, name: "mqtt", kinds: ["enter", "exit", "visit"])
    state = Mutex(State(publisher: Publisher(configuration, position: reader.begin())))
  }

  /// Starts to connect, unless it was started before. Pending state is published on connection.
  package func start() {
    connector.start { [self] session throws(MQTTClient.Failure) in
      state.withLock { $0.publisher.begin() }
      defer {
        // Acknowledged messages are not published again.
        take(from: session)
        state.withLock { $0.publisher.outbox.end() }
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
      status.published = state.publisher.outbox.published
      status.gaps = state.gaps
      return state.publisher.outbox.acknowledged
    }
    status.waiting = reader.count(after: acknowledged)
    return status
  }

  /// Makes the link look for new events in the journal.
  package func wake() { update(wakes: true) { _ in } }

  /// Changes the messages to publish, and wakes the thread if it can publish them.
  package func update(wakes alwaysWakes: Bool = false, _ body: (inout Publisher) -> Void) {
    let wakes = state.withLock { state in
      let before = state.publisher.outbox.revision
      body(&state.publisher)
      return state.publisher.outbox.isConnected
        && (alwaysWakes || state.publisher.outbox.revision != before)
    }
    if wakes { thread.wake.send() }
  }

  private var thread: WorkerThread { connector.thread }

  private func publish(on session: MQTTClient) throws(MQTTClient.Failure) {
    let (filters, status) = state.withLock { state in
      (state.publisher.filters, state.publisher.topics.status)
    }
    for filter in filters { try session.subscribe(filter) }
    var deadline: MonotonicTime?
    while true {
      if deadline == nil, thread.isStopping {
        deadline = .now.advanced(bySeconds: Self.restTime)
      }
      repeat {
        while let message = state.withLock({ $0.publisher.outbox.next() }) {
          try session.publish(message)
        }
      } while takeEvent()
      if let deadline {
        let left = deadline.seconds(since: .now)
        if left <= 0 || state.withLock({ $0.publisher.outbox.isEmpty }) { break }
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
    let position = state.withLock { state in
      state.publisher.outbox.takesEvent ? state.publisher.outbox.position : nil
    }
    guard let position else { return false }
    let next = reader.next(after: position)
    return state.withLock { state in
      // The dropped events are in no history either.
      if next.hasMissed { state.gaps += 1 }
      guard let entry = next.entry else {
        state.publisher.outbox.skip(to: next.position)
        return false
      }
      state.publisher.publish(entry)
      return true
    }
  }

  private func take(from session: MQTTClient) {
    let (tokens, messages) = (session.takeAcknowledged(), session.takeMessages())
    guard !tokens.isEmpty || !messages.isEmpty else { return }
    let acknowledged = state.withLock { state in
      for token in tokens { state.publisher.outbox.acknowledge(token) }
      for message in messages { state.publisher.receive(message) }
      return state.publisher.outbox.acknowledged
    }
    reader.mark(acknowledged)
  }
}
