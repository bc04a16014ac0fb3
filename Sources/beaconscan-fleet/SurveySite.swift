import Advertising
import ArgumentParser
import FleetEngine
import FleetReports
import FleetSites
import FleetWork
import Fusion
import Glibc
import Logging
import Scanning
import Synchronization
import SystemPackage

/// Writes to the site file what each receiver receives in each room.
struct SurveySite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "survey",
    abstract: "Measures each room of a site by a walk with a beacon.",
    discussion: """
      Go from room to room with one beacon, and walk about in each while its signal is measured. \
      The mean signal strength of each room and receiver is then in the site file, as [[levels]]; \
      all else in the file stays. Nobody else may carry the same beacon meanwhile.

      With --reports and --truth, the levels are those of recorded reports of beacons whose rooms \
      are known, as simulate writes them.

      EXAMPLES
        beaconscan-fleet survey sites/museum.toml --beacon E2C56DB5-DFFB-48D2-B060-D0F5A71096E0:1:7
        beaconscan-fleet survey demo/site.toml --reports demo/reports.jsonl --truth demo/truth.jsonl
      """)

  @Argument(help: "The site file.")
  var site: String

  @Option(help: ArgumentHelp("The beacon that is carried.", valueName: "uuid:major:minor"))
  var beacon: String?

  @Option(help: "The time in each room in seconds, 5 to 3600.")
  var seconds = 30

  @Option(
    name: .customLong("room"),
    help: ArgumentHelp("A room; may be repeated. Default: all of the site.", valueName: "name"))
  var rooms: [String] = []

  @Option(help: "Recorded reports, one a line, in place of a walk.")
  var reports: String?

  @Option(help: "The true rooms of the recorded reports, one a line.")
  var truth: String?

  @OptionGroup var engine: EngineOptions

  func validate() throws {
    guard 5...3600 ~= seconds else {
      throw ValidationError("--seconds must be from 5 to 3600, not \(seconds)")
    }
    guard (reports == nil) == (truth == nil) else {
      throw ValidationError("--reports and --truth belong together; give both or neither")
    }
    guard beacon != nil || reports != nil else {
      throw ValidationError("--beacon must name the beacon that is carried, as UUID:MAJOR:MINOR")
    }
    _ = try identity()
  }

  private func identity() throws -> BeaconIdentity? {
    guard let beacon else { return nil }
    guard let identity = BeaconConstraint(beacon)?.identity else {
      throw ValidationError("--beacon must be UUID:MAJOR:MINOR; '\(beacon)' is not")
    }
    return identity
  }

  func run() async throws {
    let site = try Files.site(site)
    let names = site.rooms.map(\.name)
    for room in rooms where !names.contains(room) {
      throw FleetError(
        .badData, "\(self.site) has no room \(room); it has: \(names.joined(separator: ", "))")
    }
    let chosen = names.filter { rooms.isEmpty || rooms.contains($0) }
    let survey: Survey
    if let reports, let truth {
      survey = try recorded(site, chosen, reports: reports, truth: truth)
      for room in chosen { survey.print(room, site) }
    } else if let beacon = try identity() {
      survey = try await walk(site, chosen, beacon)
    } else {
      return
    }
    let levels = survey.levels
    guard !levels.isEmpty else {
      throw FleetError(
        reports == nil ? .interrupted : .badData,
        "no room was measured; \(self.site) stays as it was")
    }
    try Files.edit(self.site) { bytes throws(SiteFileError) in
      try SiteFile.bytes(bytes, setting: levels)
    }
    let count = Set(levels.map(\.room)).count
    print("\(self.site): \(levels.count) levels of \(count == 1 ? "a room" : "\(count) rooms")")
  }

  private func recorded(
    _ site: Site, _ rooms: [String], reports: String, truth: String
  ) throws -> Survey {
    let beacon = try identity()
    let truth = try TruthLine.rooms(truth)
    var survey = Survey(site)
    let lines = try InputLines(reports)
    while let report = try lines.nextReport() {
      let second = ReceiverSecond(report)
      guard report.site == site.name else { continue }
      for known in truth[second.second] ?? []
      where rooms.contains(known.room) && (beacon == nil || known.beacon == beacon) {
        survey.receive(second, of: known.beacon, in: known.room)
      }
    }
    return survey
  }

  private func walk(
    _ site: Site, _ rooms: [String], _ beacon: BeaconIdentity
  ) async throws -> Survey {
    guard FleetTopic.isName(site.name) else { throw FleetError.notReporting(site.name) }
    let walk = SurveyWalk(site, beacon)
    let configuration = try engine.configuration()
    let reader: StreamReader
    do throws(EngineError) {
      reader = try StreamReader(
        configuration, stream: StreamReader.log(of: Shard(ofSite: site.name)),
        from: .now, logger: .ofCommand
      ) { walk.receive($0) }
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
    let seconds = seconds
    try await Interrupt.canceling {
      try await withThrowingTaskGroup { group in
        group.addTask { await reader.run() }
        defer { group.cancelAll() }
        do {
          try await walk.begin(reader)
          try await walk.measure(rooms, seconds: seconds)
        } catch is CancellationError {
          print("")
        }
      }
    }
    return walk.survey
  }
}

