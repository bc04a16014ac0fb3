/// What the workers of a fleet have to do, as the engine states it.
package struct EngineLoad: Sendable {
  /// The node that answered.
  package var node: String
  /// The workers that are connected.
  package var workers: Int
  /// The shards whose reports wait, with the number of reports that no worker has taken.
  package var waiting: [(shard: Shard, reports: Int)]

  /// Asks the first node that answers.
  ///
  /// - Returns: `nil` if no worker has set up the engine yet.
  /// - Throws: `EngineError` of the last node, if none answers.
  package static func read(_ configuration: EngineConfiguration) throws(EngineError) -> Self? {
    try configuration.check()
    let library = try RabbitMQLibrary.shared.get()
    var failure: EngineError?
    for node in configuration.nodes {
      do throws(EngineError) {
        let connection = try AMQPConnection(node, configuration, library)
        defer { connection.close() }
        return try read(connection)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return nil
  }

  private static func read(_ connection: AMQPConnection) throws(EngineError) -> Self? {
    guard let workers = try connection.countQueue(Topology.workers) else { return nil }
    var load = EngineLoad(
      node: connection.node.description, workers: workers.consumers, waiting: [])
    for shard in Shard.all {
      guard let queue = try connection.countQueue(shard.queue) else { continue }
      if queue.messages > 0 { load.waiting.append((shard, queue.messages)) }
    }
    return load
  }
}
