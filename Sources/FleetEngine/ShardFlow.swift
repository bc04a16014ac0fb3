import Clocks

/// What a worker knows of a shard that it processes: the processor, and what the engine has yet to
/// store. It is given the time and does no I/O.
struct ShardFlow<Processor: ShardProcessor> {
  /// The version of the stored state.
  private(set) var version: StateVersion
  private(set) var lastReport: MonotonicTime
  private var processor: Processor
  /// The tag of the last report that was processed.
  private var processed: UInt64 = 0
  private var reports = 0
  /// The time of the first report that no stored state has.
  private var oldest: MonotonicTime?
  /// The beacons whose last transition may not be stored yet.
  private var unconfirmed: Set<Substring> = []

  init(_ processor: Processor, _ version: StateVersion, at now: MonotonicTime) {
    self.processor = processor
    self.version = version
    lastReport = now
  }

  mutating func process(_ report: Delivery, at now: MonotonicTime) -> [FleetMessage] {
    let messages = processor.process(report.body, routingKey: report.routingKey)
    lastReport = now
    processed = report.tag
    reports += 1
    if oldest == nil { oldest = now }
    return messages
  }

  /// Returns whether all that was published must be confirmed before a message is published: a
  /// transition follows the former one of the same beacon.
  ///
  /// While the leader of a stream changes, RabbitMQ 3.10 can lose a message and store a later one.
  /// Its source suggests that it can even confirm one that it drops, but then leaves another one of
  /// the channel unconfirmed.
  func mustWait(before message: FleetMessage) -> Bool { unconfirmed.contains(message.subject) }

  mutating func published(_ message: FleetMessage) {
    if message.stream == .transitions { unconfirmed.insert(message.subject) }
  }

  /// Notes that the engine has confirmed all that was published.
  mutating func confirmed() { unconfirmed.removeAll(keepingCapacity: true) }

  /// Whether reports have been processed that no stored state has.
  var hasNews: Bool { oldest != nil }

  /// Returns whether the state must be stored now.
  func isDue(after interval: Double, limit: Int, at now: MonotonicTime) -> Bool {
    guard let oldest else { return false }
    return reports >= limit || now.seconds(since: oldest) >= interval
  }

  /// Returns the state to store, with its version, which follows the stored one.
  func upcoming() -> (state: [UInt8], version: StateVersion) {
    var next = version
    next.number &+= 1
    return (processor.encodedState(), next)
  }

  /// Changes to a version that the engine has stored. Returns the tag up to which reports are done.
  mutating func stored(_ version: StateVersion) -> UInt64 {
    self.version = version
    oldest = nil
    reports = 0
    return processed
  }
}
