/// The place of a state in the order of a shard's states.
struct StateVersion: Comparable, Sendable {
  /// The number of the workers that have had the shard.
  var generation: UInt64
  /// The number of the states that they have stored.
  var number: UInt64

  static let none = StateVersion(generation: 0, number: 0)

  static func < (left: Self, right: Self) -> Bool {
    (left.generation, left.number) < (right.generation, right.number)
  }

  var text: String { "\(generation)-\(number)" }

  init(generation: UInt64, number: UInt64) {
    self.generation = generation
    self.number = number
  }

  /// Reads the text of a version; what is not one is older than all versions.
  init(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
    guard parts.count == 2, let generation = parts[0], let number = parts[1] else {
      self = .none
      return
    }
    self.init(generation: generation, number: number)
  }
}

/// A shard's newest state on the engine: a queue from which a worker takes what is there, publishes
/// the new state, and only then acknowledges the old. So a state is there whenever a worker ends,
/// and a worker finds a state of a later worker than itself.
struct Register {
  /// The channel of all registers. It has no consumer, and confirms what is published.
  static let channel: UInt16 = 1

  let shard: Shard
  let connection: AMQPConnection
  let confirmTime: Double

  struct Stored {
    var version = StateVersion.none
    /// The newest state, or `nil` if no worker has stored one.
    var state: [UInt8]?
    /// The tag of the last message that was taken.
    fileprivate var tag: UInt64?

    /// Whether there was no message. A register has one from its declaration on, unless a
    /// connection holds it.
    var isEmpty: Bool { tag == nil }
  }

  /// Stores that the shard has no state yet. It never replaces a state.
  func initialize() throws(EngineError) { try put([], .none, inPlaceOf: Stored()) }

  /// Takes all states of the register, and returns the newest.
  func take() throws(EngineError) -> Stored {
    var newest = Stored()
    while let message = try connection.get(shard.register, channel: Self.channel) {
      let version = StateVersion(text: message.id)
      if newest.tag == nil || version > newest.version {
        newest.version = version
        newest.state = version == .none ? nil : message.body
      }
      newest.tag = message.tag
    }
    return newest
  }

  /// Replaces all states that were taken, and returns when the engine has stored the new state.
  func put(
    _ state: [UInt8], _ version: StateVersion, inPlaceOf old: Stored
  ) throws(EngineError) {
    try connection.publish(
      to: "", shard.register, id: version.text, state, channel: Self.channel)
    try connection.waitForConfirms(seconds: confirmTime, channel: Self.channel)
    if let tag = old.tag { try connection.acknowledge(upTo: tag, channel: Self.channel) }
  }
}
