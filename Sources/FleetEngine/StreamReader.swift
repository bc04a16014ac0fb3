import Clocks
package import Logging
import Synchronization

/// The place in a stream at which to begin.
package enum StreamOffset: Hashable, Sendable {
  /// The oldest message that the engine has.
  case first
  /// The newest messages, which the engine has stored together.
  case last
  /// A message by its offset.
  case number(UInt64)
  /// The messages since a time, in seconds since 1970, and possibly some before it.
  case time(UInt64)

  /// The messages from now on, also those that come during a failure, and possibly some before.
  package static var now: Self { .time(UInt64(clamping: WallClockTime.now.second)) }
}

package struct StreamEntry: Hashable, Sendable {
  package var offset: UInt64
  package var routingKey: String
  /// The id of a transition; empty for a report.
  package var id: String
  package var body: [UInt8]
}

/// Reads a stream from an offset on, through failures of the engine, each message once and in
/// order. A stream of an engine that was set up anew is read from its beginning.
package final class StreamReader: Sendable {
  private struct State {
    var start: StreamOffset
    /// The last message that was read.
    var last: StreamEntry?
    var reach = StreamReach()
  }

  private static let prefetch: UInt16 = 1000
  private static let turnTime = 0.05
  /// The seconds within which the newest messages, which the engine stored together, come.
  static let chunkTime = 2.0
  /// The seconds after which the newest messages are asked for again, at first: where there are none,
  /// the engine looks twice, and misses those that are stored meanwhile.
  private static let lastTime = 2.0

  private let link: EngineLink
  private let stream: String
  private let deliver: @Sendable (StreamEntry) -> Void
  private let state: Mutex<State>

  /// Creates a reader, which delivers on its own thread.
  ///
  /// - Throws: `EngineError` if the configuration is not valid or librabbitmq cannot be loaded.
  package init(
    _ configuration: EngineConfiguration, stream: String, from start: StreamOffset,
    logger: Logger = Logger(label: "fleet.reader"),
    deliver: @escaping @Sendable (StreamEntry) -> Void
  ) throws(EngineError) {
    link = try EngineLink(configuration, logger)
    self.stream = stream
    state = Mutex(State(start: start))
    self.deliver = deliver
  }

  /// The stream of the pictures.
  package static var pictures: String { FleetMessage.Stream.pictures.queue }

  /// The stream of the transitions of all shards. A worker that takes over a shard publishes again
  /// what its predecessor published after its last stored state.
  package static var transitionsStream: String { FleetMessage.Stream.transitions.queue }

  /// The stream of a shard's reports.
  package static func log(of shard: Shard) -> String { shard.log }

  package var status: EngineStatus { link.status }

  /// Reads until the task is canceled or ``stop()``. It runs once.
  package func run() async {
    await link.run { [self] connection throws(EngineError) in try read(connection) }
  }

  package func stop() { link.stop() }

  private var argument: AMQPConnection.Argument {
    let state = state.withLock { $0 }
    // The last message again: another one has its offset in a stream that is another one.
    if let last = state.last { return .number(Int64(clamping: last.offset)) }
    return switch state.start {
    case .first: .text("first")
    case .last: .text("last")
    case .number(let number): .number(Int64(clamping: number))
    case .time(let seconds): .time(seconds)
    }
  }

  private var silenceTime: Double { link.configuration.silenceTime }

  private func read(_ connection: AMQPConnection) throws(EngineError) {
    while !link.isStopping {
      try checkEnd(on: connection)
      try follow(argument, on: connection, silenceTime) { message throws(EngineError) in
        guard let message, let offset = message.offset else { return false }
        let entry = StreamEntry(
          offset: offset, routingKey: message.routingKey, id: message.id, body: message.body)
        if try isWanted(entry) {
          deliver(entry)
          state.withLock { $0.last = entry }
        }
        return false
      }
    }
  }

  /// Consumes the stream until the reader stops, a function is done, or nothing comes for a number of
  /// seconds. The function gets each message, and `nil` while there is none. Returns whether it is
  /// done.
  @discardableResult private func follow(
    _ start: AMQPConnection.Argument, on connection: AMQPConnection, _ patience: Double,
    _ take: (Delivery?) throws(EngineError) -> Bool
  ) throws(EngineError) -> Bool {
    let channel = try connection.openChannel()
    try connection.consume(
      stream, [("x-stream-offset", start)], prefetch: Self.prefetch, channel: channel)
    var read = 0
    var tag: UInt64 = 0
    var isDone = false
    var newest = MonotonicTime.now
    while !isDone, MonotonicTime.now.seconds(since: newest) < patience {
      if link.isStopping { return false }
      let next = try connection.next(seconds: Self.turnTime)
      // A channel that was closed may have late ones.
      if let next, next.channel != channel { continue }
      isDone = try take(next?.1)
      if let message = next?.1 {
        read += 1
        tag = message.tag
        newest = .now
      }
      // Lets the engine send more.
      if read >= Int(Self.prefetch / 4) || next == nil && read > 0 {
        try connection.acknowledge(upTo: tag, channel: channel)
        read = 0
      }
    }
    try connection.closeChannel(channel)
    return isDone
  }

  /// Checks that the stream still reaches to the last message that was read. That of an engine that
  /// was set up anew counts from 0 again. A node that comes back has a copy of the stream that ends
  /// earlier, until it has received the rest from the others.
  ///
  /// The engine does not say where a stream ends, so this reads its newest messages.
  private func checkEnd(on connection: AMQPConnection) throws(EngineError) {
    guard let last = state.withLock({ $0.last }) else { return }
    var patience = Self.lastTime
    var received: MonotonicTime?
    while !link.isStopping {
      let isChecked = try follow(.text("last"), on: connection, patience) {
        message throws(EngineError) in
        if let offset = message?.offset {
          if offset >= last.offset {
            state.withLock { $0.reach.isComplete() }
            return true
          }
          // New ones may come all the time.
          received = received ?? .now
        }
        if let received, MonotonicTime.now.seconds(since: received) > Self.chunkTime {
          let isOther = state.withLock {
            $0.reach.isOfAnotherStream(at: .now, after: link.configuration.copyTime)
          }
          throw isOther
            ? beginAnew()
            : EngineError("\(connection.node) has only a part of the stream \(stream) yet")
        }
        return false
      }
      if isChecked { return }
      patience = min(2 * patience, silenceTime)
      if patience == silenceTime,
        let count = try connection.countQueue(stream)?.messages, count > 0
      {
        throw EngineError("\(connection.node) gives none of the messages of the stream \(stream)")
      }
    }
  }

  /// Makes the next connection read the stream from its beginning.
  private func beginAnew() -> EngineError {
    state.withLock { $0 = State(start: .first) }
    return EngineError(
      "the stream \(stream) is another one than before, and is read from its beginning")
  }

  /// The engine begins with the messages that it has stored together with the one asked for.
  private func isWanted(_ entry: StreamEntry) throws(EngineError) -> Bool {
    let state = state.withLock { $0 }
    if let last = state.last {
      if entry.offset == last.offset, entry != last { throw beginAnew() }
      return entry.offset > last.offset
    }
    if case .number(let number) = state.start { return entry.offset >= number }
    return true
  }
}

/// How far a stream reaches: it may end before the last message that was read from it because it is
/// another one, or because the connection's node has a part of it yet.
struct StreamReach {
  /// The time since which no node had the last message.
  private var missing: MonotonicTime?

  /// Takes that a node has the last message.
  mutating func isComplete() { missing = nil }

  /// Takes that a node does not have the last message. Returns whether none has had it for so many
  /// seconds.
  mutating func isOfAnotherStream(at now: MonotonicTime, after seconds: Double) -> Bool {
    let since = missing ?? now
    missing = since
    return now.seconds(since: since) >= seconds
  }
}
