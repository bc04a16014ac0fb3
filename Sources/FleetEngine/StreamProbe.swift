import Clocks
package import Logging
import Synchronization

extension StreamReader {
  /// The seconds within which the first of them comes.
  private static let firstTime = 5.0

  /// Returns the offset of a stream's newest message, or `nil` if the stream has none, or if the
  /// task is canceled. It waits for the engine, and for the stream, and may end with the message
  /// `enough`, which a node may not have at once.
  ///
  /// The engine does not say where a stream ends; the number of messages that it states is several
  /// seconds old. So this reads the newest messages. On a very slow engine the result is of another
  /// one of them, or `nil`.
  package static func newestOffset(
    of stream: String, _ configuration: EngineConfiguration, enough: UInt64 = .max,
    logger: Logger = Logger(label: "fleet.reader")
  ) async throws(EngineError) -> UInt64? {
    let patience = enough == .max ? chunkTime : configuration.copyTime
    let newest = Mutex<(offset: UInt64, since: MonotonicTime)?>(nil)
    let reader = try StreamReader(configuration, stream: stream, from: .last, logger: logger) {
      entry in
      newest.withLock { $0 = (entry.offset, $0?.since ?? .now) }
    }
    var connected: (count: Int, since: MonotonicTime)?
    return await reader.run { () -> UInt64?? in
      let (status, now) = (reader.status, MonotonicTime.now)
      if let (offset, since) = newest.withLock({ $0 }) {
        if offset >= enough || now.seconds(since: since) > patience { return offset }
      } else if status.node == nil {
        connected = nil
      } else if let (count, since) = connected, count == status.connections {
        if now.seconds(since: since) > firstTime { return .some(nil) }
      } else {
        connected = (status.connections, now)
      }
      return nil
    } ?? nil
  }

  /// Returns the first message of a stream from an offset on, which the stream must have, or `nil` if
  /// the task is canceled.
  package static func entry(
    from offset: UInt64, of stream: String, _ configuration: EngineConfiguration,
    logger: Logger = Logger(label: "fleet.reader")
  ) async throws(EngineError) -> StreamEntry? {
    let first = Mutex<StreamEntry?>(nil)
    let reader = try StreamReader(
      configuration, stream: stream, from: .number(offset), logger: logger
    ) { entry in first.withLock { $0 = $0 ?? entry } }
    return await reader.run { first.withLock(\.self) }
  }

  /// Reads until there is a result, or the task is canceled.
  private func run<Result>(until result: () -> Result?) async -> Result? {
    await withTaskGroup { group in
      group.addTask { await self.run() }
      defer { group.cancelAll() }
      while !Task.isCancelled {
        if let result = result() { return result }
        try? await Task.sleep(for: .milliseconds(20))
      }
      return nil
    }
  }
}
