import CDBus
import Clocks
import Glibc

/// A connection to a bus, used by one thread at a time.
///
/// A call waits for its reply and keeps other messages, in order, for
/// ``receive(waitingAtMost:orUntil:)``. Nothing is read between calls, so a flood of messages fills
/// the bus and not this process; ``BusLimits`` bounds the messages that a call keeps.
@safe package final class BusConnection {
  package private(set) var uniqueName = ""
  /// The number of messages dropped because the limits do not permit to keep them, or for having
  /// too many values: then a mirror of a service's state is incomplete.
  package private(set) var droppedMessages = 0

  /// The bus's socket, for a program that waits for other descriptors too. Messages that a call has
  /// kept do not make it readable: receive them first.
  package let descriptor: Int32
  private let handle: OpaquePointer
  private let limits: BusLimits
  private var kept: [BusMessage] = []
  private var keptBytes = 0
  private var isClosed = false

  /// The time limit for answers in nanoseconds, which is libdbus's own.
  package static let defaultTimeout: Int64 = 25_000_000_000

  /// Connects to a bus and takes a unique name. The timeout for the bus's answer is in nanoseconds.
  package init(
    _ address: BusAddress, limits: BusLimits = BusLimits(), timeout: Int64 = defaultTimeout
  ) throws(BusError) {
    try DBusLibrary.check()
    // libdbus writes without SIGPIPE; the process keeps its own handling of that signal.
    dbus.connection_set_change_sigpipe(0)
    let text = address.text
    guard !text.utf8.contains(0) else { throw .invalid(reason: "an address with a zero byte") }
    var error = unsafe DBusError()
    unsafe dbus.error_init(&error)
    defer { unsafe dbus.error_free(&error) }
    // libdbus copies the address; the error's texts are copied at once.
    guard let handle = unsafe dbus.connection_open_private(text, &error) else {
      let name = unsafe error.name.map { unsafe String(cString: $0) } ?? ""
      let reason = unsafe error.message.map { unsafe String(cString: $0) } ?? "no reason is known"
      switch name {
      case BusError.Name.accessDenied: throw .notPermitted(reason: reason)
      case "org.freedesktop.DBus.Error.BadAddress": throw .invalid(reason: reason)
      default: throw .unavailable(address: text, reason: reason)
      }
    }
    unsafe self.handle = handle
    self.limits = limits
    unsafe dbus.connection_set_exit_on_disconnect(handle, 0)
    unsafe dbus.connection_set_max_message_size(handle, limits.messageBytes)
    unsafe dbus.connection_set_max_received_size(handle, limits.messageBytes)
    var descriptor: Int32 = -1
    guard unsafe dbus.connection_get_unix_fd(handle, &descriptor) != 0 else {
      self.descriptor = -1
      throw .unavailable(address: text, reason: "its transport has no socket")
    }
    self.descriptor = descriptor
    do throws(BusError) {
      let answer = try call(.toBus("Hello"), timeout: timeout)
      uniqueName = answer.first?.asString ?? ""
    } catch {
      switch error {
      case .disconnected:
        // The bus ends the connection of a user whom it does not accept.
        throw .notPermitted(
          reason: "the bus at '\(text)' closed the connection of user \(getuid()) unanswered")
      case .timedOut: throw .unavailable(address: text, reason: "it did not answer in time")
      default: throw error
      }
    }
  }

  deinit {
    close()
    unsafe dbus.connection_unref(handle)
  }

  /// Ends the connection. Unsent messages are sent if the bus reads them now, and otherwise lost.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    if unsafe dbus.connection_get_is_connected(handle) != 0 {
      transfer()
    }
    unsafe dbus.connection_close(handle)
  }

  package var isConnected: Bool {
    unsafe !isClosed && dbus.connection_get_is_connected(handle) != 0
  }

  /// Sends a message and returns its serial. Data that the bus does not read at once waits, and is
  /// sent in later calls.
  @discardableResult
  package func send(_ message: BusMessage) throws(BusError) -> UInt32 {
    let wire = try WireMessage.make(message)
    guard isConnected else { throw .disconnected }
    while unsentBytes > limits.unsentBytes {
      guard poll(0, or: nil, writes: true).socket & Int16(POLLOUT) != 0 else {
        throw .congested(bytes: unsentBytes)
      }
      transfer()
      guard isConnected else { throw .disconnected }
    }
    return try unsafe wire.send(on: handle)
  }

  private var unsentBytes: Int { unsafe dbus.connection_get_outgoing_size(handle) }

  /// Sends a call and returns the values of its reply. ``receive(waitingAtMost:orUntil:)`` returns
  /// the messages that come meanwhile, and a reply after the timeout (in nanoseconds).
  package func call(
    _ message: BusMessage, timeout: Int64 = defaultTimeout
  ) throws(BusError) -> [BusValue] {
    let deadline = MonotonicTime.now.advanced(by: max(0, timeout))
    var message = message
    message.expectsReply = true
    var serial: UInt32?
    var isOver = false
    while true {
      if serial == nil, isOver || unsentBytes <= limits.unsentBytes || !isConnected {
        serial = try send(message)
      }
      while let wire = next() {
        guard let serial, wire.answeredSerial == serial else {
          keep(wire)
          // A flood of messages does not extend the wait.
          isOver = MonotonicTime.now >= deadline
          if isOver { break }
          continue
        }
        var budget = limits.decodedBytes
        let reply = try wire.decoded(&budget)
        if let error = reply.error { throw error }
        return reply.body
      }
      guard isConnected else { throw .disconnected }
      guard !isOver else { throw .timedOut(member: message.member ?? "") }
      isOver = !wait(until: deadline, or: nil)
    }
  }

  /// Answers a call, if its caller expects a reply, with values or an error.
  package func reply(
    to call: BusMessage, with body: [BusValue] = [], errorName: String? = nil
  ) throws(BusError) {
    guard call.kind == .call, call.expectsReply else { return }
    var message = BusMessage(errorName == nil ? .reply : .error, body: body)
    message.errorName = errorName
    message.destination = call.sender
    message.replySerial = call.serial
    try send(message)
  }

  /// Returns the received messages in order, at most as many as the limits permit. If there are
  /// none, it waits for at most the nanoseconds, or until another descriptor is readable.
  package func receive(
    waitingAtMost nanoseconds: Int64, orUntil wakeUp: Int32? = nil
  ) throws(BusError) -> [BusMessage] {
    let deadline = MonotonicTime.now.advanced(by: max(0, nanoseconds))
    var isOver = false
    while true {
      while hasRoom, let wire = next() { keep(wire) }
      if !kept.isEmpty {
        defer {
          kept = []
          keptBytes = 0
        }
        return kept
      }
      guard isConnected else { throw .disconnected }
      guard !isOver else { return [] }
      isOver = !wait(until: deadline, or: wakeUp)
    }
  }

  private var hasRoom: Bool {
    kept.count < limits.messages && keptBytes < limits.decodedBytes
  }

  private func keep(_ wire: consuming WireMessage) {
    guard !wire.isDisconnection else { return }
    var budget = limits.decodedBytes
    if hasRoom, let message = try? wire.decoded(&budget) {
      kept.append(message)
      keptBytes += limits.decodedBytes - budget
    } else {
      droppedMessages += 1
    }
  }

  private func next() -> WireMessage? {
    while !isClosed {
      if let message = unsafe dbus.connection_pop_message(handle) {
        return unsafe WireMessage(taking: message)
      }
      // libdbus closes the socket of a connection that has ended.
      guard isConnected, poll(0, or: nil, writes: false).socket != 0 else { return nil }
      transfer()
    }
    return nil
  }

  private func transfer() { _ = unsafe dbus.connection_read_write(handle, 0) }

  /// Waits until the socket is readable, or writable if there is unsent data, and transfers data.
  /// Returns whether time is left and the other descriptor is not readable.
  private func wait(until deadline: MonotonicTime, or wakeUp: Int32?) -> Bool {
    let rest = max(0, deadline.nanoseconds(since: .now))
    let milliseconds = Int32(clamping: (rest + 999_999) / 1_000_000)
    guard unsafe dbus.connection_get_is_authenticated(handle) != 0 else {
      // Before authentication, only libdbus knows whether to read or to write.
      _ = unsafe dbus.connection_read_write(handle, milliseconds)
      return rest > 0
    }
    let writes = unsafe dbus.connection_has_messages_to_send(handle) != 0
    let ready = poll(milliseconds, or: wakeUp, writes: writes)
    // If a signal ends a wait early, the caller waits for the rest.
    if ready.socket != 0 { transfer() }
    return rest > 0 && !ready.wakeUp
  }

  private func poll(
    _ milliseconds: Int32, or wakeUp: Int32?, writes: Bool
  ) -> (socket: Int16, wakeUp: Bool) {
    // `poll` ignores a negative descriptor.
    var entries = [
      pollfd(fd: descriptor, events: Int16(writes ? POLLIN | POLLOUT : POLLIN), revents: 0),
      pollfd(fd: wakeUp ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    // The entries outlive the call. After an error they are unchanged.
    _ = unsafe Glibc.poll(&entries, nfds_t(entries.count), milliseconds)
    return (entries[0].revents, entries[1].revents != 0)
  }

  /// Returns the unique name of a name's owner, or `nil`. The timeout is in nanoseconds.
  package func owner(
    of name: String, timeout: Int64 = defaultTimeout
  ) throws(BusError) -> String? {
    do throws(BusError) {
      return try call(.toBus("GetNameOwner", .string(name)), timeout: timeout).first?.asString
    } catch .failed(BusError.Name.nameHasNoOwner, _) {
      return nil
    }
  }
}

extension BusMessage {
  package static func toBus(_ member: String, _ body: BusValue...) -> BusMessage {
    BusMessage(call: member, of: Bus.name, at: Bus.path, to: Bus.name, body: body)
  }

  /// The name and its new owner, `nil` for none, if this is the bus's signal of a change.
  package var ownerChange: (name: String, owner: String?)? {
    guard isSignal("NameOwnerChanged", of: Bus.name), sender == Bus.name, body.count == 3,
      let name = body[0].asString, let owner = body[2].asString
    else { return nil }
    return (name, owner.isEmpty ? nil : owner)
  }
}

package enum BusAddress: Hashable, Sendable {
  /// The system bus: the address in `DBUS_SYSTEM_BUS_ADDRESS`, or the standard socket.
  case system
  /// A D-Bus address, such as `unix:path=/run/dbus/system_bus_socket`.
  case address(String)

  package var text: String {
    switch self {
    case .system: Self.systemVariable ?? "unix:path=/run/dbus/system_bus_socket"
    case .address(let text): text
    }
  }

  /// The environment variable, unless the process has another user's rights, as in libdbus.
  private static var systemVariable: String? {
    // The text is copied at once.
    guard getuid() == geteuid(), getgid() == getegid(),
      let text = unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS")
    else { return nil }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}

/// The limits on a connection's memory, whatever others send.
package struct BusLimits: Hashable, Sendable {
  /// The longest received message, in bytes. A longer one ends the connection before it is stored.
  package var messageBytes = 16 << 20
  /// The approximate memory, in bytes, for the values of all messages that a call keeps.
  package var decodedBytes = 64 << 20
  /// The number of messages that a call keeps, and that are returned at once.
  package var messages = 4096
  /// The bytes that may be unsent while the bus does not read.
  package var unsentBytes = 1 << 20

  package init() {}
}
