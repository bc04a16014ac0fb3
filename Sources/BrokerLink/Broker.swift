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
    var status = BrokerStatus()
    var connections = 0
    /// The last error reported since a connection.
    var reported: String?
  }

  private let configuration: BrokerConfiguration
  private let library: MosquittoLibrary
  private let reader: JournalReader
  private let report: @Sendable (BrokerEvent) -> Void
  private let state: Mutex<State>
  private let thread = WorkerThread()

  private static let answerTime = 15.0
  private static let restTime = 0.5
  private static let stopTime = 0.9
  /// The seconds that a connection must last to reset the delay to the shortest.
  private static let stableTime = 30.0

  /// Creates a link, which reports on its own thread.
  ///
  /// - Throws: `BrokerError` if the configuration is not valid or libmosquitto cannot be loaded.
  package init(
    _ configuration: BrokerConfiguration, _ journal: Journal,
    report: @escaping @Sendable (BrokerEvent) -> Void = { _ in }
  ) throws(BrokerError) {
    try configuration.check()
    library = try MosquittoLibrary.shared.get()
    self.configuration = configuration
    reader = JournalReader(journal, name: "mqtt", kinds: ["enter", "exit", "visit"])
    self.report = report
    state = Mutex(State(publisher: Publisher(configuration, position: reader.begin())))
  }

  /// Starts to connect, unless it was started before. Pending state is published on connection.
  package func start() {
    guard !thread.start({ [self] in run() }) else { return }
    fail("no thread can be started for the MQTT link; end other programs, or raise their limit")
  }

  package func stop() {
    thread.requestStop()
    // An attempt to connect may block for longer. The thread ends after it.
    if status.isConnected { thread.waitForEnd(seconds: Self.stopTime) }
  }

  package var status: BrokerStatus {
    let (known, acknowledged) = state.withLock { state in
      var status = state.status
      status.published = state.publisher.outbox.published
      status.reconnects = max(0, state.connections - 1)
      return (status, state.publisher.outbox.acknowledged)
    }
    var status = known
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

  private func run() {
    var backoff = Backoff(
      first: Int64(configuration.reconnectDelay.lowerBound * 1e9),
      longest: Int64(configuration.reconnectDelay.upperBound * 1e9))
    while !thread.isStopping {
      if connect() >= Self.stableTime { backoff.reset() }
      // The factor keeps clients of one failed broker from returning at the same time.
      let wait = Double(backoff.next()) * .random(in: 0.75...1)
      let deadline = MonotonicTime.now.advanced(by: Int64(wait))
      while !thread.isStopping {
        let left = deadline.nanoseconds(since: .now)
        guard left > 0 else { break }
        thread.wake.wait(nanoseconds: left)
      }
    }
  }

  private func fail(_ sentence: String) {
    let isNew = state.withLock { state in
      state.status.lastError = sentence
      defer { state.reported = sentence }
      return state.reported != sentence
    }
    if isNew { report(.failed(sentence)) }
  }

  /// Connects, and publishes until the connection ends or a stop is requested. Returns the duration
  /// of the connection, in seconds.
  private func connect() -> Double {
    let session: MQTTClient
    do throws(MQTTClient.Failure) {
      session = try MQTTClient(
        configuration, library, status: state.withLock { $0.publisher.topics.status })
    } catch {
      fail(configuration.sentence(for: error, log: nil))
      return 0
    }
    do throws(MQTTClient.Failure) {
      let deadline = try session.connect().advanced(bySeconds: Self.answerTime)
      while session.answer == nil, !thread.isStopping {
        let left = deadline.seconds(since: .now)
        guard left > 0 else {
          fail(configuration.sentenceForNoAnswer)
          return 0
        }
        try session.wait(seconds: left, orUntil: thread.wake)
      }
    } catch {
      // libmosquitto also reports a refusal as an error.
      guard session.answer ?? 0 != 0 else {
        fail(configuration.sentence(for: error, log: session.log))
        return 0
      }
    }
    guard let answer = session.answer else { return 0 }
    guard answer == 0 else {
      fail(configuration.sentence(forAnswer: answer))
      return 0
    }
    let began = MonotonicTime.now
    state.withLock { state in
      state.status.isConnected = true
      state.connections += 1
      state.reported = nil
      state.publisher.begin()
    }
    report(.connected)
    var loss: String?
    do throws(MQTTClient.Failure) {
      try publish(on: session)
      session.disconnect()
    } catch {
      loss = configuration.sentence(forLoss: error, log: session.log)
    }
    // Acknowledged messages are not published again.
    take(from: session)
    state.withLock { state in
      state.status.isConnected = false
      state.publisher.outbox.end()
    }
    if let loss { fail(loss) }
    return MonotonicTime.now.seconds(since: began)
  }

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
      if next.hasMissed { state.status.gaps += 1 }
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
