import Glibc
import Sources

extension Doctor {
  static func kernel(_ host: HostView) -> Finding {
    // Without raw HCI sockets, only bluetoothd needs it.
    let isNeeded = host.socketError == EAFNOSUPPORT || !host.hasRawHCI && host.bluez != nil
    guard isNeeded, !host.hasBluetooth else {
      return Finding(.kernel, .ok, "the kernel has Bluetooth")
    }
    func lack(_ reason: String, command: String?) -> Finding {
      Finding(.kernel, .error, "the kernel (Linux \(host.release)) \(reason)", command: command)
    }
    if host.isContainer {
      return lack(
        "has no Bluetooth; load its module on the host, outside", command: "sudo modprobe bluetooth"
      )
    }
    if host.hasModule {
      return lack(
        "has not loaded its module of Bluetooth", command: host.asRoot("modprobe bluetooth"))
    }
    // Of Debian's kernels, only those for clouds have no Bluetooth.
    return lack(
      "was built without Bluetooth; start one that has it, such as the distribution's own",
      command: newKernel(host))
  }

  static func network(_ host: HostView) -> Finding? {
    guard host.socketError != 0 else {
      return Finding(.network, .ok, "Bluetooth sockets can be opened")
    }
    guard host.hasRawHCI else {
      return Finding(.network, host.bluez == nil ? .error : .info, "\(HCISocketError.notBuiltIn)")
    }
    guard host.hasBluetooth else { return nil }
    let isFilter =
      host.socketError != EAFNOSUPPORT || host.hasHostNetwork == true
      || host.rights.isFiltered && !host.isContainer && host.hasHostNetwork == nil
    if isFilter {
      return Finding(
        .network, .error,
        "this process may not open Bluetooth sockets: a filter of system calls forbids it; in a "
          + "systemd unit, RestrictAddressFamilies= must have AF_BLUETOOTH")
    }
    let why = "Bluetooth is in the host's network alone, and this process has another one"
    return host.isContainer
      ? Finding(
        .network, .error, "\(why); start the container with the host's",
        command: "docker run --network host --cap-add NET_RAW IMAGE")
      : Finding(
        .network, .error, why,
        command: host.asRoot("nsenter --target 1 --net -- \(quoted(host.program.path)) doctor"))
  }

  /// Checks for Linux 4.19, the first that scans with the commands of Bluetooth 5. Earlier ones
  /// leave the events of such a scan off, and use commands that a controller refuses alongside it.
  static func kernelVersion(_ host: HostView) -> Finding? {
    let numbers = host.release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    guard numbers.count == 2 else { return nil }
    guard (numbers[0], numbers[1]) < (4, 19) else {
      return Finding(.kernelVersion, .ok, "Linux \(host.release) is new enough")
    }
    let isHit = host.radios.contains { $0.report.hasExtendedScan == true }
    return Finding(
      .kernelVersion, isHit ? .error : .warning,
      "Linux \(host.release) passes on nothing of what an adapter of Bluetooth 5 receives; 4.19 is "
        + "the first that does",
      command: newKernel(host))
  }

  static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      byte >= 0x80 || byte >= 0x2B && byte <= 0x3A || byte == UInt8(ascii: "_")
        || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
    }
    if isPlain { return path }
    return "'"
      + path.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''") + "'"
  }

  /// Returns the command that installs Debian's newest kernel; `nil` on other systems.
  private static func newKernel(_ host: HostView) -> String? {
    #if arch(arm64)
      let architecture = "arm64"
    #elseif arch(arm)
      let architecture = "armmp"
    #else
      let architecture = "amd64"
    #endif
    return host.installing("linux-image-\(architecture)")
  }
}
