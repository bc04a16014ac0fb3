import Glibc
import HCIPackets
import Sources

@testable import LiveScanning

extension DoctorTests {
  #if arch(arm64)
    private static let kernelPackage = "linux-image-arm64"
  #else
    private static let kernelPackage = "linux-image-amd64"
  #endif

  /// A host where no Bluetooth socket can be opened.
  private static func closed(
    _ errno: Int32 = EAFNOSUPPORT, _ change: (inout HostView) -> Void = { _ in }
  ) -> HostView {
    .with {
      $0.socketError = errno
      $0.radios = []
      $0.bluez = nil
      change(&$0)
    }
  }

  static let kernelCases = [
    Case(
      name: "module not loaded", host: closed { $0.hasBluetooth = false }, subject: .kernel,
      words: "has not loaded", command: "sudo modprobe bluetooth"),
    Case(
      name: "no module",
      host: closed {
        $0.hasBluetooth = false
        $0.hasModule = false
      }, subject: .kernel, words: "without Bluetooth",
      command: "sudo apt-get install \(kernelPackage)"),
    Case(
      name: "no module and no apt-get",
      host: closed {
        $0.hasBluetooth = false
        $0.hasModule = false
        $0.tools = []
      }, subject: .kernel, words: "without Bluetooth", command: nil),
    Case(
      name: "no module, in a container",
      host: closed {
        $0.hasBluetooth = false
        $0.hasModule = false
        $0.isContainer = true
        $0.rights.isRoot = true
      }, subject: .kernel, words: "on the host", command: "sudo modprobe bluetooth"),
    Case(
      name: "container with a network of its own",
      host: closed {
        $0.isContainer = true
        $0.hasHostNetwork = nil
        $0.rights.isFiltered = true
      }, subject: .network, words: "start the container with the host's",
      command: "docker run --network host --cap-add NET_RAW IMAGE"),
    Case(
      name: "another network namespace", host: closed { $0.hasHostNetwork = false },
      subject: .network, words: "has another one",
      command: "sudo nsenter --target 1 --net -- /usr/local/bin/beaconscan doctor"),
    Case(
      name: "a unit that restricts address families",
      host: closed { $0.rights.isFiltered = true }, subject: .network,
      words: "RestrictAddressFamilies=", command: nil),
    Case(
      name: "a security module that forbids sockets", host: closed(EACCES), subject: .network,
      words: "forbids", command: nil),
    Case(
      name: "old kernel", host: .with { $0.release = "4.18.0" }, subject: .kernelVersion,
      words: "4.19 is the first", command: "sudo apt-get install \(kernelPackage)"),
  ]

  static let adapterCases = [
    Case(
      name: "no adapter", host: .with { $0.radios = [] }, subject: .adapter,
      words: "there is no adapter",
      command: "sudo dmesg | grep -i -e bluetooth -e firmware"),
    Case(
      name: "no driver",
      host: .with {
        $0.radios = []
        $0.idleDevices = ["1-1:1.0"]
      }, subject: .adapter, words: "1-1:1.0", command: "sudo modprobe btusb"),
    Case(
      name: "blocked by software",
      host: .with { $0.radios = [.with { $0.adapter.block = .soft }] }, subject: .rfkill,
      words: "rfkill blocks it", command: "sudo rfkill unblock bluetooth"),
    Case(
      name: "blocked, and no rfkill installed",
      host: .with {
        $0.radios = [.with(3) { $0.adapter.block = .soft }]
        $0.tools = []
      }, subject: .rfkill, words: "rfkill blocks it",
      command: "echo 0 | sudo tee /sys/class/bluetooth/hci3/rfkill*/soft"),
    Case(
      name: "blocked by a switch",
      host: .with { $0.radios = [.with { $0.adapter.block = .hard }] }, subject: .rfkill,
      words: "no command can change that", command: nil),
    Case(
      name: "held",
      host: .with {
        $0.radios = [.with { $0.isHeld = true }]
        $0.programs.programs = [
          HCIProgram(process: 7, name: "bluetoothd"), HCIProgram(process: 9, name: "bumble"),
        ]
      }, subject: .held, words: "bluetoothd (7), bumble (9)", command: "sudo kill 9"),
    Case(
      name: "held by who cannot be seen",
      host: .with {
        $0.radios = [.with { $0.isHeld = true }]
        $0.programs.unseenUsers = [0]
      }, subject: .held, words: "a program of user 0",
      command: "sudo /usr/local/bin/beaconscan doctor"),
    Case(
      name: "down beside bluetoothd", host: down(), subject: .power, words: "switched off",
      command: "bluetoothctl power on"),
    Case(
      name: "down without bluetoothd", host: down { $0.bluez = nil }, subject: .power,
      words: "switched off", command: "sudo btmgmt --index 0 power on"),
    Case(
      name: "down with old tools", host: down { $0.tools = ["hciconfig"] }, subject: .power,
      words: "switched off", command: "sudo hciconfig hci0 up"),
    Case(
      name: "down without tools", host: down { $0.tools = ["apt-get"] }, subject: .power,
      words: "switched off",
      command: "sudo apt-get install bluez && sudo btmgmt --index 0 power on"),
  ]

  private static func down(_ change: (inout HostView) -> Void = { _ in }) -> HostView {
    .with {
      $0.radios = [
        .with {
          $0.adapter.isUp = false
          $0.report = ControllerReport()
        }
      ]
      change(&$0)
    }
  }
}