/// The questions and the reports of a walk.
private final class SurveyWalk: Sendable {
  private struct State {
    var survey: Survey
    var room: String?
    /// The receivers that have reported since the room was entered.
    var begun: Set<String> = []
  }

  private let site: Site
  private let beacon: BeaconIdentity
  private let state: Mutex<State>

  init(_ site: Site, _ beacon: BeaconIdentity) {
    self.site = site
    self.beacon = beacon
    state = Mutex(State(survey: Survey(site)))
  }

  var survey: Survey { state.withLock { $0.survey } }

  /// Takes a message of the engine. A receiver's first report in a room is of the way there too, and
  /// one that had to wait is of an earlier time.
  func receive(_ entry: StreamEntry) {
    guard let report = ReceiverReport(entry, of: site.name), report.delay == 0 else { return }
    state.withLock { state in
      guard let room = state.room, !state.begun.insert(report.receiver).inserted else { return }
      state.survey.receive(ReceiverSecond(report), of: beacon, in: room)
    }
  }

  /// Waits for the engine.
  func begin(_ reader: StreamReader) async throws {
    for _ in 0..<200 {
      if reader.status.node != nil { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw FleetError(
      .unavailable,
      reader.status.lastError ?? "the engine does not answer; is --engine the right one?")
  }

  func measure(_ rooms: [String], seconds: Int) async throws {
    var answers = StandardInputLines()
    for room in rooms {
      print("\(room): go there, and press Return (s and Return: skip it, q: end)")
      fflush(nil)
      switch try await answers.next()?.first {
      case nil where answers.hasEnded, "q": return
      case "s": continue
      default: try await measure(room, seconds: seconds)
      }
    }
  }

  private func measure(_ room: String, seconds: Int) async throws {
    let before = state.withLock { state in
      (state.room, state.begun) = (room, [])
      return state.survey
    }
    do {
      // The first report of each receiver does not count.
      for second in 0...seconds {
        try await Task.sleep(for: .seconds(1))
        guard isatty(STDOUT_FILENO) == 1 else { continue }
        print("\r\u{1B}[K\(survey.progress(in: room)), \(seconds - second) s", terminator: "")
        fflush(nil)
      }
    } catch {
      state.withLock { ($0.room, $0.survey) = (nil, before) }
      throw error
    }
    state.withLock { $0.room = nil }
    if isatty(STDOUT_FILENO) == 1 { print("\r\u{1B}[K", terminator: "") }
    survey.print(room, site)
  }
}

extension Survey {
  /// Prints the levels of a room, and the receivers that received nothing.
  fileprivate func print(_ room: String, _ site: Site) {
    Swift.print(room)
    Table.print(
      received(in: room).map { ["  \($0.receiver)", "\($0.rssi) dBm", "\($0.seconds) s"] })
    for (text, reason) in [
      ("did not receive the beacon", Absence.notReceived), ("did not report", .notReported),
    ] {
      let names = site.receivers.map(\.name).filter { absence(in: room, of: $0) == reason }
      if !names.isEmpty { Swift.print("  \(text): \(names.joined(separator: ", "))") }
    }
  }

  /// The number of receivers that receive the beacon, and the strongest levels.
  fileprivate func progress(in room: String) -> String {
    let levels = received(in: room).sorted { $0.rssi > $1.rssi }
    let strongest = levels.prefix(3).map { "\($0.receiver) \($0.rssi) dBm" }
    return (["received by \(levels.count)"] + strongest).joined(separator: ", ")
  }

  private func received(in room: String) -> [Site.Level] {
    levels(in: room).filter { absence(in: room, of: $0.receiver) == nil }
  }
}

/// The lines of standard input, for which a canceled task does not wait.
private struct StandardInputLines {
  private var bytes: [UInt8] = []
  private(set) var hasEnded = false

  /// Returns the next line without its end, or `nil` at the end of the input. What was typed before
  /// on a terminal is left out.
  mutating func next() async throws -> String? {
    if isatty(STDIN_FILENO) == 1 {
      tcflush(STDIN_FILENO, TCIFLUSH)
      bytes = []
    }
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes.removeSubrange(...end) }
        return String(decoding: bytes[..<end], as: UTF8.self)
      }
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&input, 1, 0) > 0 else {
        try await Task.sleep(for: .milliseconds(50))
        continue
      }
      var part = [UInt8](repeating: 0, count: 1024)
      let count = try unsafe part.withUnsafeMutableBytes {
        try unsafe FileDescriptor.standardInput.read(into: $0)
      }
      guard count > 0, bytes.count < 1 << 16 else {
        hasEnded = true
        return nil
      }
      bytes += part[..<count]
    }
  }
}
