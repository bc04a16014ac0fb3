import CRabbitMQ
import Clocks
import DequeModule
import Glibc

@safe struct RabbitMQLibrary: @unchecked Sendable {
  // The table never changes. Each connection belongs to one thread.
  fileprivate let table: crabbitmq

  /// librabbitmq, or the reason that it cannot be used. It is never unloaded.
  static let shared = Result<RabbitMQLibrary, EngineError> { () throws(EngineError) in
    var table = crabbitmq()
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe crabbitmq_load(&table) != 0 else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "a function is missing"
      throw EngineError(
        "the fleet's engine needs librabbitmq, which cannot be loaded (\(reason)); install it: "
          + "apt-get install librabbitmq4")
    }
    return RabbitMQLibrary(table: table)
  }
}

/// A message that the engine delivered.
struct Delivery {
  var tag: UInt64
  /// Whether the engine may have delivered it before.
  var isRedelivered = false
  var routingKey: String
  var id = ""
  /// The offset in the stream that it comes from.
  var offset: UInt64?
  var body: [UInt8] = []
}

/// A librabbitmq connection to one node, with its channels.
///
/// It belongs to one thread. Every pointer below is valid because of this: arguments live during
/// the call, and librabbitmq writes or copies them before it returns; what librabbitmq returns
/// lives until its buffers are released, which happens here, after all is copied.
@safe final class AMQPConnection {
  /// A value of a queue's or a consumer's argument.
  enum Argument {
    case text(StaticString)
    case number(Int64)
    case time(UInt64)
    case yes
  }

  private struct Partial {
    var delivery: Delivery
    var remaining: UInt64?
  }

  /// The bytes that are kept of a delivered message. A longer one is cut.
  private static let maximumBody = 1 << 20
  /// The numbers of the channels that are chosen here. librabbitmq keeps 128 KiB for each one used.
  private static let choice: ClosedRange<UInt16> = 16...271

  let node: EngineConfiguration.Node
  private let table: crabbitmq
  private var partials: [UInt16: Partial] = [:]
  /// The numbers of the messages published on each channel that confirms them.
  private var published: [UInt16: UInt64] = [:]
  /// The tags of each channel that are not confirmed yet, in order.
  private var unconfirmed: [UInt16: [UInt64]] = [:]
  private var backlog: Deque<(channel: UInt16, Delivery)> = []
  /// The open channels whose numbers were chosen here.
  private var chosenChannels: Set<UInt16> = []
  private var lastChosen: UInt16 = 0
  private let state: amqp_connection_state_t

  /// Connects and logs in.
  init(
    _ node: EngineConfiguration.Node, _ configuration: EngineConfiguration,
    _ library: RabbitMQLibrary
  ) throws(EngineError) {
    self.node = node
    table = library.table
    guard let state = library.table.new_connection() else {
      throw EngineError("librabbitmq has no memory for a connection")
    }
    unsafe self.state = state
    try open(configuration)
  }

  // This also runs if the initializer throws after setting the state, the last property.
  deinit { _ = unsafe table.destroy_connection(state) }

  private func open(_ configuration: EngineConfiguration) throws(EngineError) {
    var time = timeval(seconds: configuration.answerTime)
    guard
      let socket = unsafe configuration.tls == nil
        ? table.tcp_socket_new(state) : table.ssl_socket_new(state)
    else { throw EngineError("librabbitmq has no memory for a socket") }
    if let tls = configuration.tls {
      unsafe table.ssl_socket_set_verify_peer(socket, 1)
      unsafe table.ssl_socket_set_verify_hostname(socket, 1)
      try check(unsafe table.ssl_socket_set_cacert(socket, tls.authorities), "use TLS with")
      if let certificate = tls.certificate, let key = tls.key {
        try check(unsafe table.ssl_socket_set_key(socket, certificate, key), "use TLS with")
      }
    }
    try check(
      unsafe table.socket_open_noblock(socket, node.host, Int32(node.port), &time), "connect to")
    _ = unsafe table.set_handshake_timeout(state, &time)
    _ = unsafe table.set_rpc_timeout(state, &time)
    var table = table
    let reply = unsafe crabbitmq_login(
      &table, state, configuration.virtualHost, Int32(clamping: configuration.heartbeat),
      configuration.username, configuration.password)
    unsafe try check(reply, "log in to")
  }

  /// Ends the connection in an orderly way.
  func close() { _ = unsafe table.connection_close(state, AMQP_REPLY_SUCCESS) }

  // MARK: - Channels

  func openChannel(_ channel: UInt16) throws(EngineError) {
    _ = unsafe table.channel_open(state, channel)
    try checkReply("open a channel on")
  }

