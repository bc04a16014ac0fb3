import Clocks
package import Logging
import Synchronization

/// Processes the reports of shards: as many of them as the engine gives it, beside other workers.
///
/// The engine gives each shard one worker at a time, and another one as soon as the connection of
/// that one ends. The connection is therefore the lease: what was not acknowledged on it is
/// discarded with it, and is delivered again, in order. For each shard the worker restores the
/// processor from the shard's register, publishes the transitions, those of a beacon each after the
/// confirm of the former one, and after their confirms stores the new state, and after its confirm
/// acknowledges the reports. A crash at any point repeats reports and transitions, and loses none; the
/// ids of transitions make them one for readers.
package final class ShardWorker<Processor: ShardProcessor>: Sendable {
  package struct Status: Sendable {
    package var link = EngineStatus()
    /// The shards that have reports at present.
    package var shards: [Int] = []
    package var reports = 0
    package var transitions = 0
    package var storedStates = 0
    /// Transitions whose names are too long to publish.
    package var unpublished = 0
  }

  private let link: EngineLink
  private let context: Processor.Context
  private let statusOfWork = Mutex(Status())
  /// When this process declared all queues, unless they are gone.
  private let declared = Mutex<MonotonicTime?>(nil)
  /// The seconds for which a node that is killed may forget a declaration.
  private static var forgetTime: Double { 60 }

  /// - Throws: `EngineError` if the configuration is not valid or librabbitmq cannot be loaded.
  package init(
    _ configuration: EngineConfiguration, context: Processor.Context,
    logger: Logger = Logger(label: "fleet.worker")
  ) throws(EngineError) {
    self.context = context
    link = try EngineLink(configuration, logger)
  }

  package var status: Status {
    var status = statusOfWork.withLock { $0 }
    status.link = link.status
    return status
  }

  /// Works until the task is canceled or ``stop()``. It runs once.
  package func run() async {
    await link.run { [self] connection throws(EngineError) in
      let session = WorkerSession<Processor>(
        connection, link.configuration, link.logger, context: context,
        isStopping: { self.link.isStopping },
        count: { change in self.statusOfWork.withLock { change(&$0) } })
      defer { statusOfWork.withLock { $0.shards = [] } }
      do throws(EngineError) {
        if declared.withLock({ $0 }) == nil {
          try session.declare()
          declared.withLock { $0 = .now }
        }
        try session.serve()
      } catch {
        declared.withLock { declared in
          guard let time = declared else { return }
          if error.isMissing || MonotonicTime.now.seconds(since: time) < Self.forgetTime {
            declared = nil
          }
        }
        throw error
      }
    }
  }

  package func stop() { link.stop() }

  /// Waits until the engine has all queues and streams, or the task is canceled.
  package func waitUntilReady() async {
    while declared.withLock({ $0 }) == nil, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
