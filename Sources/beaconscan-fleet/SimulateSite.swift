import Advertising
import ArgumentParser
import Clocks
import FleetReports
import FleetSites
import FoundationEssentials
import Fusion

/// Writes a site with people who carry beacons: its file, its receivers' reports, and the truth.
struct SimulateSite: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulates a site: its file, its receivers' reports, and the truth.",
    discussion: """
      Writes site.toml, reports.jsonl (a report a line, as receivers send them) and truth.jsonl \
      (the room of each beacon in each second) to a new directory. People carry the beacons from \
      room to room; bodies and walls weaken the signals; receivers fail.

      EXAMPLES
        beaconscan-fleet simulate demo
        beaconscan-fleet simulate demo --rooms 30 --beacons 100 --faults 0.05
        beaconscan-fleet simulate demo --site museum.toml --seed 7
      """)

  @Argument(help: "The directory to make.")
  var directory: String

  @Option(help: "A site file, in place of rooms on both sides of a corridor.")
  var site: String?

  @Option(help: "The rooms beside the corridor, 1 to 200, each with a receiver.")
  var rooms = 8

  @Option(help: "The beacons, 1 to 10000.")
  var beacons = 10

  @Option(help: "The length in seconds, 1 to 86400.")
  var seconds = 600

  @Option(help: "The mean time that a beacon stays in a room, in seconds, 1 to 86400.")
  var stay = 120.0

  @Option(help: "The share of time in which a receiver is down, 0 to 0.9.")
  var faults = 0.0

  @Option(help: "The number that all random numbers come from.")
  var seed: UInt64 = 1

  func validate() throws {
    func check<Value: Comparable>(_ name: String, _ value: Value, _ range: ClosedRange<Value>)
      throws
    {
      guard !range.contains(value) else { return }
      throw ValidationError(
        "--\(name) must be from \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
    try check("rooms", rooms, 1...200)
    try check("beacons", beacons, 1...10_000)
    try check("seconds", seconds, 1...86_400)
    try check("stay", stay, 1...86_400)
    try check("faults", faults, 0...0.9)
  }

  func run() throws {
    let site = try self.site.map(Files.site) ?? Site(planOf: rooms)
    guard FleetTopic.isName(site.name) else { throw FleetError.notReporting(site.name) }
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = beacons
    configuration.stay = stay
    configuration.faults = faults
    configuration.seed = seed
    var simulator = SiteSimulator(site, configuration)
    try Files.makeDirectory(directory)
    let text = try self.site.map(Files.bytes) ?? Array(site.toml.utf8)
    try Files.write(text, to: "\(directory)/site.toml")
    let reports = try OutputLines("\(directory)/reports.jsonl")
    let truth = try OutputLines("\(directory)/truth.jsonl")
    for _ in 0..<seconds {
      let second = simulator.next()
      for report in second.reports {
        try reports.write(ReceiverReport(report, site: site.name).json)
      }
      for (beacon, room) in second.truth.sorted(by: { $0.key < $1.key }) {
        let line = TruthLine(second: second.second, beacon: beacon.description, room: room)
        try truth.write(line.json)
      }
    }
    try reports.close()
    try truth.close()
    print(
      "\(directory): \(site.rooms.count) rooms, \(site.receivers.count) receivers, "
        + "\(beacons) beacons, \(seconds) s")
  }
}
