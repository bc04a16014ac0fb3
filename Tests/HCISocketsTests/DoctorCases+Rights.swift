import Glibc
import HCIPackets
import Sources

@testable import LiveScanning

extension DoctorTests {
  private static func nobody(_ change: (inout HostView) -> Void = { _ in }) -> HostView {
    .with {
      $0.rights = .nobody
      $0.bluez = nil
      change(&$0)
    }
  }

  private static let copied =
    "sudo install -D -m 755 /mnt/beaconscan /usr/local/bin/beaconscan && "
    + "sudo setcap cap_net_raw+ep /usr/local/bin/beaconscan"

  static let rightsCases = [
    Case(
      name: "no capability", host: nobody(), subject: .permission, words: "has no CAP_NET_RAW",
      command: "sudo setcap cap_net_raw+ep /usr/local/bin/beaconscan"),
    Case(
      name: "no setcap", host: nobody { $0.tools = ["apt-get"] }, subject: .permission,
      words: "has no CAP_NET_RAW",
      command: "sudo apt-get install libcap2-bin && sudo setcap cap_net_raw+ep "
        + "/usr/local/bin/beaconscan"),
    Case(
      name: "other capabilities", host: nobody { $0.program.hasCapabilities = true },
      subject: .permission, words: "do not have CAP_NET_RAW",
      command: "sudo setcap cap_net_raw+ep /usr/local/bin/beaconscan"),
    Case(
      name: "nosuid",
      host: nobody { $0.program = ProgramFile(path: "/mnt/beaconscan", isIgnored: true) },
      subject: .permission, words: "nosuid", command: copied),
    Case(
      name: "no attributes",
      host: nobody {
        $0.program = ProgramFile(path: "/mnt/beaconscan", canHaveCapabilities: false)
      }, subject: .permission, words: "cannot keep", command: copied),
    Case(
      name: "no new privileges", host: nobody { $0.rights.hasNoNewPrivileges = true },
      subject: .permission, words: "AmbientCapabilities=CAP_NET_RAW", command: nil),
    Case(
      name: "not in the bounding set", host: nobody { $0.rights.bounding = 0xFF },
      subject: .permission, words: "CapabilityBoundingSet=",
      command: "docker run --network host --cap-add NET_RAW IMAGE"),
    Case(
      name: "a namespace of users",
      host: nobody { $0.rights = ProcessRights(effective: .max, isOnHost: false, isRoot: true) },
      subject: .permission, words: "namespace of users",
      command: "sudo podman run --network host --cap-add NET_RAW IMAGE"),
  ]

  private static func radio(_ change: (inout HostView.Radio) -> Void) -> HostView {
    .with { $0.radios = [.with(0, change)] }
  }

  private static let mute = CommandFailure.unanswered(
    .readLocalVersion, after: .seconds(3), adapter: "hci0")

  private static let refused = CommandFailure.refused(
    .setExtendedScanParameters, status: 0x0C, adapter: "hci0")

  static let scanCases = [
    Case(
      name: "not answering", host: radio { $0.report = ControllerReport(failure: mute) },
      subject: .answer, words: "does not answer",
      command: "sudo modprobe -r btusb && sudo modprobe btusb"),
    Case(
      name: "not answering, on a serial line",
      host: radio {
        $0.adapter.bus = "UART"
        $0.report = ControllerReport(failure: mute)
      }, subject: .answer, words: "does not answer", command: "sudo hciconfig hci0 reset"),
    Case(
      name: "no Low Energy",
      host: radio { $0.adapter.features = [0xFF, 0xFF, 0xFF, 0xFF, 0xBF, 0, 0, 0] },
      subject: .lowEnergy, words: "use another adapter", command: nil),
    Case(
      name: "another program scans",
      host: .with {
        $0.radios = [.with { $0.scanFailure = refused }]
        $0.programs.programs = [HCIProgram(process: 42, name: "hcitool")]
      }, subject: .scan, level: .warning, words: "hcitool (42)", command: "sudo kill 42"),
    Case(
      name: "a program that ended left its scan on",
      host: .with { $0.radios = [.with { $0.scanFailure = refused }] }, subject: .scan,
      level: .warning, words: "no program has an HCI socket",
      command: "/usr/local/bin/beaconscan scan --adapter hci0 --duration 2"),
    Case(
      name: "bluetoothd discovers",
      host: .with {
        $0.radios = [.with { $0.scanFailure = refused }]
        $0.programs.programs = [HCIProgram(process: 7, name: "bluetoothd")]
      }, subject: .scan, level: .warning, words: "bluetoothd (7)",
      command: "sudo systemctl restart bluetooth"),
    Case(
      name: "refuses to scan",
      host: radio {
        $0.scanFailure = .refused(.setScanParameters, status: 0x12, adapter: "hci0")
      }, subject: .scan, level: .warning, words: "invalid parameters",
      command: "sudo hciconfig hci0 reset"),
  ]

  /// A host on which raw HCI sockets can be used, and bluetoothd cannot.
  private static func without(
    _ obstacle: BlueZView.Obstacle, _ change: (inout HostView) -> Void = { _ in }
  ) -> HostView {
    .with {
      $0.bluez = BlueZView(obstacle: obstacle)
      change(&$0)
    }
  }