  /// Opens a channel, and returns its number from 16 on: not that of one that was closed a short
  /// time ago, of which late frames may still come. At most 255 such channels are open.
  func openChannel() throws(EngineError) -> UInt16 {
    repeat {
      lastChosen = Self.choice.contains(lastChosen + 1) ? lastChosen + 1 : Self.choice.lowerBound
    } while !chosenChannels.insert(lastChosen).inserted
    try openChannel(lastChosen)
    return lastChosen
  }

  /// Closes a channel. The engine gives what the channel has not acknowledged to other consumers.
  func closeChannel(_ channel: UInt16) throws(EngineError) {
    let reply = unsafe table.channel_close(state, channel, AMQP_REPLY_SUCCESS)
    unsafe try check(reply, "close a channel on")
    chosenChannels.remove(channel)
    partials[channel] = nil
    unconfirmed[channel] = nil
    published[channel] = nil
    backlog.removeAll { $0.channel == channel }
  }

  /// Makes the engine confirm what is published on a channel.
  func confirmPublications(_ channel: UInt16) throws(EngineError) {
    _ = unsafe table.confirm_select(state, channel)
    try checkReply("request confirms from")
    published[channel] = 0
    unconfirmed[channel] = []
  }

  // MARK: - Queues

  /// Declares a durable queue, or only looks at one. One that is exclusive lives as long as the
  /// connection, and no other one can declare it. Returns the numbers of its messages and consumers.
  @discardableResult
  func declareQueue(
    _ name: String, _ arguments: [(StaticString, Argument)], channel: UInt16,
    isPassive: Bool = false, isExclusive: Bool = false
  ) throws(EngineError) -> (messages: Int, consumers: Int) {
    let counts = unsafe withBytes(name) { name in
      unsafe withTable(arguments) { arguments in
        unsafe table.queue_declare(
          state, channel, name, isPassive ? 1 : 0, isExclusive ? 0 : 1, isExclusive ? 1 : 0, 0,
          arguments
        ).map { unsafe (Int($0.pointee.message_count), Int($0.pointee.consumer_count)) }
      }
    }
    try checkReply("declare the queue \(name) on")
    unsafe table.maybe_release_buffers_on_channel(state, channel)
    return counts ?? (0, 0)
  }

  /// Deletes a queue with its messages, if it exists.
  func deleteQueue(_ name: String, channel: UInt16) throws(EngineError) {
    unsafe withBytes(name) { _ = unsafe table.queue_delete(state, channel, $0, 0, 0) }
    try checkReply("delete the queue \(name) on")
  }

  /// Returns the numbers of a queue's messages and consumers, or `nil` if it does not exist, by a
  /// channel of its own.
  func countQueue(_ name: String) throws(EngineError) -> (messages: Int, consumers: Int)? {
    try find { channel throws(EngineError) in
      try declareQueue(name, [], channel: channel, isPassive: true)
    }
  }

  /// Runs a body with a channel of its own. Returns `nil` if the engine does not have what the body
  /// uses: the engine closes the channel then.
  func find<Result>(
    _ body: (UInt16) throws(EngineError) -> Result
  ) throws(EngineError) -> Result? {
    let channel = try openChannel()
    let result: Result
    do throws(EngineError) {
      result = try body(channel)
    } catch {
      guard error.isMissing else { throw error }
      var reply = amqp_channel_close_ok_t()
      let number = amqp_method_number_t(CRABBITMQ_CHANNEL_CLOSE_OK)
      try check(unsafe table.send_method(state, channel, number, &reply), "close a channel on")
      chosenChannels.remove(channel)
      return nil
    }
    try closeChannel(channel)
    return result
  }

  /// Declares a durable exchange, or only looks for one.
  func declareTopicExchange(
    _ name: String, channel: UInt16, isPassive: Bool = false
  ) throws(EngineError) {
    unsafe withBytes(name) { name in
      unsafe withBytes("topic") { type in
        _ = unsafe table.exchange_declare(
          state, channel, name, type, isPassive ? 1 : 0, 1, 0, 0, amqp_table_t())
      }
    }
    try checkReply("declare the exchange \(name) on")
  }

  func bind(
    _ queue: String, to exchange: String, _ key: String, channel: UInt16
  ) throws(EngineError) {
    unsafe withBytes(queue) { queue in
      unsafe withBytes(exchange) { exchange in
        unsafe withBytes(key) { key in
          _ = unsafe table.queue_bind(state, channel, queue, exchange, key, amqp_table_t())
        }
      }
    }
    try checkReply("bind the queue \(queue) on")
  }

