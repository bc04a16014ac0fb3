import ArgumentParser
import Clocks
import FleetEngine
import FleetReports
import FleetSites
import FleetWork
import Fusion
import Logging
import Synchronization

/// Learns receivers' offsets and the law from what receivers receive of each other.
struct LearnSite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "learn",
    abstract: "Learns a site's law from receivers that receive each other's beacons.",
    discussion: """
      Receivers that advertise an iBeacon of their own have it as beacon = "UUID:MAJOR:MINOR" in \
      the site file. From what they receive of each other, the offset of each receiver, the \
      exponent and the loss of walls are estimated and written into the site file; all else in \
      the file stays.

      EXAMPLES
        beaconscan-fleet learn sites/museum.toml --dry-run
        beaconscan-fleet learn sites/museum.toml --since 24h --engine rabbit-1
        beaconscan-fleet learn sites/museum.toml --reports reports.jsonl
      """)

  @Argument(help: "The site file.")
  var site: String

  @Option(help: "Recorded reports, one a line, in place of those that the engine has.")
  var reports: String?

  @Option(
    help: ArgumentHelp(
      "The engine's reports from this time on: how long ago, such as 90m or 24h, or a time.",
      valueName: "time"))
  var since = "1h"

  @Flag(help: "Print what would change, and leave the file as it is.")
  var dryRun = false

  @OptionGroup var engine: EngineOptions

  func run() async throws {
    let site = try Files.site(site)
    let calibration =
      if let reports {
        try Self.recorded(site, reports)
      } else {
        try await logged(site)
      }
    guard let solution = calibration.solution() else {
      throw FleetError(
        .badData,
        "learning needs \(SiteCalibration.minimumPairs) pairs of receivers with a place (at), of "
          + "which one receives the other's beacon well; there are \(calibration.pairs)")
    }
    Self.print(solution, before: site)
    guard !dryRun else { return }
    try Files.edit(self.site) { bytes throws(SiteFileError) in
      try SiteFile.bytes(bytes, settingLawOf: solution.site)
    }
  }

  private static func recorded(_ site: Site, _ reports: String) throws -> SiteCalibration {
    var calibration = SiteCalibration(site)
    let lines = try InputLines(reports)
    while let report = try lines.nextReport() {
      if report.site == site.name { calibration.receive(ReceiverSecond(report)) }
    }
    return calibration
  }

  /// Reads the reports that the engine has until now.
  private func logged(_ site: Site) async throws -> SiteCalibration {
    let since = try PastOptions.second(
      since, "--since", now: WallClockTime.now.second)
    guard FleetTopic.isName(site.name) else { throw FleetError.notReporting(site.name) }
    let engine = try engine.configuration()
    let stream = StreamReader.log(of: Shard(ofSite: site.name))
    let log = SiteLog(site)
    do {
      try await Interrupt.canceling {
        guard
          let newest = try await StreamReader.newestOffset(
            of: stream, engine, logger: .ofCommand)
        else { return try Task.checkCancellation() }
        let reader = try StreamReader(
          engine, stream: stream, from: .time(UInt64(since)), logger: .ofCommand
        ) { log.receive($0) }
        try await withThrowingTaskGroup { group in
          group.addTask { await reader.run() }
          defer { group.cancelAll() }
          // The newest report may be older than the first one wanted.
          var idle = 0
          var last = log.offset
          while last ?? 0 < newest, idle < 100 {
            try await Task.sleep(for: .milliseconds(50))
            idle = log.offset == last && reader.status.node != nil ? idle + 1 : 0
            last = log.offset
          }
        }
      }
    } catch let error as EngineError {
      throw FleetError(.unavailable, "\(error)")
    } catch is CancellationError {
      throw FleetError(.interrupted, "interrupted; \(self.site) stays as it was")
    }
    return log.calibration
  }

  private static func print(_ solution: SiteCalibration.Solution, before: Site) {
    func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
    let (old, new) = (before.propagation, solution.site.propagation)
    func error(_ residual: KeyPath<SiteCalibration.Pair, Double>) -> String {
      let squares = solution.pairs.reduce(0) {
        $0 + $1[keyPath: residual] * $1[keyPath: residual]
      }
      return text((squares / Double(solution.pairs.count)).squareRoot())
    }
    Table.print(
      [
        ["", "before", "after"],
        ["exponent", text(old.exponent), text(new.exponent)],
        ["wallLoss, dB", text(old.wallLoss), text(new.wallLoss)],
      ]
        + zip(before.receivers, solution.site.receivers).map {
          ["offset of \($0.name), dB", text($0.offset), text($1.offset)]
        } + [["error of a pair (RMS), dB", error(\.before), error(\.after)]])
    Swift.print("")
    Table.print(
      [["receiver", "receives", "dBm", "error before, dB", "after, dB"]]
        + solution.pairs.map {
          [$0.receiver, $0.transmitter, text($0.rssi), text($0.before), text($0.after)]
        })
  }
}

/// The reports of a site in the engine's stream.
private final class SiteLog: Sendable {
  private struct State {
    var calibration: SiteCalibration
    var offset: UInt64?
  }

  private let site: String
  private let state: Mutex<State>

  init(_ site: Site) {
    self.site = site.name
    state = Mutex(State(calibration: SiteCalibration(site)))
  }

  var calibration: SiteCalibration { state.withLock { $0.calibration } }
  /// The offset of the last message.
  var offset: UInt64? { state.withLock { $0.offset } }

  func receive(_ entry: StreamEntry) {
    let report = ReceiverReport(entry, of: site)
    state.withLock { state in
      state.offset = entry.offset
      if let report { state.calibration.receive(ReceiverSecond(report)) }
    }
  }
}
