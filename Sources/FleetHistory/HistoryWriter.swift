import Clocks
package import FleetEngine
import FleetPicture
package import Logging
import Synchronization

/// Writes the transitions of a fleet to a database, from where the last writer ended.
///
/// While the database is away, it waits and does not read the stream. A change that is written
/// again stays as it is, so several writers of one database do no harm.
package final class HistoryWriter: Sendable {
  package struct Status: Sendable {
    package var isConnected = false
    /// The changes that the database has taken, with those that it had already.
    package var written = 0
    /// The entries of the stream that are not changes, and those that the database refused.
    package var skipped = 0
    package var lastError: String?
  }

  /// Delivers the entries of the stream from a place on, or from its beginning, until its task is
  /// canceled.
  typealias Source =
    @Sendable (
      _ next: StreamPosition?, _ deliver: @escaping @Sendable (StreamEntry) -> Void
    ) async -> Void

  private struct State {
    var status = Status()
    /// The errors logged since a write.
    var logged: Set<String> = []
    var hasRun = false
  }

  private static let batch = 500
  /// The seconds between two looks for changes that are too old.
  private static let retentionInterval = 600.0

  private let configuration: DatabaseConfiguration
  private let days: Int64
  private let logger: Logger
  private let source: Source
  private let queue = EntryQueue()
  private let thread = WorkerThread()
  private let state = Mutex(State())

  /// Creates a writer of the transitions of all shards.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - engine: The fleet's engine.
  ///   - keep: The days for which changes are kept, at least 1.
  ///   - logger: The logger.
  /// - Throws: `EngineError` if the configuration is not valid or librabbitmq cannot be loaded.
  package convenience init(
    _ database: DatabaseConfiguration, engine: EngineConfiguration, keep: Int = 400,
    logger: Logger = Logger(label: "fleet.history")
  ) throws(EngineError) {
    let stream = StreamReader.transitionsStream
    // Checks the configuration.
    _ = try StreamReader(engine, stream: stream, from: .first) { _ in }
    self.init(database, keep: keep, logger: logger) { position, deliver in
      var start = StreamOffset.first
      if let position, position.next > 0 {
        if await position.isOf(stream, of: engine, logger) {
          start = .number(position.next)
        } else if !Task.isCancelled {
          logger.warning("the engine's transitions are not those of before; all are read again")
        }
      }
      guard !Task.isCancelled else { return }
      let reader = try? StreamReader(
        engine, stream: stream, from: start, logger: logger, deliver: deliver)
      await reader?.run()
    }
  }

  init(
    _ database: DatabaseConfiguration, keep: Int, logger: Logger, source: @escaping Source
  ) {
    configuration = database
    days = Int64(min(max(1, keep), 100_000))
    self.logger = logger
    self.source = source
  }

  package var status: Status { state.withLock { $0.status } }

  /// Writes until the task is canceled or ``stop()``. It runs once.
  package func run() async {
    let isFirst = state.withLock { state in
      defer { state.hasRun = true }
      return !state.hasRun
    }
    guard isFirst else { return }
    let (positions, positioned) = AsyncStream.makeStream(of: StreamPosition?.self)
    await withTaskGroup { group in
      group.addTask { [self] in
        for await next in positions {
          await source(next) { [queue, thread] entry in
            queue.put(entry)
            thread.wake.send()
          }
        }
      }
      await withTaskCancellationHandler {
        if await !thread.run({ [self] in work { positioned.yield($0) } }) {
          fail("no thread can be started; end other programs, or raise their limit")
        }
      } onCancel: {
        stop()
      }
      queue.close()
      positioned.finish()
      group.cancelAll()
    }
  }

  /// Makes ``run()`` return. What is not written is read again by the next writer.
  package func stop() {
    thread.requestStop()
    queue.close()
  }

  private func work(_ begin: (StreamPosition?) -> Void) {
    var backoff = Backoff(
      first: Int64(configuration.reconnectDelay.lowerBound * 1e9),
      longest: Int64(configuration.reconnectDelay.upperBound * 1e9))
    var hasBegun = false
    var pending: [StreamEntry] = []
    while !thread.isStopping {
      do throws(DatabaseError) {
        let database = try HistoryDatabase(configuration) { [thread] in thread.isStopping }
        if !hasBegun {
          begin(try database.position())
          hasBegun = true
        }
        state.withLock { $0.status.isConnected = true }
        try serve(database, &pending) { backoff.reset() }
      } catch {
        if error.kind != .canceled { fail(error.description) }
      }
      state.withLock { $0.status.isConnected = false }
      pause(Double(backoff.next()) * .random(in: 0.75...1) / 1e9)
    }
  }

  /// Writes until the connection ends or the writer is to stop.
  private func serve(
    _ database: HistoryDatabase, _ pending: inout [StreamEntry], succeeded: () -> Void
  ) throws(DatabaseError) {
    var retentionTime = MonotonicTime.now
    while !thread.isStopping {
      if pending.isEmpty { pending = queue.take(Self.batch) }
      let isIdle = pending.isEmpty
      if !pending.isEmpty {
        let skipped = try database.store(pending) { changes, next throws(DatabaseError) in
          try database.write(changes, next)
        }
        state.withLock { state in
          state.status.written += pending.count - skipped
          state.status.skipped += skipped
          state.logged = []
        }
        pending = []
        succeeded()
      }
      let now = MonotonicTime.now
      if now >= retentionTime {
        let second = WallClockTime.now.second - days * 86400
        let isMore = try database.deleteChanges(before: second)
        if !isMore { retentionTime = now.advanced(bySeconds: Self.retentionInterval) }
        succeeded()
      } else if isIdle {
        let left = retentionTime.nanoseconds(since: now)
        // A new entry ends the wait.
        thread.wake.wait(nanoseconds: min(left, 60_000_000_000))
      }
    }
  }

  private func pause(_ seconds: Double) {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while !thread.isStopping {
      let left = deadline.nanoseconds(since: .now)
      guard left > 0 else { return }
      thread.wake.wait(nanoseconds: left)
    }
  }

  private func fail(_ sentence: String) {
    let isNew = state.withLock { state in
      state.status.lastError = sentence
      return state.logged.count < 100 && state.logged.insert(sentence).inserted
    }
    if isNew { logger.warning("the fleet's history failed: \(sentence)") }
  }
}
