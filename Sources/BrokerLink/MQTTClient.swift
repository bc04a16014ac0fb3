import CMosquitto
import Glibc

/// A libmosquitto connection to a broker, for one attempt.
///
/// It belongs to one thread. libmosquitto runs callbacks only inside the calls made here, and the
/// callbacks only copy into ``Inbox``. This makes every pointer below valid: arguments live during
/// the call, and libmosquitto copies what it keeps; arguments of a callback live during the
/// callback; this object owns the inbox, whose address libmosquitto keeps, and frees it after the
/// handle.
@safe final class MQTTClient {
  /// The data that libmosquitto's callbacks delivered.
  final class Inbox {
    /// The broker's answer to the connection request. 0 accepts it.
    var answer: Int32?
    /// The reason that libmosquitto ended the connection.
    var end: Int32?
    var acknowledged: [Int32] = []
    var messages: [Received] = []
    /// The first error that libmosquitto logged.
    var error: String?
  }

  struct Received {
    var topic: String
    var payload: [UInt8]
    var isRetained: Bool
  }

  /// An error status of libmosquitto, and the system's error at that time.
  struct Failure: Error {
    var status: Int32
    var errno: Int32 = 0
  }

  let inbox = Inbox()
  private let handle: OpaquePointer

  /// Initializes libmosquitto once. The cleanup at the end of the process is omitted.
  private static let library: Void = { _ = mosquitto_lib_init() }()

  /// Prepares a connection with a last will, which the broker publishes and retains. From then on,
  /// libmosquitto ignores SIGPIPE in the whole process.
  init(
    _ configuration: BrokerConfiguration, will: (topic: String, payload: [UInt8])
  ) throws(Failure) {
    Self.library
    let object = unsafe Unmanaged.passUnretained(inbox).toOpaque()
    guard let handle = unsafe mosquitto_new(configuration.clientID, true, object) else {
      throw Failure(status: MOSQ_ERR_NOMEM.rawValue)
    }
    unsafe self.handle = handle
    setCallbacks()
    try check(
      unsafe mosquitto_will_set(
        handle, will.topic, Int32(will.payload.count), will.payload, 1, true))
    if let name = configuration.username {
      try check(unsafe mosquitto_username_pw_set(handle, name, configuration.password))
    }
    if let tls = configuration.tls { try set(tls) }
  }

  // This also runs if the initializer throws after setting the handle, the last property.
  deinit { unsafe mosquitto_destroy(handle) }

  private func set(_ tls: BrokerConfiguration.TLS) throws(Failure) {
    // Otherwise OpenSSL prompts on the terminal for the password of a key.
    let noPassword:
      @convention(c) (
        UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
      ) -> Int32 = { _, _, _, _ in 0 }
    try check(
      unsafe mosquitto_tls_set(
        handle, tls.authorities, tls.authorities == nil ? "/etc/ssl/certs" : nil, tls.certificate,
        tls.key, noPassword))
    if tls.authorities == nil {
      try check(unsafe mosquitto_int_option(handle, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
    }
  }

  private func setCallbacks() {
    unsafe mosquitto_connect_callback_set(handle) { _, object, status in
      unsafe sharedInbox(object)?.answer = status
    }
    unsafe mosquitto_disconnect_callback_set(handle) { _, object, status in
      unsafe sharedInbox(object)?.end = status
    }
    unsafe mosquitto_publish_callback_set(handle) { _, object, identifier in
      unsafe sharedInbox(object)?.acknowledged.append(identifier)
    }
    unsafe mosquitto_message_callback_set(handle) { _, object, message in
      guard let inbox = unsafe sharedInbox(object), let message = unsafe message?.pointee,
        let topic = unsafe message.topic, inbox.messages.count < 1000
      else { return }
      let bytes = unsafe UnsafeRawBufferPointer(
        start: message.payload, count: max(0, Int(message.payloadlen)))
      // All expected payloads are short.
      inbox.messages.append(
        Received(
          topic: unsafe String(cString: topic), payload: unsafe Array(bytes.prefix(64)),
          isRetained: unsafe message.retain))
    }
    unsafe mosquitto_log_callback_set(handle) { _, object, level, text in
      guard level == MOSQ_LOG_ERR, let text = unsafe text else { return }
      let inbox = unsafe sharedInbox(object)
      if inbox?.error == nil { inbox?.error = unsafe String(cString: text) }
    }
  }

  private func check(_ status: Int32) throws(Failure) {
    guard status != 0 else { return }
    throw Failure(status: status, errno: errno)
  }

  /// Connects the socket, and sends the connection request, whose answer comes later. It may block
  /// as long as the system waits for the host.
  func connect(to host: String, port: UInt16, keepAlive: Int) throws(Failure) {
    try check(unsafe mosquitto_connect(handle, host, Int32(port), Int32(clamping: keepAlive)))
  }

  /// The socket, or -1 if it is closed.
  var descriptor: Int32 { unsafe mosquitto_socket(handle) }
  var wantsWrite: Bool { unsafe mosquitto_want_write(handle) }

  func read() throws(Failure) { try check(unsafe mosquitto_loop_read(handle, 1)) }
  /// Writes as much pending data as possible.
  func write() throws(Failure) { try check(unsafe mosquitto_loop_write(handle, 1)) }
  /// Pings the broker if that is due, or fails if it did not answer the last ping.
  func checkKeepAlive() throws(Failure) { try check(unsafe mosquitto_loop_misc(handle)) }

  /// Queues a message, and returns the identifier of its acknowledgment.
  func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) throws(Failure) -> Int32 {
    var identifier: Int32 = 0
    try check(
      unsafe mosquitto_publish(
        handle, &identifier, topic, Int32(clamping: payload.count), payload, 1, isRetained))
    return identifier
  }

  func subscribe(_ filter: String) throws(Failure) {
    try check(unsafe mosquitto_subscribe(handle, nil, filter, 1))
  }

  /// Disconnects cleanly, so that the broker does not publish the last will.
  func disconnect() { _ = unsafe mosquitto_disconnect(handle) }
}

extension MQTTClient.Failure {
  var text: String {
    // The texts are copied at once, on the only thread that gets them.
    switch mosq_err_t(rawValue: status) {
    case MOSQ_ERR_ERRNO: unsafe String(cString: strerror(errno))
    case MOSQ_ERR_EAI: unsafe String(cString: gai_strerror(errno))
    default: unsafe String(cString: mosquitto_strerror(status))
    }
  }
}

/// Returns the inbox whose address libmosquitto was given.
private func sharedInbox(_ object: UnsafeMutableRawPointer?) -> MQTTClient.Inbox? {
  unsafe object.map { unsafe Unmanaged<MQTTClient.Inbox>.fromOpaque($0).takeUnretainedValue() }
}

/// Waits until a socket can be read or, with `writes`, written to, a wake signal is sent, or the
/// time has passed.
///
/// - Returns: Whether the socket can be read or has failed, and whether it can be written to.
func waitForSocket(
  _ socket: Int32, writes: Bool, orUntil wake: Int32, seconds: Double
) -> (read: Bool, write: Bool) {
  var entries = [
    pollfd(fd: socket, events: Int16(POLLIN) | (writes ? Int16(POLLOUT) : 0), revents: 0),
    pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
  ]
  let milliseconds = Int32(clamping: Int64(max(0, min(seconds, 86400)) * 1000) + 1)
  // The array outlives the call.
  guard unsafe poll(&entries, 2, milliseconds) > 0 else { return (false, false) }
  let events = entries[0].revents
  return (
    events & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0, events & Int16(POLLOUT) != 0
  )
}
