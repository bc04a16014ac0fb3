import Clocks
import Logging
import Synchronization

/// The state of a link to the engine.
package struct EngineStatus: Sendable {
  /// The node of the connection, or `nil` without one.
  package var node: String?
  package var connections = 0
  package var lastError: String?
}

/// A thread that keeps a connection to one of the engine's nodes.
final class EngineLink: Sendable {
  private struct State {
    var status = EngineStatus()
    /// The errors logged since a connection. The nodes have different ones, in turn.
    var logged: Set<String> = []
    var hasRun = false
    var isStopping = false
  }

  let configuration: EngineConfiguration
  let logger: Logger
  private let library: RabbitMQLibrary
  private let state = Mutex(State())
  private let thread = WorkerThread()

  /// The seconds that a connection must last to reset the delay to the shortest.
  private static let stableTime = 10.0

  init(_ configuration: EngineConfiguration, _ logger: Logger) throws(EngineError) {
    try configuration.check()
    library = try RabbitMQLibrary.shared.get()
    self.configuration = configuration
    self.logger = logger
  }

  var status: EngineStatus { state.withLock { $0.status } }
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Makes ``run(_:)`` return.
  func stop() {
    state.withLock { $0.isStopping = true }
    thread.wake.send()
  }

  /// Connects, and runs a session on each connection, until the task is canceled or ``stop()``. Only
  /// the first call does so.
  func run(
    _ session: @escaping @Sendable (AMQPConnection) throws(EngineError) -> Void
  ) async {
    let isFirst = state.withLock { state in
      defer { state.hasRun = true }
      return !state.hasRun
    }
    guard isFirst else { return }
    await withTaskCancellationHandler {
      if await !thread.run({ [self] in work(session) }) {
        fail("no thread can be started; end other programs, or raise their limit")
      }
    } onCancel: {
      stop()
    }
  }

  private func work(_ session: (AMQPConnection) throws(EngineError) -> Void) {
    var backoff = Backoff(
      first: Int64(configuration.reconnectDelay.lowerBound * 1e9),
      longest: Int64(configuration.reconnectDelay.upperBound * 1e9))
    var next = 0
    while !isStopping {
      let node = configuration.nodes[next % configuration.nodes.count]
      next += 1
      if connect(to: node, session) >= Self.stableTime { backoff.reset() }
      // The factor keeps workers of one failed node from returning at the same time.
      let wait = Double(backoff.next()) * .random(in: 0.75...1)
      let deadline = MonotonicTime.now.advanced(by: Int64(wait))
      while !isStopping {
        let left = deadline.nanoseconds(since: .now)
        guard left > 0 else { break }
        thread.wake.wait(nanoseconds: left)
      }
    }
  }

  /// Runs a session on a connection. Returns the connection's duration in seconds.
  private func connect(
    to node: EngineConfiguration.Node, _ session: (AMQPConnection) throws(EngineError) -> Void
  ) -> Double {
    var began: MonotonicTime?
    do throws(EngineError) {
      let connection = try AMQPConnection(node, configuration, library)
      began = .now
      state.withLock { state in
        state.status.node = node.description
        state.status.connections += 1
        state.logged = []
      }
      logger.info("connected to the fleet's engine", metadata: ["node": "\(node)"])
      try session(connection)
      connection.close()
    } catch {
      fail(error.description)
    }
    state.withLock { $0.status.node = nil }
    return began.map { MonotonicTime.now.seconds(since: $0) } ?? 0
  }

  private func fail(_ sentence: String) {
    let isNew = state.withLock { state in
      state.status.lastError = sentence
      return state.logged.count < 100 && state.logged.insert(sentence).inserted
    }
    if isNew { logger.warning("the fleet's engine failed: \(sentence)") }
  }
}
