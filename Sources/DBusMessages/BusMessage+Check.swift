import CDBus

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
    // The limit is that of a receiving connection by default, less room for the header.
    var budget = BusLimits().messageBytes - 65_536
    for value in body { try value.check(depth: 0, &budget) }
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
  /// Throws ``BusError/invalid(reason:)`` if D-Bus does not permit the value. The budget is the
  /// number of bytes left in the message; the value may take fewer than are counted.
  fileprivate func check(depth: Int, _ budget: inout Int) throws(BusError) {
    guard depth <= WireMessage.maximumDepth else {
      throw .invalid(reason: "values that are more than \(WireMessage.maximumDepth) deep")
    }
    budget -= 16
    switch self {
    case .string(let text):
      budget -= text.utf8.count
      guard !text.utf8.contains(0), unsafe dbus.validate_utf8(text, nil) != 0 else {
        throw .invalid(reason: "a string that holds a zero byte")
      }
    case .objectPath(let text):
      budget -= text.utf8.count
      try unsafe BusMessage.check(text, "object path", dbus.validate_path)
    case .signature(let text): try Self.check(signature: text)
    case .fileDescriptor: throw .invalid(reason: "file descriptors are not sent")
    case .bytes(let bytes): budget -= bytes.count
    case .array(let element, let values):
      try Self.check(signature: element, isSingle: true)
      for value in values { try value.check(element, depth: depth + 1, &budget) }
    case .dictionary(let key, let type, let entries):
      guard key.utf8.count == 1 else { throw .invalid(reason: "'\(key)' is no type of a key") }
      try Self.check(signature: typeSignature, isSingle: true)
      for entry in entries {
        try entry.key.check(key, depth: depth + 2, &budget)
        try entry.value.check(type, depth: depth + 2, &budget)
      }
    case .structure(let values):
      guard !values.isEmpty else { throw .invalid(reason: "a structure without members") }
      for value in values { try value.check(depth: depth + 1, &budget) }
    case .variant(let value):
      try value.check(depth: depth + 1, &budget)
      try Self.check(signature: value.typeSignature, isSingle: true)
    default: break
    }
    guard budget >= 0 else { throw .invalid(reason: "a message that is too long") }
  }

  private func check(_ type: String, depth: Int, _ budget: inout Int) throws(BusError) {
    guard typeSignature == type else {
      throw .invalid(reason: "a value of type '\(typeSignature)' among those of '\(type)'")
    }
    try check(depth: depth, &budget)
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
