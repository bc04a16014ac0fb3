import ArgumentParser
import Glibc

@main
struct BeaconscanFleet: ParsableCommand {
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
    subcommands: [SimulateSite.self, ReplayReports.self])

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let error as FleetError {
      FleetError.warn("\(error)")
      Glibc.exit(error.status.rawValue)
    } catch {
      exit(withError: error)
    }
  }
}
