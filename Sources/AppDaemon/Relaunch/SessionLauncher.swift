import DBusMessages
import ServiceCore

/// Starts apps in a user's session: units of the user, sandboxes, programs on the session's bus, and
/// other programs in a unit of their own.
package struct SessionLauncher: Sendable {
  private let bus: UnitBus
  private let process: Int32

  /// Creates a launcher with the D-Bus address of the session. Units are named after a process. The
  /// timeout is in nanoseconds.
  package init(bus address: String, process: Int32, timeout: Int64 = 10_000_000_000) {
    bus = UnitBus(.address(address), timeout: timeout)
    self.process = process
  }

  /// The variables of a program that is started for the service at a socket.
  static func environment(_ socket: String) -> [String] {
    ["BEACONSCAN_LAUNCH=region", "BEACONSCAN_SOCKET=\(socket)"]
  }

  /// Starts an app for the service at a socket. Returns the reason why not, or `nil`.
  package func start(_ order: LaunchOrder, for socket: String) -> String? {
    do throws(BusError) {
      if case .busName(let name) = order.launch {
        try bus.startService(name)
      } else if let name = order.app.after("user:") {
        try bus.startUnit(name)
      } else if let name = order.app.after("flatpak:") {
        try bus.startService(name)
      } else if case .program(let path, let arguments, let folder) = order.launch,
        order.app.after("snap:") == nil
      {
        try bus.startProgram(
          path, arguments, in: folder, as: unitName(path, order.id),
          environment: Self.environment(socket))
      } else {
        return "\(order.app) does not state how it is started; set its relaunch to a bus name or "
          + "a file"
      }
    } catch {
      return "\(error)"
    }
    return nil
  }

  /// A name as desktops give (systemd.io/DESKTOP_ENVIRONMENTS), from which no app is identified.
  private func unitName(_ path: String, _ order: UInt64) -> String {
    let program = path.split(separator: "/").last ?? ""
    let name = String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return "app-beaconscan-\(name.prefix(64))-\(process)x\(order).service"
  }
}

extension String {
  fileprivate func after(_ prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
