import CDBus

/// A libdbus message, released with this value. All input is checked first, because libdbus ends
/// the process for an invalid name or value.
@safe struct WireMessage: ~Copyable {
  private let handle: OpaquePointer

  init(taking handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe dbus.message_unref(handle) }

  /// The maximum depth of nested values, which libdbus also requires of received messages.
  static let maximumDepth = 64

  var answeredSerial: UInt32? {
    let type = unsafe dbus.message_get_type(handle)
    guard type == BusMessage.Kind.reply.rawValue || type == BusMessage.Kind.error.rawValue else {
      return nil
    }
    return unsafe dbus.message_get_reply_serial(handle)
  }

  /// Whether libdbus itself made this message at the connection's end. A peer cannot send one.
  var isDisconnection: Bool {
    unsafe dbus.message_is_signal(handle, "org.freedesktop.DBus.Local", "Disconnected") != 0
  }

  func send(on connection: OpaquePointer) throws(BusError) -> UInt32 {
    var serial: UInt32 = 0
    // The connection outlives the call, and holds its own reference to the message.
    guard unsafe dbus.connection_send(connection, handle, &serial) != 0 else { throw .noMemory }
    return serial
  }
}

extension BusError {
  static var noMemory: BusError { .failed(name: Name.noMemory, message: "no memory") }
}

extension WireMessage {
  static func parse(_ bytes: [UInt8]) throws(BusError) -> WireMessage {
    try DBusLibrary.check()
    guard let count = Int32(exactly: bytes.count) else { throw .invalid(reason: "a long message") }
    var error = unsafe DBusError()
    unsafe dbus.error_init(&error)
    defer { unsafe dbus.error_free(&error) }
    // libdbus copies the bytes.
    let handle = unsafe bytes.withUnsafeBytes { buffer in
      unsafe dbus.message_demarshal(
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count, &error)
    }
    guard let handle = unsafe handle else {
      throw .invalid(reason: unsafe text(error.message) ?? "these bytes are no message")
    }
    return unsafe WireMessage(taking: handle)
  }

  /// Decodes the message. The budget, in bytes, is lowered by the memory of its values.
  func decoded(_ budget: inout Int) throws(BusError) -> BusMessage {
    let type = unsafe dbus.message_get_type(handle)
    guard let kind = BusMessage.Kind(rawValue: type) else {
      throw .invalid(reason: "a message of the unknown type \(type)")
    }
    var message = BusMessage(kind)
    unsafe message.sender = Self.text(dbus.message_get_sender(handle))
    unsafe message.destination = Self.text(dbus.message_get_destination(handle))
    unsafe message.path = Self.text(dbus.message_get_path(handle))
    unsafe message.interface = Self.text(dbus.message_get_interface(handle))
    unsafe message.member = Self.text(dbus.message_get_member(handle))
    unsafe message.errorName = Self.text(dbus.message_get_error_name(handle))
    message.serial = unsafe dbus.message_get_serial(handle)
    message.replySerial = unsafe dbus.message_get_reply_serial(handle)
    message.expectsReply = unsafe kind == .call && dbus.message_get_no_reply(handle) == 0
    message.startsService = unsafe dbus.message_get_auto_start(handle) != 0
    let names = [
      message.sender, message.destination, message.path, message.interface, message.member,
      message.errorName,
    ]
    budget -= names.reduce(512) { $0 + ($1?.utf8.count ?? 0) }
    var iterator = unsafe DBusMessageIter()
    if unsafe dbus.message_iter_init(handle, &iterator) != 0 {
      message.body = try unsafe Self.values(&iterator, depth: 0, &budget)
    }
    return message
  }

  private static func values(
    _ iterator: inout DBusMessageIter, depth: Int, _ budget: inout Int
  ) throws(BusError) -> [BusValue] {
    var values: [BusValue] = []
    while unsafe dbus.message_iter_get_arg_type(&iterator) != 0 {
      values.append(try unsafe value(&iterator, depth: depth, &budget))
      _ = unsafe dbus.message_iter_next(&iterator)
    }
    return values
  }

