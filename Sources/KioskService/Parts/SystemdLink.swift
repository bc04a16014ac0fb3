import Glibc
import Storage
import SystemPackage

/// The protocol between systemd and a service (sd_notify(3), sd_listen_fds(3)).
package enum SystemdLink {
  /// The sockets that systemd passes for HTTP.
  package static var inheritedSockets: [CInt] {
    inherited.filter { $0.name != appsName }.map(\.descriptor)
  }

  /// The sockets that systemd passes for apps: those with `FileDescriptorName=apps`.
  package static var inheritedAppSockets: [CInt] {
    inherited.filter { $0.name == appsName }.map(\.descriptor)
  }

  private static let appsName: Substring = "apps"

  private static var inherited: [(descriptor: CInt, name: Substring?)] {
    guard let process = StatePath.environmentVariable("LISTEN_PID").flatMap({ Int32($0) }),
      process == getpid(),
      let count = StatePath.environmentVariable("LISTEN_FDS").flatMap({ Int32($0) }),
      (1...64).contains(count)
    else { return [] }
    let names =
      StatePath.environmentVariable("LISTEN_FDNAMES")?
      .split(separator: ":", omittingEmptySubsequences: false) ?? []
    return (0..<count).map { index in
      // Child processes must not inherit it.
      _ = fcntl(3 + index, F_SETFD, FD_CLOEXEC)
      return (3 + index, Int(index) < names.count ? names[Int(index)] : nil)
    }
  }

  /// The watchdog's timeout in seconds, or `nil` if systemd has none for this process.
  static var watchdogInterval: Double? {
    if let process = StatePath.environmentVariable("WATCHDOG_PID").flatMap({ Int32($0) }),
      process != getpid()
    {
      return nil
    }
    return StatePath.environmentVariable("WATCHDOG_USEC").flatMap { Double($0) }.map { $0 / 1e6 }
  }

  static func notify(_ message: String) {
    guard let path = StatePath.environmentVariable("NOTIFY_SOCKET"),
      path.hasPrefix("/") || path.hasPrefix("@")
    else { return }
    var name = Array(path.utf8)
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard name.count < capacity else { return }
    // The name is shorter than the field.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bytes = Array(message.utf8)
    // The address and the bytes outlive the call.
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bytes.withUnsafeBytes {
          unsafe sendto(
            socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL), address, length)
        }
      }
    }
  }
}
