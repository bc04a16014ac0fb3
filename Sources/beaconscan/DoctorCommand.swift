import ArgumentParser
import LiveScanning

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find what stops scanning on this machine, and the commands that fix it.",
    discussion: """
      Looks at the kernel, this process's network and rights, the adapters, the programs that use \
      them, the system's message bus and bluetoothd. Each fault is followed by the one command \
      that fixes it; run them in their order. An error stops scanning, a warning does not. One \
      adapter that works is enough; so is one of the two ways to receive, by raw HCI sockets or by \
      bluetoothd. The last lines are about locations and the service for apps, and do not change \
      the status.

      The doctor switches nothing on or off. It asks each adapter's controller for its version and \
      sets scan parameters, which starts no scan. gpsd opens its receivers for it, for two seconds \
      at most. The status is 0 where scanning can work, 77 where only permission is missing, else 69.

      EXAMPLES
        beaconscan doctor
        beaconscan doctor --position 52.5163,13.3777
      """)

  @OptionGroup(title: "Output") var form: FormatOptions
  @OptionGroup(title: "Location") var location: LocationOptions
  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  func run() throws {
    let findings = Doctor.findings() + location.findings() + AppsDoctor.findings()
    let out = StandardOutput()
    try out.write(findings, form)
    try out.flush()
    if let error = CommandError(preventing: findings) { throw error }
  }
}
