import ArgumentParser
import CaptureFiles
import Frontends
import LiveScanning
import Ranging
import Records
import Scanning
import SystemPackage

/// How fast and how long a source is read.
struct PaceOptions: ParsableArguments {
  @Option(Inputs.speed.rare) var speed: ReplayScanner.Speed
  @Option(Inputs.duration.rare) var duration: Seconds?
}

struct RecordingOptions: ParsableArguments {
  @Option(Inputs.replay) var replay: [String]
  @Flag(Inputs.follow.rare) var follow: Bool
  /// The pace, which a subcommand sets from those options of it that it has.
  var speed = ReplayScanner.Speed.max
  var duration: Seconds?

  enum CodingKeys: CodingKey { case replay, follow }

  var nanoseconds: Int64? { duration?.nanoseconds }

  mutating func set(_ pace: PaceOptions) {
    speed = pace.speed
    duration = pace.duration
  }

  mutating func check(adding files: [String], beside liveOption: String?) throws {
    // The command line takes precedence over recordings set by files and variables.
    if !Settings.current.isGiven("replay"), !files.isEmpty || liveOption != nil { replay = [] }
    replay += files
    if replay.contains("") {
      throw ValidationError("A recording must have a name; - is standard input.")
    }
    for (index, file) in replay.enumerated() where replay[..<index].contains(file) {
      throw ValidationError(
        file == "-"
          ? "- is given twice; there is one standard input."
          : "\(file) is given twice; its packets would count twice.")
    }
  }
}

struct AdapterOptions: ParsableArguments {
  @Option(Inputs.adapter) var adapter: [AdapterSelection]
  @Option(Inputs.backend.rare) var backend: LiveScanner.Backend
  @Flag(Inputs.active.rare) var active: Bool
  @Flag(Inputs.coded.rare) var coded: Bool

  func check() throws {
    if adapter.count > 1, adapter.contains(.all) {
      throw ValidationError("--adapter all means every adapter; name no other beside it.")
    }
  }

  var liveOption: String? {
    let given = Settings.current.isGiven
    if !adapter.isEmpty, given("adapter") { return "--adapter" }
    if backend != .auto, given("backend") { return "--backend" }
    if active, given("active") { return "--active" }
    return coded && given("coded") ? "--coded" : nil
  }

  /// Opens the adapters, for a time if it is given. With `waits`, they need not be usable yet.
  func open(
    for duration: Seconds? = nil, offsets: [AdapterOffset] = [], packetTap: PacketTap? = nil,
    reportTap: ReportTap? = nil, waits: Bool = false
  ) throws -> any Scanner {
    if let option = reportTap != nil ? "--all" : rawOption(packetTap), backend == .bluez {
      throw CommandError(
        .usage, "\(option) needs raw HCI sockets, which --backend bluez does not use; leave out one"
      )
    }
    var configuration = LiveScanner.Configuration()
    configuration.backend = backend
    configuration.adapters = AdapterSelection(adapter)
    configuration.isActive = active
    configuration.usesCodedPHY = coded
    configuration.packetTap = packetTap
    configuration.reportTap = reportTap
    configuration.offsets = offsets.compactMap { offset in
      offset.adapter.map { ($0, offset.decibels) }
    }
    let scanner = LiveScanner(configuration)
    if !waits, backend != .bluez, scanner.availability != .available {
      // This reports the same diagnosis as `doctor`, whose choices these are not, but for the kernel.
      let isChosen = backend != .auto || !adapter.isEmpty || packetTap != nil || reportTap != nil
      let findings = Doctor.findings().filter { !isChosen || $0.subject == .kernel }
      if let error = CommandError(preventing: findings) { throw error }
    }
    return duration.map { LimitedScanner(scanner, duration: $0.nanoseconds) } ?? scanner
  }

  private func rawOption(_ packetTap: PacketTap?) -> String? {
    packetTap != nil ? "record" : coded ? "--coded" : active ? "--active" : nil
  }
}

struct SourceOptions: ParsableArguments {
  @OptionGroup(title: "Input") var recordings: RecordingOptions
  @OptionGroup(title: "Adapter") var adapters: AdapterOptions
  @OptionGroup(title: "Input") var configuration: ConfigurationOption

  var adapter: [AdapterSelection] {
    get { adapters.adapter }
    set { adapters.adapter = newValue }
  }

