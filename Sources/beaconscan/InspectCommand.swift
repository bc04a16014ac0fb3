import Advertising
import ArgumentParser
import CaptureFiles
import Scanning

/// `beaconscan inspect`: what is in a recording.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show what is in a recording: packets, reports, beacons, and what was refused.",
    discussion: """
      Of each beacon: sightings, signal strength, the interval at which it speaks and the share of \
      its adverts that was lost, as far as its gaps tell. At most 65,536 beacons are kept; more make \
      the oldest go, and the summary counts them.

      EXAMPLES
        beaconscan inspect captures/lobby.btsnoop
        beaconscan inspect captures/hostile.pcapng --format json
      """)

  @Argument(help: "Recordings; - is standard input.", completion: .file())
  var files: [String] = []

  @OptionGroup var source: ReplayOptions
  @OptionGroup var regions: RegionOptions
  @OptionGroup var output: OutputOptions

  /// The most beacons that are kept: with what is known of each, less than 16 MB.
  static let mostBeacons = 65_536

  func validate() throws {
    if (source.replay + files).filter({ $0 == "-" }).count > 1 {
      throw ValidationError("- can be given once: there is one standard input.")
    }
  }

  func run() throws {
    var source = source
    source.replay += files
    let scanner = try source.open()
    let progress = Progress(
      of: scanner, isWanted: !output.quiet && source.speed == .max && !source.follow)
    let constraints = regions.all.map(\.constraint)
    var table = BeaconTable<BeaconStatistics>(capacity: Self.mostBeacons)
    var failure: CommandError?
    var sightings: [Sighting] = []
    var isOver = false
    while !isOver, !Interrupt.isRequested {
      progress?.update()
      do {
        isOver = try scanner.listen(for: .ranging, until: nil, into: &sightings).isOver
      } catch let error as CaptureError {
        failure = CommandError(error)
        break
      }
      for sighting in sightings {
        guard constraints.isEmpty || constraints.contains(where: { $0.matches(sighting.beacon) })
        else { continue }
        table.hear(sighting.beacon, at: sighting.time) {
          BeaconStatistics(sighting)
        } update: { statistics in
          statistics.hear(sighting)
        }
      }
    }
    progress?.clear()
    if Interrupt.isRequested, failure == nil, scanner.counts.packets == 0 {
      throw CommandError(.interrupted, "interrupted before anything was read")
    }
    // Of a file that is no capture at all there is nothing to report.
    if let failure, scanner.counts.packets == 0 { throw failure }
    let out = StandardOutput()
    let report = InspectReport(replay: scanner, table: table)
    try report.write(output.format, to: out)
    try out.flush()
    scanner.remark(output)
    if let failure { throw failure }
  }
}
