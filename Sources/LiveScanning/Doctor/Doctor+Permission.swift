import HCIPackets
package import Sources

extension Doctor {
  /// Checks whether this process may use raw HCI sockets: ok, or an error with its fix.
  package static func permission() -> Finding {
    permission(HostView(rights: .current(), program: .current(), tools: ["setcap"]))
  }

  static func permission(_ host: HostView) -> Finding {
    let rights = host.rights
    let program = host.program
    if rights.mayScan {
      return Finding(.permission, .ok, "this process may use raw HCI sockets (CAP_NET_RAW)")
    }
    func refusal(_ reason: String, command: String? = nil) -> Finding {
      Finding(
        .permission, .error, "this process may not use raw HCI sockets\(reason)", command: command)
    }
    guard rights.isOnHost else {
      return refusal(
        ": its rights hold in a namespace of users alone, as in a container without root; start "
          + "the container as root",
        command: "sudo podman run --network host --cap-add NET_RAW IMAGE")
    }
    guard rights.bounding & ProcessRights.netRaw != 0 else {
      return refusal(
        ", nor be given the right: it was started without CAP_NET_RAW; in a systemd unit, "
          + "CapabilityBoundingSet= must have it",
        command: "docker run --network host --cap-add NET_RAW IMAGE")
    }
    if rights.hasNoNewPrivileges {
      return refusal(
        ", and is given no rights of its file: it was started with no_new_privs; in a systemd "
          + "unit, use AmbientCapabilities=CAP_NET_RAW")
    }
    let install = host.tools.contains("setcap") ? nil : host.installing("libcap2-bin")
    let setcap = (install.map { "\($0) && " } ?? "") + host.asRoot("setcap")
    if program.isIgnored || !program.canHaveCapabilities {
      let why =
        program.canHaveCapabilities
        ? "is mounted with nosuid, so that it gives no rights" : "cannot keep the rights of a file"
      let place = "/usr/local/bin/beaconscan"
      return refusal(
        ", and the file system of \(program.path) \(why); install it elsewhere",
        command: host.asRoot("install -D -m 755 \(quoted(program.path)) \(place)")
          + " && \(setcap) cap_net_raw+ep \(place)")
    }
    let why =
      program.hasCapabilities
      ? "the capabilities of \(program.path) do not have CAP_NET_RAW" : "it has no CAP_NET_RAW"
    return refusal(": \(why)", command: "\(setcap) cap_net_raw+ep \(quoted(program.path))")
  }

  static func scans(_ host: HostView) -> [Finding] {
    guard host.rights.mayScan else { return [] }
    let radios = host.usableRadios.filter { $0.report.failure == nil && $0.adapter.supportsLE }
    return radios.map { radio in
      let name = radio.adapter.name
      switch radio.scanFailure {
      case nil: return Finding(.scan, .ok, adapter: name, "it takes scan parameters")
      case .refused(_, CommandResult.commandDisallowed, _) where host.programs.isEmpty:
        return Finding(
          .scan, .warning, adapter: name,
          "it scans already, though no program has an HCI socket: a program that ended left its scan "
            + "on; the next scan takes it back and ends it",
          command: "\(quoted(host.program.path)) scan --adapter \(name) --duration 2")
      case .refused(_, CommandResult.commandDisallowed, _):
        let (programs, command) = socketUsers(host)
        return Finding(
          .scan, .warning, adapter: name,
          "it scans already for another program, which may have it report each advert once; "
            + "with HCI sockets there are: \(programs)",
          command: command)
      case let failure?:
        return Finding(
          .scan, .error, adapter: name, "it takes no scan parameters: \(failure)",
          command: host.asRoot("hciconfig \(name) reset"))
      }
    }
  }

  /// Returns the programs with HCI sockets, and the command that ends one or shows more of them.
  static func socketUsers(_ host: HostView) -> (programs: String, command: String?) {
    let programs = host.programs.isEmpty ? "none that can be seen" : "\(host.programs)"
    // bluetoothd always has sockets, so another program is more likely to use the adapter.
    if let other = host.programs.programs.first(where: { $0.name != "bluetoothd" }) {
      return (programs, host.asRoot("kill \(other.process)"))
    }
    if !host.programs.unseenUsers.isEmpty, !host.rights.isRoot {
      return (programs, "sudo \(quoted(host.program.path)) doctor")
    }
    return (programs, host.manage("bluetooth", "restart"))
  }
}
