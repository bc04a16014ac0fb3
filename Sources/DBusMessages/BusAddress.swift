import Glibc

/// A bus to connect to.
package enum BusAddress: Hashable, Sendable {
  /// The system's bus: where `DBUS_SYSTEM_BUS_ADDRESS` leads, or the standard socket.
  case system
  /// The session's bus: where `DBUS_SESSION_BUS_ADDRESS` leads, or the socket in `XDG_RUNTIME_DIR`.
  case session
  /// An address as D-Bus writes it, such as `unix:path=/run/dbus/system_bus_socket`.
  case address(String)

  /// The address as D-Bus writes it.
  package var text: String {
    switch self {
    case .system:
      variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
    case .session:
      variable("DBUS_SESSION_BUS_ADDRESS")
        ?? "unix:path=\(variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())")/bus"
    case .address(let text): text
    }
  }

  /// Returns a variable of the environment, unless the process has another user's rights, as libdbus does.
  private func variable(_ name: String) -> String? {
    // The text is copied at once.
    guard getuid() == geteuid(), getgid() == getegid(), let text = unsafe getenv(name) else {
      return nil
    }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}
