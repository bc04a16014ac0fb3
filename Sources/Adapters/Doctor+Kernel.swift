import Glibc

extension Doctor {
  /// Whether the kernel has Bluetooth, or could load it.
  @Sendable static func kernel(_ host: HostView) -> [Finding] {
    guard host.socketError == EAFNOSUPPORT, !host.hasBluetooth else {
      return [Finding(.kernel, .ok, "the kernel has Bluetooth")]
    }
    let name = "the kernel (Linux \(host.release))"
    if host.isContainer {
      return [
        Finding(
          .kernel, .error, "\(name) has no Bluetooth; load its module on the host, outside",
          command: "sudo modprobe bluetooth")
      ]
    }
    if host.hasModule {
      return [
        Finding(
          .kernel, .error, "\(name) has not loaded its module of Bluetooth",
          command: host.asRoot("modprobe bluetooth"))
      ]
    }
    // Debian's kernels for clouds have no Bluetooth; its others have.
    let other = host.asRoot("apt-get install linux-image-\(architecture)")
    return [
      Finding(
        .kernel, .error,
        "\(name) was built without Bluetooth; start one that has it, such as the distribution's own",
        command: host.tools.contains("apt-get") ? other : nil)
    ]
  }

  /// Whether a Bluetooth socket can be opened where the kernel has Bluetooth.
  @Sendable static func network(_ host: HostView) -> [Finding] {
    guard host.socketError != 0 else {
      return [Finding(.network, .ok, "Bluetooth sockets can be opened")]
    }
    guard host.hasBluetooth else { return [] }
    let isFilter =
      host.socketError != EAFNOSUPPORT || host.hasHostNetwork == true
      || host.rights.isFiltered && !host.isContainer && host.hasHostNetwork == nil
    if isFilter {
      return [
        Finding(
          .network, .error,
          "this process may not open Bluetooth sockets: a filter of system calls forbids it; in a "
            + "systemd unit, RestrictAddressFamilies= must have AF_BLUETOOTH")
      ]
    }
    let why = "Bluetooth is in the host's network alone, and this process has another one"
    return [
      host.isContainer
        ? Finding(
          .network, .error, "\(why); start the container with the host's",
          command: "docker run --network host --cap-add NET_RAW IMAGE")
        : Finding(
          .network, .error, why,
          command: host.asRoot("nsenter --target 1 --net -- \(quoted(host.program.path)) doctor"))
    ]
  }

  /// Whether the kernel is new enough.
  ///
  /// Linux 4.19 is the first that scans with the commands of Bluetooth 5. Those before leave the events of
  /// such a scan switched off, and use commands themselves that a controller refuses beside it.
  @Sendable static func kernelVersion(_ host: HostView) -> [Finding] {
    let numbers = host.release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    guard numbers.count == 2 else { return [] }
    guard (numbers[0], numbers[1]) < (4, 19) else {
      return [Finding(.kernelVersion, .ok, "Linux \(host.release) is new enough")]
    }
    let isHit = host.radios.contains { $0.report.hasExtendedScan == true }
    let upgrade = host.asRoot("apt-get install linux-image-\(architecture)")
    return [
      Finding(
        .kernelVersion, isHit ? .error : .warning,
        "Linux \(host.release) passes on nothing of what an adapter of Bluetooth 5 receives; 4.19 is "
          + "the first that does",
        command: host.tools.contains("apt-get") ? upgrade : nil)
    ]
  }

  /// A path as a shell takes it.
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

  /// The processor, by Debian's name.
  private static var architecture: String {
    #if arch(arm64)
      "arm64"
    #elseif arch(arm)
      "armmp"
    #else
      "amd64"
    #endif
  }
}