  /// Starts a consumer, the channel's only one, which holds at most `prefetch` unacknowledged
  /// messages.
  func consume(
    _ queue: String, _ arguments: [(StaticString, Argument)] = [], prefetch: UInt16,
    channel: UInt16
  ) throws(EngineError) {
    _ = unsafe table.basic_qos(state, channel, 0, prefetch, 0)
    try checkReply("limit a consumer of")
    unsafe withBytes(queue) { queue in
      unsafe withTable(arguments) { arguments in
        _ = unsafe table.basic_consume(
          state, channel, queue, amqp_bytes_t(), 0, 0, 0, arguments)
      }
    }
    try checkReply("consume the queue \(queue) of")
  }

  /// Takes the first message of a queue, which stays unacknowledged, or returns `nil` if there is
  /// none. The channel must not have a consumer.
  func get(_ queue: String, channel: UInt16) throws(EngineError) -> Delivery? {
    let reply = unsafe withBytes(queue) { unsafe table.basic_get(state, channel, $0, 0) }
    unsafe try check(reply, "read the queue \(queue) of")
    guard unsafe Int(reply.reply.id) == CRABBITMQ_GET_OK,
      let decoded = unsafe reply.reply.decoded
    else { return nil }
    let method = unsafe decoded.assumingMemoryBound(to: amqp_basic_get_ok_t.self).pointee
    var delivery = unsafe Delivery(
      tag: method.delivery_tag, routingKey: String(bytes: method.routing_key))
    var message = unsafe amqp_message_t()
    unsafe try check(table.read_message(state, channel, &message, 0), "read a message of")
    unsafe delivery.read(message.properties)
    delivery.body = unsafe Array(bytes: message.body)
    unsafe table.destroy_message(&message)
    unsafe table.maybe_release_buffers_on_channel(state, channel)
    return delivery
  }

  // MARK: - Messages

  /// Publishes a durable message on a channel that confirms. A message that no queue takes, unless
  /// that may be, or that the engine cannot store, ends the connection with an error. The names have
  /// 255 bytes at most.
  func publish(
    to exchange: String, _ routingKey: String, id: String, _ body: [UInt8], channel: UInt16,
    needsQueue: Bool = true
  ) throws(EngineError) {
    guard max(routingKey.utf8.count, id.utf8.count) <= 255 else {
      throw EngineError("a message's name has more than 255 bytes: \(routingKey) \(id)")
    }
    let status = unsafe withBytes(exchange) { exchange in
      unsafe withBytes(routingKey) { routingKey in
        unsafe withBytes(id) { id in
          unsafe body.withUnsafeBytes { body in
            var properties = unsafe amqp_basic_properties_t()
            unsafe properties._flags =
              amqp_flags_t(AMQP_BASIC_DELIVERY_MODE_FLAG) | amqp_flags_t(AMQP_BASIC_MESSAGE_ID_FLAG)
            unsafe properties.delivery_mode = 2
            unsafe properties.message_id = id
            return unsafe table.basic_publish(
              state, channel, exchange, routingKey, needsQueue ? 1 : 0, 0, &properties,
              amqp_bytes_t(body))
          }
        }
      }
    }
    try check(status, "publish on")
    let tag = published[channel, default: 0] + 1
    published[channel] = tag
    unconfirmed[channel, default: []].append(tag)
  }

  /// Acknowledges all messages up to a tag.
  func acknowledge(upTo tag: UInt64, channel: UInt16) throws(EngineError) {
    try check(unsafe table.basic_ack(state, channel, tag, 1), "acknowledge on")
  }

  /// Returns the next message with its channel, or `nil` if there is none for a time.
  func next(seconds: Double) throws(EngineError) -> (channel: UInt16, Delivery)? {
    if let next = backlog.popFirst() { return next }
    return try receive(seconds: seconds) { false }
  }

  /// Returns whether the node has sent a message on a channel that ``next(seconds:)`` has yet to return.
  func hasReceived(on channel: UInt16) throws(EngineError) -> Bool {
    while let next = try receive(seconds: 0, unless: { false }) { backlog.append(next) }
    return backlog.contains { $0.channel == channel }
  }

  /// Waits until all that was published on a channel is stored.
  func waitForConfirms(seconds: Double, channel: UInt16) throws(EngineError) {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while countUnconfirmed(channel) > 0 {
      let left = deadline.seconds(since: .now)
      guard left > 0 else {
        throw EngineError("\(node) has not confirmed a message for \(seconds) s")
      }
      let next = try receive(seconds: left) { countUnconfirmed(channel) == 0 }
      if let next { backlog.append(next) }
    }
  }

