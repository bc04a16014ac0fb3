package enum BusError: Error, Hashable, Sendable, CustomStringConvertible {
  case unavailable(address: String, reason: String)
  /// The policy of the bus or the service does not permit the connection or the call.
  case notPermitted(reason: String)
  /// The connection has ended for good.
  case disconnected
  case timedOut(member: String)
  /// A call was answered with an error.
  case failed(name: String, message: String)
  /// A value that a message cannot hold, an unreadable message, an invalid address, or no libdbus.
  case invalid(reason: String)
  /// The bus does not read: this number of bytes is unsent.
  case congested(bytes: Int)

  package enum Name {
    package static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    package static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
    package static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    package static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
    package static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    package static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
    package static let noReply = "org.freedesktop.DBus.Error.NoReply"
    package static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
  }

  init(name: String, message: String) {
    self =
      name == Name.accessDenied
      ? .notPermitted(reason: message) : .failed(name: name, message: message)
  }

  /// The name of the error in the answer; `nil` if the error is not an answer.
  package var name: String? {
    switch self {
    case .failed(let name, _): name
    case .notPermitted: Name.accessDenied
    default: nil
    }
  }

  package var description: String {
    switch self {
    case .unavailable(let address, let reason):
      "no D-Bus bus answers at '\(address)': \(reason)"
    case .notPermitted(let reason): "D-Bus does not permit it: \(reason)"
    case .disconnected: "the connection to D-Bus has ended"
    case .timedOut(let member): "D-Bus: no reply to \(member) came in time"
    case .failed(let name, let message): "D-Bus: \(name): \(message)"
    case .invalid(let reason): "D-Bus: \(reason)"
    case .congested(let bytes): "the D-Bus bus does not read: \(bytes) bytes wait to be sent"
    }
  }
}
