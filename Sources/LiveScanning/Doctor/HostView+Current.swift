import Glibc
import Sources

extension HostView {
  /// Returns this host's current state. Each controller that does not answer takes some seconds.
  package static func current() -> HostView {
    var host = HostView(rights: .current(), program: .current())
    host.release = release
    do throws(HCISocketError) {
      host.radios = try Adapter.all().map { .look(at: $0, triesScan: host.rights.mayScan) }
    } catch {
      host.socketError = error.errno
    }
    // Checked after the socket, because opening it makes the kernel load the module.
    host.hasBluetooth = exists("/sys/module/bluetooth")
    let modules = "/lib/modules/\(host.release)"
    host.hasModule = !names(in: "\(modules)/kernel/net/bluetooth").isEmpty
    host.isContainer = isContainer
    host.hasHostNetwork = hasHostNetwork(isContainer: host.isContainer)
    host.idleDevices = idleDevices()
    host.programs = .current()
    host.hasSystemd = exists("/run/systemd/system")
    if exists(podmanMark) { host.engine = "podman" }
    host.flatpak = text(of: "/.flatpak-info")?.split(separator: "\n")
      .first { $0.hasPrefix("name=") }.map { String($0.dropFirst("name=".count)) }
    // The entry is copied before another call could replace it.
    if let entry = unsafe getpwuid(getuid()) {
      host.user = unsafe String(cString: entry.pointee.pw_name)
    }
    host.tools = Set(toolNames.filter(isInstalled))
    return host
  }

  private static var release: String {
    var name = utsname()
    // The structure outlives the call, which ends each text with a zero.
    guard unsafe uname(&name) == 0 else { return "" }
    return unsafe withUnsafeBytes(of: &name.release) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Whether Docker or Podman left a mark, or this is not the first process namespace.
  private static var isContainer: Bool {
    exists("/.dockerenv") || exists(podmanMark)
      || linkTarget(of: "/proc/self/ns/pid").map { $0 != "pid:[4026531836]" } ?? false
  }

  private static let podmanMark = "/run/.containerenv"

  // In a container, the first process may be in the container's own network.
  private static func hasHostNetwork(isContainer: Bool) -> Bool? {
    guard let own = linkTarget(of: "/proc/self/ns/net"),
      let first = linkTarget(of: "/proc/1/ns/net")
    else { return nil }
    guard own == first else { return false }
    return isContainer ? nil : true
  }

  /// Returns the USB interfaces of Bluetooth's class (wireless, RF, Bluetooth) without a driver.
  static func idleDevices(in folder: String = "/sys/bus/usb/devices") -> [String] {
    names(in: folder).filter { name in
      let path = "\(folder)/\(name)"
      return firstLine(of: "\(path)/bInterfaceClass") == "e0"
        && firstLine(of: "\(path)/bInterfaceSubClass") == "01"
        && firstLine(of: "\(path)/bInterfaceProtocol") == "01"
        // The second interface, for audio, belongs to the first.
        && name.hasSuffix(".0") && !exists("\(path)/driver")
    }
  }

  private static func isInstalled(_ tool: String) -> Bool {
    // The environment is read before anything could change it.
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    let folders =
      path.split(separator: ":").map(String.init)
      + ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/libexec/bluetooth"]
    return folders.contains { unsafe access("\($0)/\(tool)", X_OK) == 0 }
  }
}