  func countUnconfirmed(_ channel: UInt16) -> Int { unconfirmed[channel]?.count ?? 0 }

  /// The number of messages published on a channel since the oldest that is not confirmed, with it.
  func countSinceOldestUnconfirmed(_ channel: UInt16) -> Int {
    guard let oldest = unconfirmed[channel]?.first, let last = published[channel] else { return 0 }
    return Int(clamping: last - min(last, oldest)) + 1
  }

  /// Returns the next message from the node, or `nil` after a time or when a condition holds.
  private func receive(
    seconds: Double, unless isDone: () -> Bool
  ) throws(EngineError) -> (channel: UInt16, Delivery)? {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while !isDone() {
      var time = timeval(seconds: max(0, deadline.seconds(since: .now)))
      var frame = unsafe amqp_frame_t()
      let status = unsafe table.simple_wait_frame_noblock(state, &frame, &time)
      if status == Int32(AMQP_STATUS_TIMEOUT.rawValue) { return nil }
      try check(status, "keep the connection to")
      let channel = unsafe frame.channel
      let delivery = unsafe try take(frame)
      unsafe table.maybe_release_buffers_on_channel(state, channel)
      if let delivery { return (channel, delivery) }
    }
    return nil
  }

  private func take(_ frame: amqp_frame_t) throws(EngineError) -> Delivery? {
    let channel = unsafe frame.channel
    switch unsafe Int32(frame.frame_type) {
    case AMQP_FRAME_METHOD:
      unsafe try take(frame.payload.method, channel)
      return nil
    case AMQP_FRAME_HEADER:
      guard var partial = partials[channel], partial.remaining == nil else { return nil }
      partial.remaining = unsafe frame.payload.properties.body_size
      if let decoded = unsafe frame.payload.properties.decoded {
        unsafe partial.delivery.read(
          decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee)
      }
      return finish(partial, channel)
    case AMQP_FRAME_BODY:
      guard var partial = partials.removeValue(forKey: channel), let remaining = partial.remaining
      else { return nil }
      let bytes = unsafe Array(bytes: frame.payload.body_fragment)
      partial.remaining = remaining - min(remaining, UInt64(bytes.count))
      let room = Self.maximumBody - partial.delivery.body.count
      partial.delivery.body.append(contentsOf: bytes.prefix(room))
      return finish(partial, channel)
    default: return nil
    }
  }

  private func finish(_ partial: Partial, _ channel: UInt16) -> Delivery? {
    guard partial.remaining == 0 else {
      partials[channel] = partial
      return nil
    }
    partials[channel] = nil
    return partial.delivery
  }

  private func take(_ method: amqp_method_t, _ channel: UInt16) throws(EngineError) {
    guard let decoded = unsafe method.decoded else { return }
    switch unsafe Int(method.id) {
    case CRABBITMQ_DELIVER:
      let deliver = unsafe decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee
      partials[channel] = unsafe Partial(
        delivery: Delivery(
          tag: deliver.delivery_tag, isRedelivered: deliver.redelivered != 0,
          routingKey: String(bytes: deliver.routing_key)))
    case CRABBITMQ_ACK:
      let ack = unsafe decoded.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
      let (tag, isMultiple) = (ack.delivery_tag, ack.multiple != 0)
      unconfirmed[channel]?.removeAll { isMultiple ? $0 <= tag : $0 == tag }
    case CRABBITMQ_NACK:
      throw EngineError("\(node) could not store a message")
    case CRABBITMQ_RETURN:
      throw EngineError("\(node) has no queue for a message", isMissing: true)
    case CRABBITMQ_CANCEL:
      throw EngineError("\(node) ended a consumer, because its queue is gone", isMissing: true)
    case CRABBITMQ_CHANNEL_CLOSE, CRABBITMQ_CONNECTION_CLOSE:
      throw unsafe refusal(method, "use")
    default: break
    }
  }

  // MARK: - Errors

  private func checkReply(_ action: @autoclosure () -> String) throws(EngineError) {
    unsafe try check(table.get_rpc_reply(state), action())
  }

  private func check(_ status: Int32, _ action: @autoclosure () -> String) throws(EngineError) {
    guard status < 0 else { return }
    throw EngineError("cannot \(action()) \(node): \(text(status))")
  }

  private func check(
    _ reply: amqp_rpc_reply_t, _ action: @autoclosure () -> String
  ) throws(EngineError) {
    switch unsafe reply.reply_type {
    case AMQP_RESPONSE_NORMAL: return
    case AMQP_RESPONSE_SERVER_EXCEPTION: throw unsafe refusal(reply.reply, action())
    case AMQP_RESPONSE_LIBRARY_EXCEPTION:
      let status = unsafe reply.library_error
      throw EngineError("cannot \(action()) \(node): \(text(status))")
    default: throw EngineError("cannot \(action()) \(node): the connection ended")
    }
  }

