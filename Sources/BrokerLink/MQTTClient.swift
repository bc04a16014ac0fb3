import CMosquitto
import Clocks
import Glibc
import Scanning

@safe struct MosquittoLibrary: @unchecked Sendable {
  // The table never changes. Each connection belongs to one thread.
  fileprivate let table: cmosquitto

  /// libmosquitto, or the reason that it cannot be used. It is never unloaded or cleaned up.
  static let shared = Result<MosquittoLibrary, BrokerError> { () throws(BrokerError) in
    var table = cmosquitto()
    // The table outlives the call, and the system's text is copied at once.
    guard unsafe cmosquitto_load(&table) != 0 else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "it cannot be prepared"
      throw BrokerError(
        "MQTT needs libmosquitto, which cannot be loaded (\(reason)); install it: apt-get install "
          + "libmosquitto1")
    }
    return MosquittoLibrary(table: table)
  }
}

/// A message that the broker has delivered.
package struct BrokerMessage {
  var topic: String
  var payload: [UInt8]
  var isRetained: Bool
}

/// A libmosquitto connection to a broker, for one attempt. It tracks waits and acknowledgments.
///
/// It belongs to one thread. libmosquitto runs callbacks only inside the calls made here, and the
/// callbacks only copy into ``Inbox``. This makes every pointer below valid: arguments live during
/// the call, and libmosquitto copies what it keeps; arguments of a callback live during the
/// callback; this object owns the inbox, whose address libmosquitto keeps, and frees it after the
/// handle.
@safe final class MQTTClient {
  final class Inbox {
    /// The broker's answer to the connection request. 0 accepts it.
    var answer: Int32?
    /// The reason that libmosquitto ended the connection.
    var end: Int32?
    var acknowledged: [Int32] = []
    var messages: [BrokerMessage] = []
    /// Whether the broker permits the subscription.
    var isPermitted: Bool?
    /// The most bytes of a payload that are kept, and those of all that wait.
    let longest: Int
    var size = 0
    /// The first error that libmosquitto logged.
    var error: String?

    init(longest: Int) { self.longest = longest }
  }

  /// The most bytes of payloads that wait. Further messages are left out.
  private static let maximumSize = 4 << 20

  struct Failure: Error {
    var status: Int32
    var errno: Int32 = 0
  }

  private let inbox: Inbox
  private let configuration: BrokerConfiguration
  private let library: MosquittoLibrary
  /// The unacknowledged messages, by libmosquitto's identifiers.
  private var tokens: [Int32: UInt64] = [:]
  /// The times of the last packet in each direction.
  private var lastRead = MonotonicTime.now
  private var lastWrite = MonotonicTime.now
  private let handle: OpaquePointer

  /// Prepares a connection. Under the topic of a last will, the broker publishes and retains
  /// `offline`. From then on, libmosquitto ignores SIGPIPE in the whole process. Payloads are cut
  /// after so many bytes.
  init(
    _ configuration: BrokerConfiguration, _ library: MosquittoLibrary, lastWill topic: String?,
    longestPayload: Int
  ) throws(Failure) {
    inbox = Inbox(longest: longestPayload)
    self.configuration = configuration
    self.library = library
    let object = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    guard let handle = unsafe library.table.new(configuration.clientID, true, object) else {
      throw Failure(status: MOSQ_ERR_NOMEM.rawValue)
    }
    unsafe self.handle = handle
    setCallbacks()
    if let topic {
      let will = Array("offline".utf8)
      try check(unsafe library.table.will_set(handle, topic, Int32(will.count), will, 1, true))
    }
    if let name = configuration.username {
      try check(unsafe library.table.username_pw_set(handle, name, configuration.password))
    }
    if let tls = configuration.tls { try set(tls) }
  }

  // This also runs if the initializer throws after setting the handle, the last property.
  deinit { unsafe library.table.destroy(handle) }

