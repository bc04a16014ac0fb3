import HCIPackets
import Sources

extension Doctor {
  static func adapters(_ host: HostView) -> [Finding] {
    guard host.socketError == 0 || host.bluez != nil && host.bluez?.obstacle == nil else {
      return []
    }
    let found = host.adapters
    let idle = host.idleDevices.map { device in
      Finding(
        .adapter, found.isEmpty ? .error : .warning,
        "no driver has taken the USB adapter \(device)\(host.place)",
        command: host.outside("modprobe btusb"))
    }
    guard found.isEmpty else {
      return found.map { adapter in
        let address = adapter.address.map { "\($0)" } ?? "without an address"
        let bus = adapter.bus.isEmpty ? "" : ", \(adapter.bus)"
        return Finding(.adapter, .ok, adapter: adapter.name, "it is there: \(address)\(bus)")
      } + idle
    }
    guard idle.isEmpty else { return idle }
    return [
      Finding(
        .adapter, .error,
        "there is no adapter; plug one in, or see why the kernel did not take the one that is there"
          + host.place,
        command: host.outside("dmesg | grep -i -e bluetooth -e firmware"))
    ]
  }

  static func blocks(_ host: HostView) -> [Finding] {
    host.adapters.map { adapter in
      let name = adapter.name
      switch adapter.block {
      case .hard:
        return Finding(
          .rfkill, .error, adapter: name,
          "it is blocked by a switch or a key of this machine, or in its firmware's settings; "
            + "no command can change that")
      case .soft:
        let entry = "/sys/class/bluetooth/\(name)/rfkill*/soft"
        let command =
          host.isContainer || host.tools.contains("rfkill")
          ? host.outside("rfkill unblock bluetooth")
          : host.rights.isRoot ? "echo 0 > \(entry)" : "echo 0 | sudo tee \(entry)"
        return Finding(
          .rfkill, .error, adapter: name, "rfkill blocks it\(host.place)", command: command)
      case nil: return Finding(.rfkill, .ok, adapter: name, "nothing blocks it")
      }
    }
  }

  static func holders(_ host: HostView) -> [Finding] {
    host.radios.filter(\.isHeld).map { radio in
      let (programs, command) = socketUsers(host)
      return Finding(
        .held, .error, adapter: radio.adapter.name,
        "a program has it for itself (HCI user channel); with HCI sockets there are: \(programs)",
        command: command)
    }
  }

  static func power(_ host: HostView) -> [Finding] {
    let held = host.radios.filter(\.isHeld).map(\.adapter)
    return host.adapters.filter { !held.contains($0) }.map { adapter in
      let name = adapter.name
      return adapter.isUp
        ? Finding(.power, .ok, adapter: name, "it is switched on")
        : Finding(
          .power, .error, adapter: name, "it is switched off\(host.place)",
          command: powerOn(name, host))
    }
  }

  static func powerOn(_ adapter: String, _ host: HostView) -> String? {
    // bluetoothd does it for every user, but with several adapters only in a dialog.
    if let bluez = host.bluez, bluez.obstacle == nil, host.adapters.count == 1,
      host.isContainer || host.tools.contains("bluetoothctl")
    {
      return "bluetoothctl power on"
    }
    let btmgmt = host.outside("btmgmt --index \(adapter.dropFirst(3)) power on")
    if host.isContainer || host.tools.contains("btmgmt") { return btmgmt }
    if host.tools.contains("hciconfig") { return host.asRoot("hciconfig \(adapter) up") }
    return host.installing("bluez").map { "\($0) && \(btmgmt)" }
  }

  static func answers(_ host: HostView) -> [Finding] {
    host.usableRadios.compactMap { radio in
      let name = radio.adapter.name
      switch radio.report.failure {
      case .unanswered, .refused, .cutShort:
        let restart =
          radio.adapter.bus == "USB"
          ? radio.driver.map { driver in
            host.asRoot("modprobe -r \(driver) && ") + host.asRoot("modprobe \(driver)")
          } : host.asRoot("hciconfig \(name) reset")
        return Finding(
          .answer, .error, adapter: name,
          "its controller does not answer as it should; if this does not help, unplug it",
          command: restart)
      case .socket, nil:
        guard radio.report.version != nil else { return nil }
        return Finding(.answer, .ok, adapter: name, "its controller answers")
      }
    }
  }

  static func lowEnergy(_ host: HostView) -> [Finding] {
    // The kernel does not know this of an adapter that was never on.
    host.usableRadios.map { radio in
      let name = radio.adapter.name
      guard radio.adapter.supportsLE else {
        return Finding(
          .lowEnergy, .error, adapter: name,
          "it has no Bluetooth Low Energy, and beacons have nothing else; use another adapter")
      }
      let extras = radio.report.features?.names.joined(separator: ", ") ?? ""
      return Finding(
        .lowEnergy, .ok, adapter: name,
        "it has Bluetooth Low Energy" + (extras.isEmpty ? "" : ": \(extras)"))
    }
  }
}
