import ArgumentParser

struct BeaconsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "beacons",
    abstract: "Show the beacons that have names, and what is known of each.",
    discussion: """
      Names and calibrations stand in the configuration file, in a table [beacon.NAME] for each; \
      calibrate --save writes them there. See docs/configuration.md.

      EXAMPLES
        beaconscan beacons
        beaconscan beacons --format json
      """)

  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @OptionGroup(title: "Output") var form: FormatOptions

  func run() throws {
    let beacons = Settings.current.beacons
    let output = StandardOutput()
    if beacons.isEmpty, form.format == .table {
      try output.write(
        "no beacon has a name; give one with calibrate --save or in \(Settings.userPath ?? "a file")\n"
      )
    } else {
      try output.write(beacons, NamedBeacon.record, form.format)
    }
    try output.flush()
  }
}
