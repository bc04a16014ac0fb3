import DequeModule

/// The messages to publish, and their order.
///
/// A topic has one message, and a new one replaces one that waits. Events come from the journal in
/// order when there is room. Every message that was sent waits for its acknowledgment, and without
/// one is sent again on the next connection.
package struct Outbox: Sendable {
  enum Kind: Int, Comparable {
    case status, discovery, state
    /// Not retained by the broker, and dropped when a connection ends.
    case momentary

    static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
  }

  struct Message: Equatable {
    var token: UInt64
    var topic: String
    var payload: [UInt8]
    var isRetained: Bool
  }

  private struct Entry {
    var kind: Kind
    var order: UInt64
    /// Empty to remove the topic.
    var payload: [UInt8]
    var version: UInt64
    var isWaiting = true
  }

  private struct Event {
    var id: Int64
    var token: UInt64
    var topic: String
    var payload: [UInt8]
  }

  static let window = 20
  static let maximumMomentary = 1000

  private var entries: [String: Entry] = [:]
  /// The topics that wait, by kind. Some may no longer wait, and are skipped.
  private var waiting: [Deque<String>] = Array(repeating: [], count: 4)
  private var events: Deque<Event> = []
  /// The number of events that are sent, counted from the first.
  private var eventsSent = 0
  private var topicsSent: [UInt64: (topic: String, version: UInt64)] = [:]
  private var counter: UInt64 = 0

  private(set) var isConnected = false
  private(set) var published = 0
  private(set) var position: Int64

  init(position: Int64) { self.position = position }

  /// The journal entry up to which the broker has received every event.
  var acknowledged: Int64 { events.first.map { $0.id - 1 } ?? position }

  var takesEvent: Bool {
    isConnected && eventsSent == events.count && topicsSent.count + eventsSent < Self.window
  }

  var revision: UInt64 { counter }
  var isEmpty: Bool { !hasWaiting && events.isEmpty && topicsSent.isEmpty }

  private var hasWaiting: Bool {
    waiting.contains { $0.contains { entries[$0]?.isWaiting == true } }
  }

  func has(_ topic: String, _ kind: Kind) -> Bool {
    entries[topic].map { $0.kind == kind && !$0.payload.isEmpty } ?? false
  }

  /// Sets the message of a topic. An equal message changes nothing, except for momentary topics.
  mutating func set(_ topic: String, _ payload: [UInt8], _ kind: Kind) {
    let isMomentary = kind == .momentary
    if isMomentary, !isConnected { return }
    let old = entries[topic]
    // A broker may stop acknowledging while advertisers change their identities.
    if isMomentary, old == nil, waiting[kind.rawValue].count >= Self.maximumMomentary { return }
    if let old, old.payload == payload, old.kind == kind, !isMomentary { return }
    counter += 1
    entries[topic] = Entry(
      kind: kind, order: old?.order ?? counter, payload: payload, version: counter)
    if old?.isWaiting != true || old?.kind != kind { waiting[kind.rawValue].append(topic) }
  }

  mutating func remove(_ topic: String, _ kind: Kind) { set(topic, [], kind) }

  mutating func append(event topic: String, _ payload: [UInt8], id: Int64) {
    counter += 1
    events.append(Event(id: id, token: counter, topic: topic, payload: payload))
    position = id
  }

  /// Moves to a position of the journal, up to which there is no event.
  mutating func skip(to position: Int64) { self.position = max(self.position, position) }

  /// Starts a connection, on which all retained messages are sent again.
  mutating func begin() {
    isConnected = true
    publishAgain()
  }

  mutating func publishAgain() {
    for kind in waiting.indices { waiting[kind].removeAll() }
    for (topic, entry) in entries.sorted(by: { $0.value.order < $1.value.order }) {
      entries[topic]?.isWaiting = true
      waiting[entry.kind.rawValue].append(topic)
    }
  }

  mutating func end() {
    isConnected = false
    topicsSent = [:]
    eventsSent = 0
    for topic in entries.filter({ $0.value.kind == .momentary }).keys { entries[topic] = nil }
  }

  mutating func next() -> Message? {
    guard isConnected, topicsSent.count + eventsSent < Self.window else { return nil }
    for kind in waiting.indices {
      while let topic = waiting[kind].popFirst() {
        guard let entry = entries[topic], entry.isWaiting, entry.kind.rawValue == kind else {
          continue
        }
        entries[topic]?.isWaiting = false
        counter += 1
        topicsSent[counter] = (topic, entry.version)
        return Message(
          token: counter, topic: topic, payload: entry.payload,
          isRetained: entry.kind != .momentary)
      }
    }
    guard eventsSent < events.count else { return nil }
    let event = events[eventsSent]
    eventsSent += 1
    return Message(
      token: event.token, topic: event.topic, payload: event.payload, isRetained: false)
  }

  mutating func acknowledge(_ token: UInt64) {
    if let (topic, version) = topicsSent.removeValue(forKey: token) {
      published += 1
      guard let entry = entries[topic], entry.version == version, !entry.isWaiting else { return }
      if entry.payload.isEmpty || entry.kind == .momentary { entries[topic] = nil }
    } else if let index = events.prefix(eventsSent).firstIndex(where: { $0.token == token }) {
      published += 1
      events.remove(at: index)
      eventsSent -= 1
    }
  }
}