  private static func value(
    _ iterator: inout DBusMessageIter, depth: Int, _ budget: inout Int
  ) throws(BusError) -> BusValue {
    budget -= BusValue.plainSize
    guard budget >= 0 else { throw .invalid(reason: "a message with too many values") }
    let type = unsafe UInt8(truncatingIfNeeded: dbus.message_iter_get_arg_type(&iterator))
    switch type {
    case UInt8(ascii: "y"): return .byte(unsafe basic(&iterator, 0))
    case UInt8(ascii: "b"): return .boolean(unsafe basic(&iterator, 0 as UInt32) != 0)
    case UInt8(ascii: "n"): return .int16(unsafe basic(&iterator, 0))
    case UInt8(ascii: "q"): return .uint16(unsafe basic(&iterator, 0))
    case UInt8(ascii: "i"): return .int32(unsafe basic(&iterator, 0))
    case UInt8(ascii: "u"): return .uint32(unsafe basic(&iterator, 0))
    case UInt8(ascii: "x"): return .int64(unsafe basic(&iterator, 0))
    case UInt8(ascii: "t"): return .uint64(unsafe basic(&iterator, 0))
    case UInt8(ascii: "d"): return .double(unsafe basic(&iterator, 0))
    // Reading it would create another descriptor.
    case UInt8(ascii: "h"): return .fileDescriptor
    case UInt8(ascii: "s"): return .string(unsafe string(&iterator, &budget))
    case UInt8(ascii: "o"): return .objectPath(unsafe string(&iterator, &budget))
    case UInt8(ascii: "g"): return .signature(unsafe string(&iterator, &budget))
    default: break
    }
    guard depth < maximumDepth else { throw .invalid(reason: "values that are too deep") }
    budget -= BusValue.containerSize - BusValue.plainSize
    var inner = unsafe DBusMessageIter()
    unsafe dbus.message_iter_recurse(&iterator, &inner)
    switch type {
    case UInt8(ascii: "a"): break
    case UInt8(ascii: "v"):
      return .variant(try unsafe value(&inner, depth: depth + 1, &budget))
    case UInt8(ascii: "r"):
      return .structure(try unsafe values(&inner, depth: depth + 1, &budget))
    default: throw .invalid(reason: "a value of the unknown type \(type)")
    }

    let element = unsafe dbus.message_iter_get_element_type(&iterator)
    if element == UInt8(ascii: "y") {
      var start: UnsafePointer<UInt8>?
      var count: Int32 = 0
      // The bytes live as long as the message, and are copied at once.
      unsafe dbus.message_iter_get_fixed_array(&inner, &start, &count)
      let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
      budget -= bytes.count
      return .bytes(bytes)
    }
    let signature = unsafe dbus.message_iter_get_signature(&iterator)
    defer { unsafe dbus.free(signature) }
    let elementType = (unsafe text(signature) ?? "").dropFirst()
    budget -= elementType.utf8.count
    guard element == UInt8(ascii: "e") else {
      return .array(
        element: String(elementType), try unsafe values(&inner, depth: depth + 1, &budget))
    }
    var entries: [BusValue.Entry] = []
    while unsafe dbus.message_iter_get_arg_type(&inner) != 0 {
      var entry = unsafe DBusMessageIter()
      unsafe dbus.message_iter_recurse(&inner, &entry)
      let key = try unsafe value(&entry, depth: depth + 2, &budget)
      _ = unsafe dbus.message_iter_next(&entry)
      entries.append(BusValue.Entry(key, try unsafe value(&entry, depth: depth + 2, &budget)))
      _ = unsafe dbus.message_iter_next(&inner)
    }
    // "{", one basic type, the value's, "}"
    let types = elementType.dropFirst().dropLast()
    return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
  }

  /// Returns a number, which libdbus stores in a variable of exactly its size.
  private static func basic<Value: BitwiseCopyable>(
    _ iterator: inout DBusMessageIter, _ initial: Value
  ) -> Value {
    var value = initial
    unsafe dbus.message_iter_get_basic(&iterator, &value)
    return value
  }

  private static func string(_ iterator: inout DBusMessageIter, _ budget: inout Int) -> String {
    // The text lives as long as the message, and is copied at once.
    var start: UnsafePointer<CChar>?
    unsafe dbus.message_iter_get_basic(&iterator, &start)
    let string = unsafe text(start) ?? ""
    budget -= string.utf8.count
    return string
  }

  private static func text(_ start: UnsafePointer<CChar>?) -> String? {
    guard let start = unsafe start else { return nil }
    return unsafe String(cString: start)
  }

