import Clocks
import Scanning

/// A connection to the broker, as the link's thread uses it. It tracks waits and acknowledgments.
final class LinkSession {
  private let client: MQTTClient
  private let configuration: BrokerConfiguration
  /// The unacknowledged messages, by libmosquitto's identifiers.
  private var tokens: [Int32: UInt64] = [:]
  /// The times of the last packet in each direction. The keep-alive counts from the earlier one.
  private var (lastRead, lastWrite) = (MonotonicTime.now, MonotonicTime.now)

  init(_ configuration: BrokerConfiguration, status: String) throws(MQTTClient.Failure) {
    self.configuration = configuration
    client = try MQTTClient(configuration, will: (status, Array("offline".utf8)))
  }

  var answer: Int32? { client.inbox.answer }
  /// The first error that libmosquitto logged.
  var log: String? { client.inbox.error }

  /// Connects, without waiting for the broker's answer. Returns the time.
  func connect() throws(MQTTClient.Failure) -> MonotonicTime {
    try client.connect(
      to: configuration.host, port: configuration.usedPort, keepAlive: configuration.keepAlive)
    (lastRead, lastWrite) = (.now, .now)
    return lastRead
  }

  func subscribe(_ filter: String) throws(MQTTClient.Failure) { try client.subscribe(filter) }

  func publish(_ message: Outbox.Message) throws(MQTTClient.Failure) {
    let identifier = try client.publish(
      message.topic, message.payload, isRetained: message.isRetained)
    tokens[identifier] = message.token
    lastWrite = .now
    try checkEnd()
  }

  /// Waits for packets, for room to write, or for the wake signal, and handles the packets.
  func wait(seconds: Double, orUntil wake: borrowing WakeSignal) throws(MQTTClient.Failure) {
    try checkEnd()
    // libmosquitto counts whole seconds, so one more second makes it due there too.
    let due = min(lastRead, lastWrite).advanced(bySeconds: Double(configuration.keepAlive) + 1)
    let ready = waitForSocket(
      client.descriptor, writes: client.wantsWrite, orUntil: wake.descriptor,
      seconds: min(seconds, due.seconds(since: .now)))
    wake.reset()
    if ready.read {
      try client.read()
      lastRead = .now
    }
    if ready.write, client.descriptor >= 0 {
      try client.write()
      lastWrite = .now
    }
    if MonotonicTime.now >= due, client.descriptor >= 0 {
      try client.checkKeepAlive()
      // libmosquitto has pinged the broker, which has the same time to answer.
      (lastRead, lastWrite) = (.now, .now)
    }
    try checkEnd()
  }

  func takeAcknowledged() -> [UInt64] {
    defer { client.inbox.acknowledged = [] }
    return client.inbox.acknowledged.compactMap { tokens.removeValue(forKey: $0) }
  }

  func takeMessages() -> [MQTTClient.Received] {
    defer { client.inbox.messages = [] }
    return client.inbox.messages
  }

  func disconnect() { client.disconnect() }

  private func checkEnd() throws(MQTTClient.Failure) {
    if let end = client.inbox.end { throw MQTTClient.Failure(status: end) }
    if client.descriptor < 0 { throw .closed }
  }
}
