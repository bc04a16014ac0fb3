import FleetReports

/// The part of a worker that turns the reports of a shard into transitions. It has no I/O.
///
/// It must be deterministic: the same state, reports and context give the same transitions with the
/// same ids. A worker that takes over a shard processes again what its predecessor processed after
/// the last state that it stored.
package protocol ShardProcessor: SendableMetatype {
  /// What all processors of a worker share, such as the sites.
  associatedtype Context: Sendable

  /// Restores the processor of a shard from ``encodedState()``, or starts with nothing for `nil`.
  ///
  /// - Throws: An error if the state cannot be read. Then the worker leaves the shard to another
  ///   worker, such as one of a newer version, and tries again later.
  init(shard: Int, state: [UInt8]?, context: Context) throws

  /// Processes a report, unless the state has it already, and returns what to publish.
  ///
  /// Reports come from outside: the processor counts one that cannot be parsed, and returns nothing.
  /// A report may come again, and after newer reports of the same receiver.
  mutating func process(_ report: [UInt8], routingKey: String) -> [FleetMessage]

  func encodedState() -> [UInt8]

  /// Returns how many of the shards have reports, as far as is known: workers share these.
  static func shardsInUse(_ context: Context) -> Int
}

extension ShardProcessor {
  package static func shardsInUse(_ context: Context) -> Int { FleetTopic.shards }
}

/// What a worker publishes.
package struct FleetMessage: Hashable, Sendable {
  package enum Stream: CaseIterable, Hashable, Sendable {
    /// Each change, kept for a week.
    case transitions
    /// The state as a whole, published again and again, kept for an hour.
    case pictures
  }

  package var stream: Stream
  /// In `transitions` the name of what changes, a slash, and a number that grows with each of its
  /// transitions: `SITE/BEACON/n`. It has 255 bytes at most.
  package var id: String
  /// The key in the stream's exchange, of 255 bytes at most.
  package var routingKey: String
  package var body: [UInt8]

  package init(_ stream: Stream = .transitions, id: String, routingKey: String, body: [UInt8]) {
    self.stream = stream
    self.id = id
    self.routingKey = routingKey
    self.body = body
  }

  /// The ``id`` without its number: in `transitions` what changes.
  var subject: Substring { id.lastIndex(of: "/").map { id[..<$0] } ?? id[...] }
}
