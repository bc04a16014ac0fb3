import Sources

extension Doctor {
  static func service(_ host: HostView) -> [Finding] {
    guard let bluez = host.bluez else { return [] }
    let bus = Finding(.bus, .ok, "the system's message bus can be reached")
    switch bluez.obstacle {
    case .noBus(let reason): return [busAbsent(reason, host)]
    case .refused(let reason): return [bus, refused(reason, host)]
    case .notRunning: return [bus, notRunning(host)]
    case .notAnswering: return [bus, restart("bluetoothd does not answer", host)]
    case .tooLong: return [bus, restart("bluetoothd lists more devices than are read", host)]
    case nil: break
    }
    let policy = Finding(.policy, .ok, "the bus lets this user talk to bluetoothd")
    guard !bluez.adapters.isEmpty || host.radios.isEmpty else {
      return [bus, policy, restart("bluetoothd runs, but shows no adapter", host)]
    }
    return [bus, policy, Finding(.bluetoothd, .ok, "bluetoothd runs")]
  }

  static func monitors(_ host: HostView) -> [Finding] {
    (host.bluez?.adapters ?? []).map { view in
      let name = view.adapter.name
      guard !view.hasMonitors else {
        return Finding(
          .monitors, .ok, adapter: name, "bluetoothd has advertisement monitors for it")
      }
      let edit = "sed -i 's/^#*Experimental *=.*/Experimental = true/' /etc/bluetooth/main.conf"
      return Finding(
        .monitors, .warning, adapter: name,
        "bluetoothd has no advertisement monitors for it, and without them reports each beacon "
          + "about once in 10 s; switch on its experimental interfaces\(host.place)",
        command: host.outside(edit) + " && " + host.manage("bluetooth", "restart"))
    }
  }

  private static func restart(_ reason: String, _ host: HostView) -> Finding {
    Finding(
      .bluetoothd, .error, "\(reason)\(host.place)", command: host.manage("bluetooth", "restart"))
  }

  private static func busAbsent(_ reason: String, _ host: HostView) -> Finding {
    if let sandbox = flatpak(.bus, host) { return sandbox }
    if host.isContainer {
      return Finding(
        .bus, .error,
        "this container does not have the host's message bus (\(reason)); mount /run/dbus, or only "
          + "the socket /run/dbus/system_bus_socket, which a restart of the bus replaces",
        command: "\(host.engine) run \(mount) IMAGE")
    }
    let isInstalled = !host.tools.isDisjoint(with: ["dbus-daemon", "dbus-broker"])
    return Finding(
      .bus, .error, "the system's message bus does not run (\(reason))",
      command: (isInstalled ? nil : host.installing("dbus")) ?? host.manage("dbus", "start"))
  }

  private static func refused(_ reason: String, _ host: HostView) -> Finding {
    func run(_ option: String) -> String { "\(host.engine) run \(option) \(mount) IMAGE" }
    guard host.rights.hasHostUser else {
      return Finding(
        .policy, .error,
        "the bus does not accept this user, who has another number here than on the host "
          + "(\(reason)); start the container with the host's number",
        command: run(host.engine == "podman" ? "--userns keep-id" : "--userns host"))
    }
    if reason.contains("AppArmor") {
      return Finding(
        .policy, .error, "an AppArmor profile keeps this process from bluetoothd (\(reason))",
        command: host.isContainer ? run("--security-opt apparmor=unconfined") : nil)
    }
    let message =
      "the bus's policy does not let this user talk to bluetoothd (\(reason)); let the user join "
      + "the group bluetooth"
    guard !host.isContainer else {
      return Finding(
        .policy, .error, message,
        command: run("--group-add \"$(getent group bluetooth | cut -d: -f3)\""))
    }
    return Finding(
      .policy, .error, "\(message), and log in again",
      command: host.asRoot("usermod -aG bluetooth \(host.user)"))
  }

  private static func notRunning(_ host: HostView) -> Finding {
    if let sandbox = flatpak(.bluetoothd, host) { return sandbox }
    let isInstalled = host.isContainer || host.tools.contains("bluetoothd")
    return Finding(
      .bluetoothd, .error, "bluetoothd does not run\(host.place)",
      command: isInstalled
        ? host.manage("bluetooth", "start") : host.installing("bluez"))
  }

  /// Returns the permission that a Flatpak app needs: its bus hides names that it may not talk to.
  private static func flatpak(_ subject: Finding.Subject, _ host: HostView) -> Finding? {
    host.flatpak.map { app in
      Finding(
        subject, .error,
        "this Flatpak app sees no bluetoothd: it does not run, or the app may not talk to org.bluez",
        command: "flatpak override --user --system-talk-name=org.bluez \(app)")
    }
  }

  private static let mount = "-v /run/dbus:/run/dbus"
}

extension HostView {
  /// The place to run a command for the host, to append to a message.
  var place: String { isContainer ? "; on the host, outside" : "" }

  func outside(_ command: String) -> String { isContainer ? "sudo \(command)" : asRoot(command) }

  func manage(_ service: String, _ verb: String) -> String {
    guard hasSystemd || isContainer else { return asRoot("service \(service) \(verb)") }
    return outside(
      "systemctl \(verb == "start" && service == "bluetooth" ? "enable --now" : verb) \(service)")
  }
}
