import Clocks
package import Logging
import Synchronization

extension StreamReader {
  /// The seconds within which the first of them comes.
  private static let firstTime = 5.0

  /// Returns the offset of a stream's newest message, or `nil` if the stream has none, or if the
  /// task is canceled. It waits for the engine, and for the stream, and may end with the message
  /// `enough`.
  ///
  /// The engine does not say where a stream ends; the number of messages that it states is several
  /// seconds old. So this reads the newest messages. On a very slow engine the result is of another
  /// one of them, or `nil`.
  package static func newestOffset(
    of stream: String, _ configuration: EngineConfiguration, enough: UInt64 = .max,
    logger: Logger = Logger(label: "fleet.reader")
  ) async throws(EngineError) -> UInt64? {
    let newest = Mutex<(offset: UInt64, since: MonotonicTime)?>(nil)
    let reader = try StreamReader(configuration, stream: stream, from: .last, logger: logger) {
      entry in
      newest.withLock { $0 = (entry.offset, $0?.since ?? .now) }
    }
    return await withTaskGroup { group in
      group.addTask { await reader.run() }
      defer { group.cancelAll() }
      var connected: (count: Int, since: MonotonicTime)?
      while !Task.isCancelled {
        let (status, now) = (reader.status, MonotonicTime.now)
        if let (offset, since) = newest.withLock({ $0 }) {
          if offset >= enough || now.seconds(since: since) > chunkTime { return offset }
        } else if status.node == nil {
          connected = nil
        } else if let (count, since) = connected, count == status.connections {
          if now.seconds(since: since) > firstTime { return nil }
        } else {
          connected = (status.connections, now)
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
      return nil
    }
  }
}
