import Glibc

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
