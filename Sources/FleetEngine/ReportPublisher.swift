import Clocks
import DequeModule
package import Logging
import Synchronization

/// Publishes as the engine's MQTT does, reports of simulated receivers and configurations of real
/// ones: in order, and again until the engine has stored them.
package final class ReportPublisher: Sendable {
  package enum Next: Sendable {
    case report(routingKey: String, body: [UInt8])
    /// There is nothing to publish for a number of seconds.
    case pause(Double)
    case end
  }

  private typealias Report = (routingKey: String, body: [UInt8])

  private static let channel: UInt16 = 1
  /// The reports since the oldest that is not stored, at most: those to publish again after a failure.
  private static let window = 1000

  private let link: EngineLink
  private let needsQueues: Bool
  private let next: @Sendable () -> Next
  private let waiting = Mutex<Deque<Report>>([])
  private let published = Mutex(0)

  /// Creates a publisher, which asks for the next report on its own thread. Unless queues are needed,
  /// a message that nobody has subscribed to is lost.
  package init(
    _ configuration: EngineConfiguration, needsQueues: Bool = true,
    logger: Logger = Logger(label: "fleet.publisher"), next: @escaping @Sendable () -> Next
  ) throws(EngineError) {
    link = try EngineLink(configuration, logger)
    self.needsQueues = needsQueues
    self.next = next
  }

  /// The reports that the engine has stored.
  package var count: Int { published.withLock { $0 } }

  /// Publishes until the end of the reports, the task is canceled or ``stop()``. It runs once.
  package func run() async {
    await link.run { [self] connection throws(EngineError) in try publish(on: connection) }
  }

  package func stop() { link.stop() }

  private func publish(on connection: AMQPConnection) throws(EngineError) {
    try connection.openChannel(Self.channel)
    try connection.confirmPublications(Self.channel)
    // What a lost connection has left.
    for report in waiting.withLock({ $0 }) { try send(report, on: connection) }
    var stored = count
    var progress = MonotonicTime.now
    while !link.isStopping {
      var pause = 0.0
      if waiting.withLock({ $0.count }) < Self.window {
        switch next() {
        case .report(let routingKey, let body):
          let report = (routingKey, body)
          waiting.withLock { $0.append(report) }
          try send(report, on: connection)
        case .pause(let seconds): pause = min(seconds, 0.5)
        case .end:
          try connection.waitForConfirms(
            seconds: link.configuration.confirmTime, channel: Self.channel)
          take(from: connection)
          link.stop()
          return
        }
      } else {
        pause = 0.01
      }
      _ = try connection.next(seconds: pause)
      take(from: connection)
      let now = MonotonicTime.now
      if count != stored || waiting.withLock({ $0.isEmpty }) {
        stored = count
        progress = now
      }
      // A node that was frozen, or whose queues changed their leaders, may never confirm a message.
      guard now.seconds(since: progress) < link.configuration.confirmTime else {
        throw EngineError("\(connection.node) has not confirmed a report for too long")
      }
    }
  }

  private func send(_ report: Report, on connection: AMQPConnection) throws(EngineError) {
    try connection.publish(
      to: Topology.reports, report.routingKey, id: "", report.body, channel: Self.channel,
      needsQueue: needsQueues)
  }

  private func take(from connection: AMQPConnection) {
    let stored = waiting.withLock { waiting in
      let stored = waiting.count - connection.countSinceOldestUnconfirmed(Self.channel)
      waiting.removeFirst(max(0, stored))
      return max(0, stored)
    }
    if stored > 0 { published.withLock { $0 += stored } }
  }
}
