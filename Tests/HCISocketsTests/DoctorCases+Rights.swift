import HCIPackets

@testable import Adapters
@testable import HCISockets

extension DoctorTests {
  private static func nobody(_ change: (inout HostView) -> Void = { _ in }) -> HostView {
    .with {
      $0.rights = .nobody
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
      }, subject: .scan, words: "invalid parameters", command: "sudo hciconfig hci0 reset"),
    Case(
      name: "no bluetoothd", host: .with { $0.hasBluetoothd = false }, subject: .bluetoothd,
      level: .info, words: "does not need it",
      command: "sudo systemctl enable --now bluetooth"),
    Case(
      name: "no BlueZ",
      host: .with {
        $0.hasBluetoothd = false
        $0.tools = ["apt-get"]
      }, subject: .bluetoothd, level: .info, words: "does not need it",
      command: "sudo apt-get install bluez"),
  ]
}
