import ArgumentParser
import Glibc
import Release

@main
struct BeaconscanFleet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "beaconscan-fleet",
    abstract: "The rooms of beacons, from the reports of a site's receivers.",
    discussion: """
      A site file has the rooms and receivers of a site; docs/fleet.md describes it. Receivers \
      report with beaconscan serve --fleet.

      EXAMPLES
        beaconscan-fleet simulate demo
        beaconscan-fleet replay demo/site.toml demo/reports.jsonl
        beaconscan-fleet replay demo/site.toml demo/reports.jsonl --truth demo/truth.jsonl

      EXIT STATUS
        0    done
        64   usage
        65   the input's data is bad
        66   input missing
        69   no engine, database or port
        73   cannot create output
        74   I/O error
        77   no permission
        130  interrupted before anything was done
      """,
    version: release,
    subcommands: [
      UpCommand.self, WorkCommand.self, ServeFleet.self, ShowStatus.self, ReceiversCommand.self,
      ShowChanges.self, ShowOccupancy.self, RebuildHistory.self, SurveySite.self, LearnSite.self,
      SimulateSite.self,
      PublishReports.self, ReplayReports.self,
    ])

  static func main() async {
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let error as FleetError {
      FleetError.warn("\(error)")
      Glibc.exit(error.status.rawValue)
    } catch {
      exit(withError: error)
    }
  }
}
