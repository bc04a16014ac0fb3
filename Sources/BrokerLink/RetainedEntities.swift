/// The topics that the broker has retained of entities and their states, until it is known which of
/// them are obsolete.
struct RetainedEntities {
  static let maximum = 1 << 16

  private var topics: Set<String> = []

  /// Takes a message if its topic is one of this publisher's. Returns whether it is.
  mutating func insert(_ message: BrokerMessage, isOwn: (String) -> Bool) -> Bool {
    guard message.isRetained, !message.payload.isEmpty, topics.count < Self.maximum,
      isOwn(message.topic)
    else { return false }
    topics.insert(message.topic)
    return true
  }

  /// Returns all, and forgets them.
  mutating func take() -> Set<String> {
    defer { topics = [] }
    return topics
  }
}

extension Outbox {
  /// Publishes all again after a message of a start of Home Assistant. Returns whether the
  /// message is one of its state.
  mutating func publishAgain(after message: BrokerMessage, in prefix: String) -> Bool {
    guard message.topic == "\(prefix)/status" else { return false }
    // A retained status is older than this connection, on which everything was published.
    if !message.isRetained, message.payload == Array("online".utf8) { publishAgain() }
    return true
  }
}