  /// A container that has neither the host's network nor, in the way that is given, its bluetoothd.
  private static func container(
    _ obstacle: BlueZView.Obstacle?, _ change: (inout HostView) -> Void = { _ in }
  ) -> HostView {
    .with {
      $0.socketError = EAFNOSUPPORT
      $0.radios = []
      $0.isContainer = true
      $0.hasHostNetwork = nil
      $0.rights = .root
      $0.bluez?.obstacle = obstacle
      if obstacle != nil { $0.bluez?.adapters = [] }
      change(&$0)
    }
  }

  private static let mount = "-v /run/dbus:/run/dbus IMAGE"

  static let bluezCases = [
    Case(
      name: "no bus", host: without(.noBus("why")), subject: .bus, level: .warning,
      words: "does not run (why)", command: "sudo systemctl start dbus"),
    Case(
      name: "no bus, and no systemd", host: without(.noBus("why")) { $0.hasSystemd = false },
      subject: .bus, level: .warning, words: "does not run", command: "sudo service dbus start"),
    Case(
      name: "no bus installed", host: without(.noBus("why")) { $0.tools = ["apt-get"] },
      subject: .bus, level: .warning, words: "does not run",
      command: "sudo apt-get install dbus"),
    Case(
      name: "no bluetoothd", host: without(.notRunning), subject: .bluetoothd, level: .warning,
      words: "does not run", command: "sudo systemctl enable --now bluetooth"),
    Case(
      name: "no BlueZ", host: without(.notRunning) { $0.tools = ["apt-get"] },
      subject: .bluetoothd, level: .warning, words: "does not run",
      command: "sudo apt-get install bluez"),
    Case(
      name: "bluetoothd does not answer", host: without(.notAnswering), subject: .bluetoothd,
      level: .warning, words: "does not answer", command: "sudo systemctl restart bluetooth"),
    Case(
      name: "bluetoothd lists too many devices", host: without(.tooLong), subject: .bluetoothd,
      level: .warning, words: "more devices", command: "sudo systemctl restart bluetooth"),
    Case(
      name: "bluetoothd shows no adapter", host: .with { $0.bluez = BlueZView() },
      subject: .bluetoothd, level: .warning, words: "no adapter",
      command: "sudo systemctl restart bluetooth"),
    Case(
      name: "the bus's policy", host: without(.refused("why")) { $0.user = "anna" },
      subject: .policy, level: .warning, words: "log in again",
      command: "sudo usermod -aG bluetooth anna"),
    Case(
      name: "no monitors", host: .with { $0.bluez?.adapters[0].hasMonitors = false },
      subject: .monitors, level: .info, words: "once in 10 s",
      command: "sudo sed -i 's/^#*Experimental *=.*/Experimental = true/' "
        + "/etc/bluetooth/main.conf && sudo systemctl restart bluetooth"),
    Case(
      name: "no monitors, and no other way",
      host: .with {
        $0.rights = .nobody
        $0.bluez?.adapters[0].hasMonitors = false
        $0.hasSystemd = false
      }, subject: .monitors, level: .warning, words: "once in 10 s",
      command: "sudo sed -i 's/^#*Experimental *=.*/Experimental = true/' "
        + "/etc/bluetooth/main.conf && sudo service bluetooth restart"),
    Case(
      name: "a container without the bus", host: container(.noBus("why")), subject: .bus,
      words: "/run/dbus/system_bus_socket", command: "docker run \(mount)"),
    Case(
      name: "a container of Podman's", host: container(.noBus("why")) { $0.engine = "podman" },
      subject: .bus, words: "/run/dbus/system_bus_socket", command: "podman run \(mount)"),
    Case(
      name: "a container with a root of its own",
      host: container(.refused("why")) {
        $0.engine = "podman"
        $0.rights.hasHostUser = false
      }, subject: .policy, words: "another number",
      command: "podman run --userns keep-id \(mount)"),
    Case(
      name: "a container of a user whom the policy refuses", host: container(.refused("why")),
      subject: .policy, words: "join the group",
      command: "docker run --group-add \"$(getent group bluetooth | cut -d: -f3)\" \(mount)"),
    Case(
      name: "a container with AppArmor's profile",
      host: container(.refused("An AppArmor policy prevents this sender from sending")),
      subject: .policy, words: "AppArmor",
      command: "docker run --security-opt apparmor=unconfined \(mount)"),
    Case(
      name: "a host without bluetoothd, outside a container", host: container(.notRunning),
      subject: .bluetoothd, words: "outside", command: "sudo systemctl enable --now bluetooth"),
    Case(
      name: "an adapter that is off, outside a container",
      host: container(nil) { $0.bluez?.adapters[0].adapter.isUp = false }, subject: .power,
      words: "outside", command: "bluetoothctl power on"),
    Case(
      name: "no adapter, outside a container", host: container(nil) { $0.bluez?.adapters = [] },
      subject: .adapter, words: "there is no adapter",
      command: "sudo dmesg | grep -i -e bluetooth -e firmware"),
    Case(
      name: "a container with the bus alone", host: container(nil), subject: .network,
      level: .warning, words: "another one",
      command: "docker run --network host --cap-add NET_RAW IMAGE"),
    Case(
      name: "Flatpak without the bus",
      host: container(.noBus("why")) { $0.flatpak = "org.example.App" }, subject: .bus,
      words: "Flatpak",
      command: "flatpak override --user --system-talk-name=org.bluez org.example.App"),
    Case(
      name: "Flatpak's filter of the bus",
      host: container(.notRunning) { $0.flatpak = "org.example.App" }, subject: .bluetoothd,
      words: "org.bluez",
      command: "flatpak override --user --system-talk-name=org.bluez org.example.App"),
  ]
}