  mutating func check(adding files: [String] = []) throws {
    let liveOption = adapters.liveOption
    try recordings.check(adding: files, beside: liveOption)
    try adapters.check()
    if let file = recordings.replay.first, let liveOption {
      throw ValidationError(
        "\(liveOption) is for live scanning, and \(file) is a recording; give one of them.")
    }
    let given = Settings.current.isGiven
    if isLive,
      recordings.follow && given("follow") || recordings.speed != .max && given("speed")
    {
      let option = recordings.follow ? "--follow" : "--speed"
      throw ValidationError("\(option) belongs to a recording; name it with --replay FILE.")
    }
  }

  var isLive: Bool { recordings.replay.isEmpty }
  var hasSeveralAdapters: Bool { isLive && (adapter.count > 1 || adapter.contains(.all)) }

  /// Opens the recordings or the adapters. With `waits`, adapters need not be usable yet. The
  /// scanner subtracts the offsets, in dB. The taps receive every HCI packet and every advertising
  /// report.
  func open(
    offsets: [AdapterOffset] = [], sides: Sides? = nil, packetTap: PacketTap? = nil,
    reportTap: ReportTap? = nil, waits: Bool = false
  ) throws -> any Scanner {
    guard isLive else {
      let scanner = try recordings.openCaptures(
        offsets: offsets, sides: sides, packetTap: packetTap)
      if let reportTap { scanner.tap(reportTap) }
      return scanner
    }
    return try adapters.open(
      for: recordings.duration, offsets: offsets, packetTap: packetTap, reportTap: reportTap,
      waits: waits)
  }

  func limit(_ scanner: any Scanner) -> any Scanner {
    recordings.duration.map { LimitedScanner(scanner, duration: $0.nanoseconds) } ?? scanner
  }
}

extension RecordingOptions {
  /// Throws for a file that is not a recording. Of one that is damaged, the part before counts.
  func checkFormats() throws(CaptureError) {
    for path in replay where !follow && (try? Stat(FilePath(path)))?.type == .regular {
      var collector = SightingCollector()
      do throws(CaptureError) {
        _ = try CaptureReader(path: path).read(into: &collector)
      } catch  where collector.counts.packets > 0 {
        continue
      }
    }
  }

  func openCaptures(
    offsets: [AdapterOffset] = [], sides: Sides? = nil, packetTap: PacketTap? = nil
  ) throws -> ReplayScanner {
    // Settings of a file for the machine's adapters need not match each recording.
    let given = Settings.current.isGiven
    var numbered: [UInt16: Double] = [:]
    var needed: [UInt16: String] = [:]
    for offset in offsets {
      switch offset.adapter {
      case .number(let number):
        numbered[number] = offset.decibels
        if given("adapter-offset") { needed[number] = "--adapter-offset hci\(number)=…" }
      case .address(let address) where given("adapter-offset"):
        throw CommandError(
          .usage,
          "--adapter-offset \(address)=…: recordings have adapters' numbers, not their "
            + "addresses; name it as hci0, hci1 and so on")
      case .address, nil: break
      }
    }
    if let sides, given("sides") {
      for case .number(let number) in [sides.left, sides.right] {
        needed[number] = needed[number] ?? "--sides hci\(number)"
      }
    }
    let scanner = try Interrupt.endingAtOnce {
      try ReplayScanner(
        paths: replay, speed: speed, follows: follow, duration: nanoseconds, offsets: numbered,
        packetTap: packetTap)
    }
    // Pipes can be read only once.
    let canBeReadTwice = !replay.contains("-") && scanner.statuses.allSatisfy { $0.size != nil }
    if !needed.isEmpty, !follow, canBeReadTwice { try checkAdapters(needed) }
    return scanner
  }

  /// Checks that the recordings have sightings by the given adapters. Reads no more than needed.
  private func checkAdapters(_ options: [UInt16: String]) throws {
    let scanner = try ReplayScanner(paths: replay, duration: nanoseconds)
    var missing = Set(options.keys)
    var present: Set<UInt16> = []
    var sightings: [Sighting] = []
    while !missing.isEmpty, !Interrupt.isRequested {
      guard let progress = try? scanner.receive(for: .ranging, until: nil, into: &sightings) else {
        return
      }
      for sighting in sightings { present.insert(sighting.adapter) }
      missing.subtract(present)
      if progress.isOver { break }
    }
    // An interrupted check, or a recording without sightings, proves nothing.
    guard !Interrupt.isRequested, let option = missing.min().flatMap({ options[$0] }),
      !present.isEmpty
    else { return }
    let names = present.sorted().map { "hci\($0)" }.joined(separator: ", ")
    throw CommandError(
      .usage,
      "\(option): no sighting of \(scanner.name) was received by it; name an adapter that has "
        + "some: \(names)")
  }
}

extension Seconds {
  fileprivate var nanoseconds: Int64 { Int64(value * 1e9) }
}
