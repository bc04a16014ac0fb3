import ArgumentParser
import CaptureFiles
import Frontends
import Glibc
import Records
import Scanning
import ServiceCore
import Synchronization

struct CalibrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibrate",
    abstract:
      "Measure a beacon at known places: its power at 1 m, the site's exponent, a boundary.",
    discussion: """
      Live, it asks for the beacon at each place in turn, and goes on when it has received enough: \
      10 seconds and more. Lift the beacon off metal, keep bodies out of the way, and move it by a \
      hand's width now and then. From recordings: one for each place, or the seconds of one that \
      belong to each. With --at edge, inside and outside it finds the boundary of a region.

      It prints the options that use the result, with their errors (half of a 95 % interval), and \
      refuses what cannot be right: too few packets, a beacon that moves, a body in the way. With \
      --save the result is added to the configuration file and is used from then on.

      EXAMPLES
        beaconscan calibrate --at 1 --at 1 --at 3 --at 6 --save --name forklift
        beaconscan calibrate --at edge --at inside --at outside
        beaconscan calibrate --at 0.3=captures/visitor.btsnoop@38-51 \\
          --at 2=captures/visitor.btsnoop@17-34 --at 2=captures/visitor.btsnoop@55-68
      """)

  @Option(
    Setting(
      "at",
      "A place: the distance in meters, or edge, inside or outside; its recording, and the seconds of that.",
      "place[=file[@from-to]]",
      details: "May be given several times, in the order of measuring.", shown: "1, 2 and 4",
      completion: .file,
      valid:
        "write a distance from 0.1 to 100 meters, edge, inside or outside, and =FILE or =FILE@FROM-TO "
        + "where it is recorded, in seconds and with FROM before TO",
      read: CalibrationPlace.init(argument:)))
  var at: [CalibrationPlace]

  @OptionGroup(title: "Adapter") var adapters: AdapterOptions
  @Option(Inputs.duration.rare) var duration: Seconds?
  @OptionGroup(title: "Input") var configuration: ConfigurationOption
  @OptionGroup(title: "Which beacons") var regions: RegionOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  @Flag(.flag("save", "Write the result to the configuration file, which uses it from then on."))
  var save: Bool

  @Option(
    .text("name", "With --save: the beacon's name.", "name", valid: "write a name such as lobby"))
  var name: String?

  private static let maximumPlaces = 32

  private var places: [CalibrationPlace] {
    at.isEmpty ? ["1", "2", "4"].compactMap(CalibrationPlace.init) : at
  }

  mutating func validate() throws {
    try regions.checkBeaconsOnly()
    try adapters.check()
    guard at.count <= Self.maximumPlaces else {
      throw ValidationError("--at may be given \(Self.maximumPlaces) times at most.")
    }
    guard save || name == nil else {
      throw ValidationError("--name is the name to save; add --save.")
    }
    let recorded = at.filter { $0.recording != nil }.count
    guard recorded == 0 || recorded == at.count else {
      throw ValidationError("Give each --at a recording, as in --at 1=FILE, or none of them.")
    }
    let isLimited = duration != nil && Settings.current.isGiven("duration")
    if recorded > 0, let option = adapters.liveOption ?? (isLimited ? "--duration" : nil) {
      throw ValidationError(
        "\(option) is for live scanning, and --at names a recording; leave one of them out.")
    }
    let positions = Set(at.map(\.position))
    let boundary = positions.intersection(CalibrationPlace.Position.boundary)
    guard boundary.isEmpty || (boundary.count == 3 && at.count == 3) else {
      throw ValidationError(
        "A boundary needs the three places edge, inside and outside, once each and no other.")
    }
  }

  func run() async throws {
    if at.contains(where: { $0.recording != nil }) {
      try finish(try surveyRecordings(), to: StandardOutput())
    } else {
      try await run(
        BeaconSession(adapters.open(for: duration), showsProgress: false), to: StandardOutput())
    }
  }

  private func run(_ session: BeaconSession, to out: StandardOutput) async throws {
    let guide = Mutex(CalibrationGuide(places.map(\.position), regions: regions.all))
    let status = StatusLine()
    let isTerminal = isatty(STDIN_FILENO) == 1
    session.report(guide.withLock { $0.instruction })
    try session.client.startSightings()
    try await session.show(
      output, to: out, status: status,
      while: {
        let presses = returnPresses()
        return guide.withLock { guide in
          guide.receive(returns: presses, areKept: !isTerminal)
          if let progress = guide.progress { status?.show { progress } }
          return !guide.isOver
        }
      }
    ) { event in
      guard case .sightings(let sightings) = event else { return .more }
      let (lines, isOver) = guide.withLock { ($0.receive(sightings), $0.isOver) }
      if !lines.isEmpty { status?.clear() }
      for line in lines { session.report(line) }
      return isOver ? .enough : .more
    } end: { _ in
    }
    let ended = guide.withLock { $0 }
    if let failure = ended.failure { throw CommandError(.noInput, failure) }
    guard ended.isOver else {
      throw CommandError(.interrupted, "ended before every place was measured")
    }
    try finish(ended.survey, to: out)
  }

  private func surveyRecordings() throws -> CalibrationSurvey {
    var survey = CalibrationSurvey(regions: regions.all)
    for place in places {
      guard let path = place.recording else { continue }
      let scanner = try ReplayScanner(paths: [path])
      var sightings: [Sighting] = []
      var isOver = false
      var length = 0.0
      while !isOver, !Interrupt.isRequested {
        let progress = try scanner.receive(for: .ranging, until: nil, into: &sightings)
        isOver = progress.isOver
        for sighting in sightings {
          let seconds = progress.began.map { sighting.time.seconds(since: $0) } ?? 0
          length = max(length, seconds)
          if place.seconds.contains(seconds) { survey.receive(sighting) }
        }
      }
      if Interrupt.isRequested {
        throw CommandError(.interrupted, "interrupted before every place was measured")
      }
      guard place.seconds.lowerBound <= length else {
        throw CommandError(
          .badData,
          "\(path), \(place.position.name): the last beacon was received after "
            + "\(decimal(length, 1)) s, and FROM is \(decimal(place.seconds.lowerBound, 1)) s; "
            + "name a part before it: \(path)@FROM-TO")
      }
      do throws(CommandError) {
        try survey.finishPlace()
      } catch {
        throw CommandError(.badData, "\(path), \(place.position.name): \(error.message)")
      }
    }
    return survey
  }

  private func finish(_ survey: CalibrationSurvey, to out: StandardOutput) throws {
    let results = try CalibrationResult.all(survey, places.map(\.position))
    if output.format == .table {
      try out.write(lines: results.flatMap(\.lines))
    } else {
      try out.write(results, CalibrationResult.record, output.format)
    }
    try out.flush()
    guard save else { return }
    let path = try CalibrationRecord(
      results: results, name: name, region: regions.named.first?.name
    ).save(to: Settings.path(configuration.config) ?? Settings.userPath)
    if !output.quiet { printError("beaconscan: saved in \(path)") }
  }
}

/// Returns how often Return was pressed since the last call, or `nil` if no more can come.
private func returnPresses() -> Int? {
  var presses = 0
  var look = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
  while unsafe poll(&look, 1, 0) > 0 {
    var byte: UInt8 = 0
    guard unsafe read(STDIN_FILENO, &byte, 1) == 1 else { return presses > 0 ? presses : nil }
    presses += byte == UInt8(ascii: "\n") ? 1 : 0
  }
  return presses
}