  /// Creates a message; throws ``BusError/invalid(reason:)`` if D-Bus does not permit it.
  static func make(_ message: BusMessage) throws(BusError) -> WireMessage {
    try message.check()
    guard let handle = dbus.message_new(message.kind.rawValue) else { throw .noMemory }
    let wire = unsafe WireMessage(taking: handle)
    // libdbus copies the texts.
    let isSet =
      unsafe dbus.message_set_sender(handle, message.sender) != 0
      && dbus.message_set_destination(handle, message.destination) != 0
      && dbus.message_set_path(handle, message.path) != 0
      && dbus.message_set_interface(handle, message.interface) != 0
      && dbus.message_set_member(handle, message.member) != 0
      && dbus.message_set_error_name(handle, message.errorName) != 0
      && (message.replySerial == 0
        || dbus.message_set_reply_serial(handle, message.replySerial) != 0)
    guard isSet else { throw .noMemory }
    unsafe dbus.message_set_no_reply(handle, message.expectsReply ? 0 : 1)
    unsafe dbus.message_set_auto_start(handle, message.startsService ? 1 : 0)
    var iterator = unsafe DBusMessageIter()
    unsafe dbus.message_iter_init_append(handle, &iterator)
    for value in message.body {
      guard unsafe append(value, to: &iterator) else { throw .noMemory }
    }
    return wire
  }

  func bytes(serial: UInt32) throws(BusError) -> [UInt8] {
    guard serial != 0 else { throw .invalid(reason: "a message whose serial is 0") }
    unsafe dbus.message_set_serial(handle, serial)
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    guard unsafe dbus.message_marshal(handle, &start, &count) != 0 else { throw .noMemory }
    defer { unsafe dbus.free(start) }
    // The bytes are copied before they are freed.
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
  }

  /// Appends a checked value, and returns whether there was enough memory.
  private static func append(_ value: BusValue, to iterator: inout DBusMessageIter) -> Bool {
    switch value {
    case .byte(let value): return unsafe append(value, "y", to: &iterator)
    case .boolean(let value): return unsafe append(value ? 1 : 0 as UInt32, "b", to: &iterator)
    case .int16(let value): return unsafe append(value, "n", to: &iterator)
    case .uint16(let value): return unsafe append(value, "q", to: &iterator)
    case .int32(let value): return unsafe append(value, "i", to: &iterator)
    case .uint32(let value): return unsafe append(value, "u", to: &iterator)
    case .int64(let value): return unsafe append(value, "x", to: &iterator)
    case .uint64(let value): return unsafe append(value, "t", to: &iterator)
    case .double(let value): return unsafe append(value, "d", to: &iterator)
    case .string(let text): return unsafe append(text: text, "s", to: &iterator)
    case .objectPath(let text): return unsafe append(text: text, "o", to: &iterator)
    case .signature(let text): return unsafe append(text: text, "g", to: &iterator)
    case .fileDescriptor: return false
    case .bytes(let bytes):
      return unsafe within("a", "y", of: &iterator) { inner in
        // libdbus copies the bytes.
        unsafe bytes.withUnsafeBufferPointer { buffer in
          guard var start = buffer.baseAddress, !buffer.isEmpty else { return true }
          return unsafe dbus.message_iter_append_fixed_array(
            &inner, Int32(UInt8(ascii: "y")), &start, Int32(buffer.count)) != 0
        }
      }
    case .array(let element, let values):
      return unsafe within("a", element, of: &iterator) { inner in
        values.allSatisfy { unsafe append($0, to: &inner) }
      }
    case .dictionary(let key, let type, let entries):
      return unsafe within("a", "{\(key)\(type)}", of: &iterator) { inner in
        entries.allSatisfy { entry in
          unsafe within("e", nil, of: &inner) { pair in
            unsafe append(entry.key, to: &pair) && append(entry.value, to: &pair)
          }
        }
      }
    case .structure(let values):
      return unsafe within("r", nil, of: &iterator) { inner in
        values.allSatisfy { unsafe append($0, to: &inner) }
      }
    case .variant(let value):
      return unsafe within("v", value.typeSignature, of: &iterator) { inner in
        unsafe append(value, to: &inner)
      }
    }
  }

  private static func append<Value: BitwiseCopyable>(
    _ value: Value, _ type: Unicode.Scalar, to iterator: inout DBusMessageIter
  ) -> Bool {
    var value = value
    return unsafe dbus.message_iter_append_basic(&iterator, Int32(type.value), &value) != 0
  }

  private static func append(
    text: String, _ type: Unicode.Scalar, to iterator: inout DBusMessageIter
  ) -> Bool {
    // libdbus copies the text.
    unsafe text.withCString { start in
      var start = unsafe start
      return unsafe dbus.message_iter_append_basic(&iterator, Int32(type.value), &start) != 0
    }
  }

