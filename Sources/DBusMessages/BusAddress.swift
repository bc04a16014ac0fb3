import Glibc

package enum BusAddress: Hashable, Sendable {
  /// The system bus: the address in `DBUS_SYSTEM_BUS_ADDRESS`, or the standard socket.
  case system
  /// The session bus: `DBUS_SESSION_BUS_ADDRESS`, or the socket in `XDG_RUNTIME_DIR`.
  case session
  /// A D-Bus address, such as `unix:path=/run/dbus/system_bus_socket`.
  case address(String)

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

  /// Returns an environment variable, unless the process has another user's rights, as in libdbus.
  private func variable(_ name: String) -> String? {
    // The text is copied at once.
    guard getuid() == geteuid(), getgid() == getegid(), let text = unsafe getenv(name) else {
      return nil
    }
    let value = unsafe String(cString: text)
    return value.isEmpty ? nil : value
  }
}
