import Clocks
import Scanning

/// A connection to the broker as the link's thread uses it: when to wait for what, and which acknowledgment is whose.
final class LinkSession {
  private let client: MQTTClient
  private let configuration: BrokerConfiguration
  /// The messages that are not acknowledged, by libmosquitto's identifiers.
  private var tokens: [Int32: UInt64] = [:]
  /// When the keep-alive began to count: with the last packet in the direction that is quiet for longer.
  private var (lastRead, lastWrite) = (MonotonicTime.now, MonotonicTime.now)

  init(_ configuration: BrokerConfiguration, status: String) throws(MQTTClient.Failure) {
    self.configuration = configuration
    client = try MQTTClient(configuration, will: (status, Array("offline".utf8)))
  }

  /// The broker's answer to the request to connect.
  var answer: Int32? { client.inbox.answer }
  /// What libmosquitto logged first as an error.
  var log: String? { client.inbox.error }

  /// Connects, without the broker's answer; returns when that was.
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

  /// Waits for packets, or room for them, or the wake signal, and handles what has come.
  func wait(seconds: Double, orUntil wake: borrowing WakeSignal) throws(MQTTClient.Failure) {
    try checkEnd()
    // libmosquitto counts whole seconds: a second later it is due by its count too.
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
      // It has asked the broker, which has as long for its answer.
      (lastRead, lastWrite) = (.now, .now)
    }
    try checkEnd()
  }

  /// Removes and returns the messages that the broker acknowledged.
  func takeAcknowledged() -> [UInt64] {
    defer { client.inbox.acknowledged = [] }
    return client.inbox.acknowledged.compactMap { tokens.removeValue(forKey: $0) }
  }

  /// Removes and returns the messages that have come.
  func takeMessages() -> [MQTTClient.Received] {
    defer { client.inbox.messages = [] }
    return client.inbox.messages
  }

  func disconnect() { client.disconnect() }

  private func checkEnd() throws(MQTTClient.Failure) {
    if let end = client.inbox.end { throw MQTTClient.Failure(status: end, errno: 0) }
    if client.descriptor < 0 { throw .closed }
  }
}
