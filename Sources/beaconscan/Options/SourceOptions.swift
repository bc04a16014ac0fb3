public import ArgumentParser
public import CaptureFiles
import Frontends
public import LiveScanning
import Ranging
import Records
public import Scanning

struct RecordingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.",
      discussion:
        "May be given several times: the recordings are merged by time. For locate, inspect and the circles of "
        + "monitor, also tracks of NMEA 0183, GPX or gpsd JSON.",
      valueName: "file"), completion: .file())
  var replay: [String] = []

  @Option(
    help: ArgumentHelp(
      "How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.",
      valueName: "speed"))
  var speed = ReplayScanner.Speed.max

  @Flag(help: "Go on when the recording's end is reached: it is still being written.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "Stop after so long: 10, 10s, 250ms or 15m.",
      discussion: "Of a recording, its own time counts.", valueName: "time"))
  var duration: Seconds?

  var nanoseconds: Int64? { duration.map { Int64($0.value * 1e9) } }

  /// Adds recordings given without an option, and checks all.
  mutating func check(adding files: [String], beside liveOption: String?) throws {
    // The command line takes precedence over recordings set by files and variables.
    if !Settings.current.isGiven("replay"), !files.isEmpty || liveOption != nil { replay = [] }
    replay += files
    try checkDuration(duration)
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

/// The source of sightings: recordings or adapters.
struct SourceOptions: ParsableArguments {
  @OptionGroup var recordings: RecordingOptions

  @Option(
    help: ArgumentHelp(
      "Scan with this adapter: hci0, or its address AA:BB:CC:DD:EE:FF; all for every adapter.",
      discussion:
        "May be given several times. Without it, and without --replay: the first that works.",
      valueName: "adapter"))
  var adapter: [AdapterSelection] = []

  @Option(
    help: ArgumentHelp(
      "How to receive: hci (raw HCI sockets), bluez (bluetoothd, over D-Bus) or auto.",
      discussion:
        "auto uses raw HCI sockets where they are permitted and bluetoothd does not scan, and otherwise "
        + "bluetoothd. Where one of them receives nothing for two seconds, it uses the other."))
  var backend = LiveScanner.Backend.auto

  @Flag(
    help: ArgumentHelp(
      "Ask advertisers for their scan responses too, which costs them power.",
      discussion: "Needs raw HCI sockets. bluetoothd asks for them whenever strengths are needed."))
  var active = false

  @Flag(
    help: ArgumentHelp(
      "Receive on the Coded PHY too, where the adapter has it.",
      discussion: "Needs raw HCI sockets."))
  var coded = false

  @OptionGroup var configuration: ConfigurationOption

  /// Adds recordings given without an option, and checks that all options are compatible.
  mutating func check(adding files: [String] = []) throws {
    try recordings.check(adding: files, beside: liveOption)
    if adapter.count > 1, adapter.contains(.all) {
      throw ValidationError("--adapter all means every adapter; name no other beside it.")
    }
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

  var liveOption: String? {
    let given = Settings.current.isGiven
    if !adapter.isEmpty, given("adapter") { return "--adapter" }
    if backend != .auto, given("backend") { return "--backend" }
    if active, given("active") { return "--active" }
    return coded && given("coded") ? "--coded" : nil
  }

  var hasSeveralAdapters: Bool { isLive && (adapter.count > 1 || adapter.contains(.all)) }

  /// Opens the recordings or the adapters. With `waits`, adapters need not be usable yet.
  ///
  /// The scanner subtracts the offsets, in dB. Recordings must contain the adapters that options of
  /// the command line name. The taps receive every HCI packet and every advertising report.
  ///
  /// - Throws: `CommandError` or `CaptureError` if the scanner cannot be used.
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
    // Without other choices, this reports the same diagnosis as `doctor`.
    if !waits, backend == .auto, adapter.isEmpty, packetTap == nil, reportTap == nil,
      scanner.availability != .available,
      let error = CommandError(preventing: Doctor.findings())
    {
      throw error
    }
    return limit(scanner)
  }

  /// The option that needs raw HCI sockets, if one was given.
  private func rawOption(_ packetTap: PacketTap?) -> String? {
    packetTap != nil ? "record" : coded ? "--coded" : active ? "--active" : nil
  }

  func limit(_ scanner: any Scanner) -> any Scanner {
    recordings.nanoseconds.map { LimitedScanner(scanner, duration: $0) } ?? scanner
  }
}

extension RecordingOptions {
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
      // Faults of a recording are reported when it is replayed.
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

extension ReplayScanner.Speed: ExpressibleByArgument {
  /// Reads `max` or a multiple such as `1x`.
  public init?(argument: String) { self.init(argument) }

  /// The text for the default value.
  public var defaultValueDescription: String {
    switch self {
    case .max: "max"
    case .times(let factor): "\(decimal(factor, 3))x"
    }
  }
}

extension AdapterName: ExpressibleByArgument {
  /// The adapters of this machine, without the connections that the kernel lists with them.
  public static var defaultCompletionKind: CompletionKind {
    .shellCommand("ls /sys/class/bluetooth 2>/dev/null | grep -v :")
  }
}

extension LiveScanner.Backend: ExpressibleByArgument {}

extension AdapterSelection: ExpressibleByArgument {
  /// Reads an adapter's name or `all`.
  public init?(argument: String) {
    if argument == "all" {
      self = .all
    } else if let name = AdapterName(argument) {
      self = .these([name])
    } else {
      return nil
    }
  }

  /// The adapters of this machine.
  public static var defaultCompletionKind: CompletionKind { AdapterName.defaultCompletionKind }
}