  private func set(_ tls: BrokerConfiguration.TLS) throws(Failure) {
    // Otherwise OpenSSL prompts on the terminal for the password of a key.
    let noPassword:
      @convention(c) (
        UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
      ) -> Int32 = { _, _, _, _ in 0 }
    try check(
      unsafe library.table.tls_set(
        handle, tls.authorities, tls.authorities == nil ? "/etc/ssl/certs" : nil, tls.certificate,
        tls.key, noPassword))
    if tls.authorities == nil {
      try check(unsafe library.table.int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
    }
  }

  private func setCallbacks() {
    unsafe library.table.connect_callback_set(handle) { _, object, status in
      unsafe sharedInbox(object)?.answer = status
    }
    unsafe library.table.disconnect_callback_set(handle) { _, object, status in
      unsafe sharedInbox(object)?.end = status
    }
    unsafe library.table.publish_callback_set(handle) { _, object, identifier in
      unsafe sharedInbox(object)?.acknowledged.append(identifier)
    }
    unsafe library.table.subscribe_callback_set(handle) { _, object, _, count, qualities in
      guard count > 0, let quality = unsafe qualities?.pointee else { return }
      // 0x80 and above are refusals.
      unsafe sharedInbox(object)?.isPermitted = quality < 0x80
    }
    unsafe library.table.message_callback_set(handle) { _, object, message in
      guard let inbox = unsafe sharedInbox(object), let message = unsafe message?.pointee,
        let topic = unsafe message.topic, inbox.messages.count < 1000,
        inbox.size < MQTTClient.maximumSize
      else { return }
      let bytes = unsafe UnsafeRawBufferPointer(
        start: message.payload, count: max(0, Int(message.payloadlen)))
      let payload = unsafe Array(bytes.prefix(inbox.longest))
      inbox.size += payload.count
      inbox.messages.append(
        BrokerMessage(
          topic: unsafe String(cString: topic), payload: payload,
          isRetained: unsafe message.retain))
    }
    unsafe library.table.log_callback_set(handle) { _, object, level, text in
      guard level == MOSQ_LOG_ERR, let text = unsafe text else { return }
      let inbox = unsafe sharedInbox(object)
      if inbox?.error == nil { inbox?.error = unsafe String(cString: text) }
    }
  }

  private func check(_ status: Int32) throws(Failure) {
    guard status != 0 else { return }
    throw Failure(status: status, errno: errno)
  }

  var answer: Int32? { inbox.answer }
  /// Whether the broker permits the subscription, once it has answered.
  var isPermitted: Bool? { inbox.isPermitted }
  var log: String? { inbox.error }
  private var descriptor: Int32 { unsafe library.table.socket(handle) }

  /// Connects the socket, and sends the connection request, whose answer comes later. It may block
  /// as long as the system waits for the host. Returns the time.
  func connect() throws(Failure) -> MonotonicTime {
    try check(
      unsafe library.table.connect(
        handle, configuration.host, Int32(configuration.usedPort),
        Int32(clamping: configuration.keepAlive)))
    lastRead = .now
    lastWrite = lastRead
    return lastRead
  }

  func publish(_ message: Outbox.Message) throws(Failure) {
    var identifier: Int32 = 0
    try check(
      unsafe library.table.publish(
        handle, &identifier, message.topic, Int32(clamping: message.payload.count),
        message.payload, 1, message.isRetained))
    tokens[identifier] = message.token
    lastWrite = .now
    try checkEnd()
  }

  func wait(seconds: Double, orUntil wake: borrowing WakeSignal) throws(Failure) {
    try checkEnd()
    // libmosquitto counts whole seconds, so one more second makes it due there too.
    let due = min(lastRead, lastWrite).advanced(bySeconds: Double(configuration.keepAlive) + 1)
    let events = Int16(POLLIN) | (unsafe library.table.want_write(handle) ? Int16(POLLOUT) : 0)
    var entries = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let time = max(0, min(seconds, due.seconds(since: .now), 86400))
    // The array outlives the call.
    let count = unsafe poll(&entries, 2, Int32(clamping: Int64(time * 1000) + 1))
    let ready = count > 0 ? entries[0].revents : 0
    wake.reset()
    if ready & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0 {
      try check(unsafe library.table.loop_read(handle, 1))
      lastRead = .now
    }
    if ready & Int16(POLLOUT) != 0, descriptor >= 0 {
      try check(unsafe library.table.loop_write(handle, 1))
      lastWrite = .now
    }
    if MonotonicTime.now >= due, descriptor >= 0 {
      // This pings the broker, or fails if it did not answer the last ping.
      try check(unsafe library.table.loop_misc(handle))
      lastRead = .now
      lastWrite = .now
    }
    try checkEnd()
  }

  func takeAcknowledged() -> [UInt64] {
    defer { inbox.acknowledged = [] }
    return inbox.acknowledged.compactMap { tokens.removeValue(forKey: $0) }
  }

  func takeMessages() -> [BrokerMessage] {
    defer { (inbox.messages, inbox.size) = ([], 0) }
    return inbox.messages
  }

  private func checkEnd() throws(Failure) {
    if let end = inbox.end { throw Failure(status: end) }
    if descriptor < 0 { throw Failure(status: MOSQ_ERR_CONN_LOST.rawValue) }
  }

  func subscribe(_ filter: String) throws(Failure) {
    try check(unsafe library.table.subscribe(handle, nil, filter, 1))
  }

  /// Disconnects cleanly, so that the broker does not publish the last will.
  func disconnect() { _ = unsafe library.table.disconnect(handle) }
}

extension MQTTClient.Failure {
  var text: String {
    // The texts are copied at once, on the only thread that gets them.
    switch mosq_err_t(rawValue: status) {
    case MOSQ_ERR_ERRNO: unsafe String(cString: strerror(errno))
    case MOSQ_ERR_EAI: unsafe String(cString: gai_strerror(errno))
    default:
      unsafe (try? MosquittoLibrary.shared.get())?.table.strerror(status)
        .map { unsafe String(cString: $0) } ?? "status \(status)"
    }
  }
}

private func sharedInbox(_ object: UnsafeMutableRawPointer?) -> MQTTClient.Inbox? {
  unsafe object.map { unsafe Unmanaged<MQTTClient.Inbox>.fromOpaque($0).takeUnretainedValue() }
}