  /// Fills a container. If that fails, the container and the message are abandoned.
  private static func within(
    _ type: Unicode.Scalar, _ contained: String?, of iterator: inout DBusMessageIter,
    _ fill: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    var inner = unsafe DBusMessageIter()
    guard
      unsafe dbus.message_iter_open_container(
        &iterator, Int32(type.value), contained, &inner) != 0
    else { return false }
    guard unsafe fill(&inner) else {
      unsafe dbus.message_iter_abandon_container(&iterator, &inner)
      return false
    }
    return unsafe dbus.message_iter_close_container(&iterator, &inner) != 0
  }
}

extension BusMessage {
  /// Throws ``BusError/invalid(reason:)`` if D-Bus does not permit the message.
  func check() throws(BusError) {
    try DBusLibrary.check()
    try unsafe Self.check(sender, "bus name", dbus.validate_bus_name)
    try unsafe Self.check(destination, "bus name", dbus.validate_bus_name)
    try unsafe Self.check(path, "object path", dbus.validate_path)
    try unsafe Self.check(interface, "interface", dbus.validate_interface)
    try unsafe Self.check(member, "member", dbus.validate_member)
    try unsafe Self.check(errorName, "error name", dbus.validate_error_name)
    guard interface != "org.freedesktop.DBus.Local", path != "/org/freedesktop/DBus/Local" else {
      throw .invalid(reason: "the interface and the path of a connection's own messages")
    }
    let isComplete =
      switch kind {
      case .call: path != nil && member != nil
      case .signal: path != nil && interface != nil && member != nil
      case .reply: replySerial != 0
      case .error: replySerial != 0 && errorName != nil
      }
    guard isComplete else { throw .invalid(reason: "a message of kind \(kind) lacks a part") }
    for value in body { try value.check(depth: 0) }
    try BusValue.check(signature: body.map(\.typeSignature).joined())
  }

  fileprivate static func check(
    _ text: String?, _ what: String,
    _ isValid: (
      @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<DBusError>?) -> UInt32
    )?
  ) throws(BusError) {
    guard let text else { return }
    // The text outlives the call, which does not keep it.
    guard !text.utf8.contains(0), let isValid = unsafe isValid, unsafe isValid(text, nil) != 0
    else {
      throw .invalid(reason: "'\(text)' is no valid \(what)")
    }
  }
}

extension BusValue {
  /// Throws ``BusError/invalid(reason:)`` if D-Bus does not permit the value.
  fileprivate func check(depth: Int) throws(BusError) {
    guard depth <= WireMessage.maximumDepth else {
      throw .invalid(reason: "values that are more than \(WireMessage.maximumDepth) deep")
    }
    switch self {
    case .string(let text):
      guard !text.utf8.contains(0), unsafe dbus.validate_utf8(text, nil) != 0 else {
        throw .invalid(reason: "a string that holds a zero byte")
      }
    case .objectPath(let text):
      try unsafe BusMessage.check(text, "object path", dbus.validate_path)
    case .signature(let text): try Self.check(signature: text)
    case .fileDescriptor: throw .invalid(reason: "file descriptors are not sent")
    case .array(let element, let values):
      try Self.check(signature: element, isSingle: true)
      for value in values { try value.check(element, depth: depth + 1) }
    case .dictionary(let key, let type, let entries):
      guard key.utf8.count == 1 else { throw .invalid(reason: "'\(key)' is no type of a key") }
      try Self.check(signature: typeSignature, isSingle: true)
      for entry in entries {
        try entry.key.check(key, depth: depth + 2)
        try entry.value.check(type, depth: depth + 2)
      }
    case .structure(let values):
      guard !values.isEmpty else { throw .invalid(reason: "a structure without members") }
      for value in values { try value.check(depth: depth + 1) }
    case .variant(let value):
      try value.check(depth: depth + 1)
      try Self.check(signature: value.typeSignature, isSingle: true)
    default: break
    }
  }

  private func check(_ type: String, depth: Int) throws(BusError) {
    guard typeSignature == type else {
      throw .invalid(reason: "a value of type '\(typeSignature)' among those of '\(type)'")
    }
    try check(depth: depth)
  }

  fileprivate static func check(signature: String, isSingle: Bool = false) throws(BusError) {
    // The text outlives the calls, which do not keep it.
    let isValid =
      unsafe isSingle
      ? dbus.signature_validate_single(signature, nil) : dbus.signature_validate(signature, nil)
    guard !signature.utf8.contains(0), isValid != 0 else {
      throw .invalid(reason: "'\(signature)' is no valid signature")
    }
  }
}
