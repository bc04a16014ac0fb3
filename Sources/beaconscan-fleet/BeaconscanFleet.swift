import ArgumentParser
import Glibc

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
      """,
    subcommands: [
      UpCommand.self, WorkCommand.self, ServeFleet.self, ReceiversCommand.self, ShowChanges.self,
      ShowOccupancy.self, RebuildHistory.self, SurveySite.self, LearnSite.self, SimulateSite.self,
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
