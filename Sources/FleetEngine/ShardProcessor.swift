/// The part of a worker that turns the reports of a shard into transitions. It has no I/O.
///
/// It must be deterministic: the same state and the same reports give the same transitions with the
/// same ids. A worker that takes over a shard processes again what its predecessor processed after
/// the last state that it stored.
package protocol ShardProcessor: SendableMetatype {
  /// Restores the processor of a shard from ``encodedState()``, or starts with nothing for `nil`.
  ///
  /// - Throws: An error if the state cannot be read. Then the worker leaves the shard to another
  ///   worker, such as one of a newer version, and tries again later.
  init(shard: Int, state: [UInt8]?) throws

  /// Processes a report, unless the state has it already, and returns what changed.
  ///
  /// Reports come from outside: the processor counts one that cannot be parsed, and returns nothing.
  /// A report may come again, and after newer reports of the same receiver.
  mutating func process(_ report: [UInt8], routingKey: String) -> [FleetTransition]

  func encodedState() -> [UInt8]
}

/// A change in the fleet's picture.
package struct FleetTransition: Hashable, Sendable {
  /// The name of what changes, a slash, and a number that grows by one with each of its
  /// transitions, from 1: `SITE/BEACON/n`. It has 255 bytes at most.
  package var id: String
  /// The key in the exchange `fleet.transitions`, of 255 bytes at most.
  package var routingKey: String
  package var body: [UInt8]

  package init(id: String, routingKey: String, body: [UInt8]) {
    self.id = id
    self.routingKey = routingKey
    self.body = body
  }
}
