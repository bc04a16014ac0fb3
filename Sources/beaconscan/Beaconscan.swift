import ArgumentParser
import CaptureFiles
import Frontends
import LocationSources
import Release

@main
struct Beaconscan: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "beaconscan",
    abstract:
      "Receives iBeacons: which are there, how near, which come and go, and what is on air.",
    discussion: """
      It receives with the first Bluetooth adapter that works, or those named with --adapter. \
      Recordings of btsnoop, pcap and pcapng are replayed with --replay FILE.

      Options, names of beacons and regions, and calibrations may stand in a file, \
      ~/.config/beaconscan.toml or /etc/beaconscan.toml, and each option in a variable such as \
      BEACONSCAN_FORMAT; the command line comes first, then variables. See docs/configuration.md.

      EXAMPLES
        beaconscan range
        beaconscan scan --adapter hci0 --format json
        beaconscan range --replay captures/visitor.btsnoop
        beaconscan monitor --each --uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 \\
          --replay captures/visitor.btsnoop
        beaconscan inspect captures/hostile.pcapng
        beaconscan decode 1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5

      EXIT STATUS
        0    done
        64   usage
        65   the input's data is bad
        66   input missing
        69   no usable adapter or service
        70   internal error
        73   cannot create output
        74   I/O error
        77   no permission
        130  interrupted before anything was done
      """,
    version: release,
    subcommands: [
      ScanCommand.self, RangeCommand.self, MonitorCommand.self, LocateCommand.self,
      ServeCommand.self, AppsCommand.self, AgentCommand.self, SessionCommand.self,
      HistoryCommand.self, InspectCommand.self, CalibrateCommand.self, DecodeCommand.self,
      RecordCommand.self, SimulateCommand.self,
      AdvertiseCommand.self,
      AdaptersCommand.self, DoctorCommand.self, BeaconsCommand.self, ConfigCommand.self,
      SchemaCommand.self,
    ])

  /// Parses a command line, completed by configuration files and the environment.
  private static func parse(_ arguments: GivenArguments) throws -> any ParsableCommand {
    let (command, path) = arguments.subcommand()
    guard !arguments.areOfParser else {
      return try parseAsRoot(arguments.words.map { $0 == "--help-all" ? "--help" : $0 })
    }
    let given = try GivenInputs(
      arguments.words.dropFirst(path.count), for: command, path: path)
    return try Settings.complete(given, parse: command.init)
  }

  static func main() async {
    Interrupt.install()
    let arguments = GivenArguments(CommandLine.arguments.dropFirst())
    do {
      try GivenArguments.checkEncoding()
      try arguments.checkSubcommand(of: Self.self)
      if try arguments.showHelp() { return }
      var command = try parse(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let error as CommandError {
      end(error)
    } catch let error as CaptureError {
      end(CommandError(error))
    } catch let error as TrackError {
      end(CommandError(error))
    } catch is ClosedPipe {
      exit(withError: ExitCode.success)
    } catch  where exitCode(for: error) == .validationFailure {
      printError("beaconscan: \(usageSentence(error))")
      exit(withError: ExitCode.validationFailure)
    } catch {
      exit(withError: error)
    }
  }

  /// Returns the sentence of options that do not fit together, without a full stop.
  static func usageSentence(_ error: any Error) -> String {
    let sentence = message(for: error)
    return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  private static func end(_ error: CommandError) -> Never {
    printError("beaconscan: \(error.message)")
    exit(withError: ExitCode(error.status.rawValue))
  }
}
