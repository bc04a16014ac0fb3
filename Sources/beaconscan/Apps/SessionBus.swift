import FoundationEssentials
import Sources

/// The message bus of the user's session.
enum SessionBus {
  static func address() throws(CommandError) -> String {
    let environment = ProcessInfo.processInfo.environment
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"] { return address }
    guard let folder = environment["XDG_RUNTIME_DIR"] else {
      throw CommandError(
        .unavailable,
        "there is no session: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set; log in, "
          + "or start it as a unit of the user")
    }
    return "unix:path=\(folder)/bus"
  }
}