  private func text(_ status: Int32) -> String {
    // A constant of the library.
    unsafe table.error_string2(status).map { unsafe String(cString: $0) } ?? "status \(status)"
  }

  /// The error of a channel or a connection that the node closed.
  private func refusal(_ method: amqp_method_t, _ action: String) -> EngineError {
    guard let decoded = unsafe method.decoded else {
      return EngineError("cannot \(action) \(node)")
    }
    var (code, text): (UInt16, String) = (0, "")
    switch unsafe Int(method.id) {
    case CRABBITMQ_CHANNEL_CLOSE:
      let close = unsafe decoded.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
      (code, text) = unsafe (close.reply_code, String(bytes: close.reply_text))
    case CRABBITMQ_CONNECTION_CLOSE:
      let close = unsafe decoded.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
      (code, text) = unsafe (close.reply_code, String(bytes: close.reply_text))
    default: break
    }
    return EngineError(
      "cannot \(action) \(node): \(text) (\(code))", isMissing: code == 404,
      isLocked: code == 405)
  }
}

extension timeval {
  fileprivate init(seconds: Double) {
    let microseconds = Int(max(0, min(seconds, 86400)) * 1e6)
    self.init(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
  }
}

// The bytes live until librabbitmq's buffers are released, and are copied here.
extension Array<UInt8> {
  fileprivate init(bytes: amqp_bytes_t) {
    self = unsafe Array(UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len))
  }
}

extension String {
  fileprivate init(bytes: amqp_bytes_t) {
    self = unsafe String(
      decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len), as: UTF8.self)
  }
}

extension Delivery {
  fileprivate mutating func read(_ properties: amqp_basic_properties_t) {
    let flags = unsafe properties._flags
    if flags & amqp_flags_t(AMQP_BASIC_MESSAGE_ID_FLAG) != 0 {
      id = unsafe String(bytes: properties.message_id)
    }
    guard flags & amqp_flags_t(AMQP_BASIC_HEADERS_FLAG) != 0 else { return }
    let entries = unsafe UnsafeBufferPointer(
      start: properties.headers.entries, count: Int(properties.headers.num_entries))
    for index in entries.indices {
      let entry = unsafe entries[index]
      guard unsafe String(bytes: entry.key) == "x-stream-offset",
        unsafe UInt32(entry.value.kind) == AMQP_FIELD_KIND_I64.rawValue
      else { continue }
      offset = unsafe UInt64(exactly: entry.value.value.i64)
    }
  }
}

extension amqp_bytes_t {
  // librabbitmq only reads the bytes.
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.init(
      len: bytes.count, bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  // A constant of the program.
  fileprivate init(_ text: StaticString) {
    unsafe self.init(
      len: text.utf8CodeUnitCount, bytes: UnsafeMutableRawPointer(mutating: text.utf8Start))
  }
}

/// Runs a body with a text's bytes, which live during the body.
private func withBytes<Result>(_ text: String, _ body: (amqp_bytes_t) -> Result) -> Result {
  unsafe Array(text.utf8).withUnsafeBytes { unsafe body(amqp_bytes_t($0)) }
}

/// Runs a body with a table of arguments, which lives during the body.
private func withTable<Result>(
  _ arguments: [(StaticString, AMQPConnection.Argument)], _ body: (amqp_table_t) -> Result
) -> Result {
  var entries = unsafe arguments.map { key, argument in
    var value = unsafe amqp_field_value_t()
    switch argument {
    case .text(let text):
      unsafe value.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
      unsafe value.value.bytes = amqp_bytes_t(text)
    case .number(let number):
      unsafe value.kind = UInt8(AMQP_FIELD_KIND_I64.rawValue)
      unsafe value.value.i64 = number
    case .time(let seconds):
      unsafe value.kind = UInt8(AMQP_FIELD_KIND_TIMESTAMP.rawValue)
      unsafe value.value.u64 = seconds
    case .yes:
      unsafe value.kind = UInt8(AMQP_FIELD_KIND_BOOLEAN.rawValue)
      unsafe value.value.boolean = 1
    }
    return unsafe amqp_table_entry_t(key: amqp_bytes_t(key), value: value)
  }
  return unsafe entries.withUnsafeMutableBufferPointer { entries in
    unsafe body(amqp_table_t(num_entries: Int32(entries.count), entries: entries.baseAddress))
  }
}
