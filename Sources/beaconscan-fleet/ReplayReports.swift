import Advertising
import ArgumentParser
import Clocks
import FleetPicture
import FleetReports
import FleetSites
import FleetWork
import FoundationEssentials
import Fusion

/// Prints the rooms that recorded reports give, with the rules of now.
struct ReplayReports: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Prints each change of room that recorded reports give.",
    discussion: """
      The result depends on the files and options alone. With --truth, a table compares the rooms \
      with the true ones, and with the rule that a beacon is where its nearest receiver is.

      EXAMPLES
        beaconscan-fleet replay demo/site.toml demo/reports.jsonl
        beaconscan-fleet replay demo/site.toml demo/reports.jsonl --format json
        beaconscan-fleet replay demo/site.toml demo/reports.jsonl --truth demo/truth.jsonl
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table
    case json
  }

  @Argument(help: "The site file.")
  var site: String

  @Argument(help: "The reports, one a line.")
  var reports: String

  @Option(help: "The true rooms, one a line, to compare with.")
  var truth: String?

  @Option(help: "The probability from which a room is reported, 0.5 to 0.99.")
  var entry = 0.75

  @Option(help: "The probability below which a room is left, 0.01 to 0.5.")
  var exit = 0.25

  @Option(help: "The output: table or json, a line for each change.")
  var format = Format.table

  func validate() throws {
    guard 0.5...0.99 ~= entry else {
      throw ValidationError("--entry must be from 0.5 to 0.99, not \(entry)")
    }
    guard 0.01...0.5 ~= self.exit else {
      throw ValidationError("--exit must be from 0.01 to 0.5, not \(self.exit)")
    }
  }

  func run() throws {
    let site = try Files.site(self.site)
    var configuration = SiteFusion.Configuration()
    configuration.entryThreshold = entry
    configuration.exitThreshold = self.exit
    var fusion = SiteFusion(SiteModel(site), configuration: configuration)
    var comparison = try truth.map { try Comparison(site, truth: $0) }
    var foreign = 0
    for (number, line) in try Files.lines(reports).enumerated() {
      let report: ReceiverReport
      do throws(ReportError) {
        report = try unsafe ReceiverReport(parsing: line.span.bytes)
      } catch {
        throw FleetError(.badData, "\(reports): line \(number + 1): \(error)")
      }
      guard report.site == site.name else {
        foreign += 1
        continue
      }
      let second = ReceiverSecond(report)
      comparison?.willReceive(second, fusion)
      write(fusion.receive(second), isCompared: comparison != nil)
    }
    write(fusion.finish(), isCompared: comparison != nil)
    comparison?.end(fusion)
    comparison?.print()
    if foreign + fusion.ignored > 0 {
      FleetError.warn(
        "\(foreign) reports of other sites and \(fusion.ignored) that are repeated, late or of a "
          + "receiver that the site file does not have are left out")
    }
  }
}

extension ReplayReports {
  private func write(_ transitions: [RoomTransition], isCompared: Bool) {
    for transition in transitions where !isCompared {
      switch format {
      case .json:
        print(String(decoding: transition.change(site: site).json, as: UTF8.self))
      case .table: print(transition.row)
      }
    }
  }
}

/// The rooms compared with the truth, second by second.
private struct Comparison {
  private let truth: [Int64: [(beacon: BeaconIdentity, room: String)]]
  private var fusion = RoomScore()
  private var nearest = RoomScore()
  private var rule: NearestReceiver
  private var second: Int64?
  private var reports: [ReceiverSecond] = []

  init(_ site: Site, truth path: String) throws {
    rule = NearestReceiver(site)
    truth = try TruthLine.rooms(path)
  }

  /// Takes a report before fusion receives it. A new second ends the one before.
  mutating func willReceive(_ report: ReceiverSecond, _ state: SiteFusion) {
    if let second, report.second > second { end(state) }
    second = max(second ?? report.second, report.second)
    reports.append(report)
  }

  mutating func end(_ state: SiteFusion) {
    rule.receive(reports)
    reports = []
    guard let second else { return }
    for (beacon, room) in truth[second] ?? [] {
      let estimate = state.estimate(of: beacon)
      var answer: String?
      if case .room(let name)? = estimate?.place { answer = name }
      fusion.add(beacon, room: answer, best: estimate?.best, truth: room, second: second)
      nearest.add(
        beacon, room: rule.room(of: beacon), best: nil, truth: room, second: second)
    }
  }

  func print() {
    func percent(_ share: Double) -> String { "\((share * 1000).rounded() / 10) %" }
    func seconds(_ latency: Int64?) -> String { latency.map { "\($0) s" } ?? "–" }
    func row(_ cells: [String]) {
      Swift.print(
        cells.map { $0.padded(to: 18) }.joined().trimmed)
    }
    row(["", "fusion", "nearest receiver"])
    row(["room right", percent(fusion.rightShare), percent(nearest.rightShare)])
    row(["room wrong", percent(fusion.wrongShare), percent(nearest.wrongShare)])
    for (name, part) in [("latency, median", 0.5), ("latency, 90 %", 0.9)] {
      row([name, seconds(fusion.latency(part)), seconds(nearest.latency(part))])
    }
    row(["changes missed", "\(fusion.missed)", "\(nearest.missed)"])
    row([
      "false changes/h", "\((fusion.falseChangesPerHour * 10).rounded() / 10)",
      "\((nearest.falseChangesPerHour * 10).rounded() / 10)",
    ])
    row(["calibration", percent(fusion.expectedCalibrationError), "–"])
    printReliability(percent)
  }

  /// Prints how often the most probable room is right, by its probability, with a bar for each.
  private func printReliability(_ percent: (Double) -> String) {
    var rows = [["probability", "seconds", "right", ""]]
    for (index, bin) in fusion.bins.enumerated() where bin.count > 0 {
      let share = Double(bin.right) / Double(bin.count)
      // The mark is where the bar of a calibrated probability ends.
      let (right, stated) = (Int(share * 40), Int(bin.probability / Double(bin.count) * 40))
      let bar = (0...40).map { $0 == stated ? "│" : $0 < right ? "▇" : " " }.joined()
      rows.append([
        "\(index * 10)–\(index * 10 + 10) %", "\(bin.count)", percent(share), bar,
      ])
    }
    Swift.print()
    Table.print(rows)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  fileprivate var trimmed: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
