import Clocks
package import Logging
import Synchronization

extension StreamReader {
  /// Returns the number of messages that a stream has, by a connection of its own; 0 if there is no
  /// stream. It waits for the engine until the task is canceled, and then returns `nil`.
  package static func count(
    of stream: String, _ configuration: EngineConfiguration,
    logger: Logger = Logger(label: "fleet.reader")
  ) async -> Int? {
    guard let link = try? EngineLink(configuration, logger) else { return nil }
    let count = Mutex<Int?>(nil)
    await link.run { connection throws(EngineError) in
      try connection.openChannel(channel)
      var messages = 0
      if try connection.hasQueue(stream, channel: channel + 1) {
        messages = try connection.declareQueue(stream, [], channel: channel, isPassive: true)
          .messages
      }
      count.withLock { $0 = messages }
      link.stop()
    }
    return count.withLock { $0 }
  }
}

extension StreamReader {
  /// Returns whether a stream has come to an offset: a message with it, or with the one before, is
  /// among the newest. If not, the stream is another one than that of which the offset was.
  package static func hasReached(
    _ offset: UInt64, in stream: String, _ configuration: EngineConfiguration,
    logger: Logger = Logger(label: "fleet.reader")
  ) async -> Bool {
    guard let count = await count(of: stream, configuration, logger: logger), count > 0 else {
      return false
    }
    let newest = Mutex<(offset: UInt64, since: MonotonicTime)?>(nil)
    let reader = try? StreamReader(configuration, stream: stream, from: .last, logger: logger) {
      entry in
      newest.withLock { $0 = (entry.offset, $0?.since ?? .now) }
    }
    guard let reader else { return false }
    return await withTaskGroup { group in
      group.addTask { await reader.run() }
      defer { group.cancelAll() }
      while !Task.isCancelled {
        if let (last, since) = newest.withLock({ $0 }) {
          if last >= offset - min(offset, 1) { return true }
          // The newest messages come together.
          if MonotonicTime.now.seconds(since: since) > 5 { return false }
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
      return false
    }
  }
}
