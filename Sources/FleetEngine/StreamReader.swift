import Clocks
package import Logging
import Synchronization

/// The place in a stream at which to begin.
package enum StreamOffset: Hashable, Sendable {
  /// The oldest message that the engine has.
  case first
  /// The newest messages, which the engine has stored together.
  case last
  /// The message after the newest.
  case next
  /// A message by its offset.
  case number(UInt64)
  /// The messages since a time, in seconds since 1970, and possibly some before it.
  case time(UInt64)
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
  }

  private static let channel: UInt16 = 1
  private static let endChannel: UInt16 = 2
  private static let prefetch: UInt16 = 1000
  private static let turnTime = 0.05
  /// The seconds within which the newest messages, which the engine stored together, come.
  static let chunkTime = 2.0

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
    // What comes during a failure is not the newest any more.
    let start: StreamOffset =
      start == .next
      ? .time(UInt64(clamping: WallClockTime.now.second)) : start
    state = Mutex(State(start: start))
    self.deliver = deliver
  }

  /// Creates a reader of the transitions of all shards, which delivers each id once.
  ///
  /// A worker that takes over a shard publishes again what its predecessor published after its last
  /// stored state.
  package static func transitions(
    _ configuration: EngineConfiguration, from start: StreamOffset,
    logger: Logger = Logger(label: "fleet.reader"),
    deliver: @escaping @Sendable (StreamEntry) -> Void
  ) throws(EngineError) -> StreamReader {
    let repeats = Mutex(RepeatFilter())
    return try StreamReader(
      configuration, stream: FleetMessage.Stream.transitions.queue, from: start, logger: logger
    ) { entry in
      if repeats.withLock({ $0.isNew(entry.id) }) { deliver(entry) }
    }
  }

  /// The stream of the pictures.
  package static var pictures: String { FleetMessage.Stream.pictures.queue }

  /// The stream of the transitions of all shards, where a transition may be repeated.
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
    case .next: .text("next")
    case .number(let number): .number(Int64(clamping: number))
    case .time(let seconds): .time(seconds)
    }
  }

  private func read(_ connection: AMQPConnection) throws(EngineError) {
    try checkEnd(on: connection)
    try follow(argument, on: connection, Self.channel) { message throws(EngineError) in
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

  /// Consumes the stream until the reader stops, or a function is done. It gets each message, and
  /// `nil` while there is none.
  private func follow(
    _ start: AMQPConnection.Argument, on connection: AMQPConnection, _ channel: UInt16,
    _ isDone: (Delivery?) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try connection.openChannel(channel)
    try connection.consume(
      stream, [("x-stream-offset", start)], prefetch: Self.prefetch, channel: channel)
    var read = 0
    var tag: UInt64 = 0
    while !link.isStopping {
      let next = try connection.next(seconds: Self.turnTime)
      // A channel that was closed may have late ones.
      if let next, next.channel != channel { continue }
      if try isDone(next?.1) { return }
      if let message = next?.1 {
        read += 1
        tag = message.tag
      }
      // Lets the engine send more.
      if read >= Int(Self.prefetch / 4) || next == nil && read > 0 {
        try connection.acknowledge(upTo: tag, channel: channel)
        read = 0
      }
    }
  }

  /// Checks that the stream still reaches to the last message that was read. That of an engine that
  /// was set up anew counts from 0 again. The engine does not say where a stream ends, so this reads
  /// its newest messages. While it has none, there is nothing to read.
  private func checkEnd(on connection: AMQPConnection) throws(EngineError) {
    guard let last = state.withLock({ $0.last }) else { return }
    var received: MonotonicTime?
    try follow(.text("last"), on: connection, Self.endChannel) { message throws(EngineError) in
      if let offset = message?.offset {
        if offset >= last.offset { return true }
        // New ones may come all the time.
        received = received ?? .now
      }
      if let received, MonotonicTime.now.seconds(since: received) > Self.chunkTime {
        throw beginAnew()
      }
      return false
    }
    try connection.closeChannel(Self.endChannel)
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

/// The transitions that have been read: for each name the last number. It remembers at most a
/// million names, and forgets the ones whose last transitions are the oldest.
struct RepeatFilter {
  private let limit: Int
  private var young: [Substring: UInt64] = [:]
  private var old: [Substring: UInt64] = [:]

  init(limit: Int = 500_000) { self.limit = limit }

  /// Returns whether an id, `NAME/n`, has a number above that of its name, and remembers it.
  mutating func isNew(_ id: String) -> Bool {
    var (name, number) = (id[...], UInt64(0))
    if let slash = id.lastIndex(of: "/"), let last = UInt64(id[id.index(after: slash)...]) {
      (name, number) = (id[..<slash], last)
    }
    if let last = young[name] ?? old[name], number <= last { return false }
    if young.count >= limit {
      old = young
      young = [:]
    }
    young[name] = number
    return true
  }
}
