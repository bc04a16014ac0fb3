import Clocks
package import FleetEngine
import FleetPicture
package import Logging
import Synchronization

/// Builds the history again from the transitions that the engine has.
///
/// The changes of each site from its first transition on are replaced in one transaction, at the
/// end: until then, and if the rebuild fails or is canceled, the history is as before. Older changes
/// stay, because the engine does not have them any more: a transition can be much older than the
/// engine's stream, if the site's only receiver had a wrong clock. A ``HistoryWriter`` may write
/// meanwhile.
package final class HistoryRebuild: Sendable {
  package struct Progress: Sendable {
    /// The entries of the stream that have been read.
    package var read = 0
    /// The offset of the last entry that was read, and that of the newest one at the beginning.
    package var offset: UInt64?
    package var newest: UInt64?
    /// The entries that are not changes, or that the database refused.
    package var skipped = 0
  }

  private static let batch = 1000
  /// The seconds of the stream, and a day more for its clocks.
  private static let age: Int64 = 8 * 86400

  private let configuration: DatabaseConfiguration
  private let engine: EngineConfiguration
  private let logger: Logger
  private let queue = EntryQueue()
  private let thread = WorkerThread()
  private let state = Mutex(Progress())

  /// Creates a rebuild.
  ///
  /// - Throws: `EngineError` if the configuration is not valid or librabbitmq cannot be loaded.
  package init(
    _ database: DatabaseConfiguration, engine: EngineConfiguration,
    logger: Logger = Logger(label: "fleet.history")
  ) throws(EngineError) {
    var database = database
    // The last transaction writes everything.
    database.answerTime = max(database.answerTime, 7200)
    configuration = database
    self.engine = engine
    self.logger = logger
    // Checks the configuration.
    _ = try StreamReader(engine, stream: StreamReader.transitionsStream, from: .first) { _ in }
  }

  package var progress: Progress { state.withLock { $0 } }

  /// Rebuilds once. It waits for the engine, and ends at the first failure of the database.
  ///
  /// - Throws: `DatabaseError`, of the kind `canceled` if the task is canceled.
  package func run() async throws {
    let stream = StreamReader.transitionsStream
    let reader = try StreamReader(engine, stream: stream, from: .first, logger: logger) {
      [queue, thread] entry in
      queue.put(entry)
      thread.wake.send()
    }
    try await withThrowingTaskGroup { group in
      group.addTask { await reader.run() }
      defer {
        queue.close()
        group.cancelAll()
      }
      let newest = try await StreamReader.newestOffset(of: stream, engine, logger: logger)
      guard !Task.isCancelled else { throw DatabaseError(.canceled, "the rebuild was ended") }
      guard let newest else { return }
      state.withLock { $0.newest = newest }
      try await withTaskCancellationHandler {
        let result = Mutex<Result<Void, any Error>>(
          .failure(DatabaseError(.canceled, "the rebuild was ended")))
        let hasRun = await thread.run { [self] in
          let outcome = Result { try work(upTo: newest) }
          result.withLock { $0 = outcome }
        }
        guard hasRun else {
          throw DatabaseError(
            .refusal, "no thread can be started; end other programs, or raise their limit")
        }
        try result.withLock { $0 }.get()
      } onCancel: {
        queue.close()
        thread.requestStop()
      }
    }
  }

  private func work(upTo newest: UInt64) throws(DatabaseError) {
    let database = try HistoryDatabase(configuration) { [thread] in thread.isStopping }
    try database.beginRebuilding()
    var position = StreamPosition(next: 0, lastID: nil)
    while position.next <= newest {
      guard !thread.isStopping else { throw DatabaseError(.canceled, "the rebuild was ended") }
      let entries = queue.take(Self.batch)
      guard let last = entries.last else {
        thread.wake.wait(nanoseconds: 1_000_000_000)
        continue
      }
      position = StreamPosition(after: last)
      let skipped = try database.store(entries) { changes, _ throws(DatabaseError) in
        try database.writeRebuilt(changes)
      }
      state.withLock { state in
        state.read += entries.count
        state.offset = last.offset
        state.skipped += skipped
      }
    }
    let oldest = WallClockTime.now.second - Self.age
    try database.replaceByRebuilt(oldest: oldest, position)
  }
}
