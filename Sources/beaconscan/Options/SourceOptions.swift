import Adapters
public import ArgumentParser
public import CaptureFiles
public import LiveScanning
import Records
public import Scanning

/// Where the sightings come from: recordings, or adapters.
struct SourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.",
      discussion: "May be given several times: the recordings are merged by time.",
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
      "Stop after so long, of the recording's time where there is one: 10, 10s, 250ms or 15m.",
      valueName: "time"))
  var duration: Seconds?

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

  @Option(
    help: ArgumentHelp(
      "The configuration file. (default: ~/.config/beaconscan.toml and /etc/beaconscan.toml)",
      valueName: "file"), completion: .file(extensions: ["toml"]))
  var config: String?

  /// Adds recordings that stand without an option, and checks that all options fit together.
  mutating func check(adding files: [String] = []) throws {
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
    if adapter.count > 1, adapter.contains(.all) {
      throw ValidationError("--adapter all means every adapter; name no other beside it.")
    }
    if !replay.isEmpty, let liveOption {
      throw ValidationError(
        "\(liveOption) is for live scanning, and \(replay[0]) is a recording; give one of them.")
    }
    let given = Settings.current.isGiven
    if isLive, follow && given("follow") || speed != .max && given("speed") {
      let option = follow ? "--follow" : "--speed"
      throw ValidationError("\(option) belongs to a recording; name it with --replay FILE.")
    }
  }

  /// Whether adapters receive.
  var isLive: Bool { replay.isEmpty }

  /// An option that only live scanning has and that the command line gave.
  var liveOption: String? {
    let given = Settings.current.isGiven
    if !adapter.isEmpty, given("adapter") { return "--adapter" }
    if backend != .auto, given("backend") { return "--backend" }
    if active, given("active") { return "--active" }
    return coded && given("coded") ? "--coded" : nil
  }

  /// Whether more than one adapter may scan.
  var hasSeveralAdapters: Bool { isLive && (adapter.count > 1 || adapter.contains(.all)) }

  /// Opens the recordings, or the adapters.
  ///
  /// - Parameters:
  ///   - offsets: How much stronger than true adapters receive, in dB: the scanner subtracts that.
  ///   - packetTap: Is handed every HCI packet.
  ///   - reportTap: Is handed every advertising report.
  /// - Returns: A scanner that can be used.
  /// - Throws: `CommandError` where it cannot.
  func open(
    offsets: [AdapterOffset] = [], packetTap: PacketTap? = nil, reportTap: ReportTap? = nil
  ) throws -> any Scanner {
    guard isLive else {
      let scanner = try openRecordings(offsets: offsets, packetTap: packetTap)
      if let reportTap { scanner.tap(reportTap) }
      return scanner
    }
    let names = adapter.flatMap { selection -> [AdapterName] in
      if case .these(let names) = selection { names } else { [] }
    }
    if let option = reportTap != nil ? "--all" : rawOption(packetTap), backend == .bluez {
      throw CommandError(
        .usage, "\(option) needs raw HCI sockets, which --backend bluez does not use; leave out one"
      )
    }
    var configuration = LiveScanner.Configuration()
    configuration.backend = backend
    configuration.adapters =
      adapter.contains(.all) ? .all : names.isEmpty ? .firstUsable : .these(names)
    configuration.isActive = active
    configuration.usesCodedPHY = coded
    configuration.packetTap = packetTap
    configuration.reportTap = reportTap
    configuration.offsets = offsets.compactMap { offset in
      offset.adapter.map { ($0, offset.decibels) }
    }
    let scanner = LiveScanner(configuration)
    // Where anything will do and nothing can be used, this has one diagnosis with `doctor`.
    if backend == .auto, adapter.isEmpty, packetTap == nil, reportTap == nil,
      scanner.availability != .available,
      let error = CommandError(preventing: Doctor.findings())
    {
      throw error
    }
    return limit(scanner)
  }

  /// What was requested and only raw HCI sockets can do.
  private func rawOption(_ packetTap: PacketTap?) -> String? {
    packetTap != nil ? "record" : coded ? "--coded" : active ? "--active" : nil
  }

  /// Opens the recordings.
  func openRecordings(
    offsets: [AdapterOffset] = [], packetTap: PacketTap? = nil
  ) throws -> ReplayScanner {
    var numbered: [UInt16: Double] = [:]
    for offset in offsets {
      guard let name = offset.adapter else { continue }
      guard case .number(let number) = name else {
        throw CommandError(
          .usage,
          "--adapter-offset \(name)=…: recordings have adapters' numbers, not their "
            + "addresses; name it as hci0, hci1 and so on")
      }
      numbered[number] = offset.decibels
    }
    do throws(CaptureError) {
      return try Interrupt.endingAtOnce { () throws(CaptureError) in
        try ReplayScanner(
          paths: replay, speed: speed, follows: follow, duration: nanoseconds, offsets: numbered,
          packetTap: packetTap)
      }
    } catch {
      throw CommandError(error)
    }
  }

  /// A live scanner that ends after the time that was given.
  func limit(_ scanner: any Scanner) -> any Scanner {
    nanoseconds.map { LimitedScanner(scanner, duration: $0) } ?? scanner
  }

  private var nanoseconds: Int64? { duration.map { Int64($0.value * 1e9) } }
}

extension ReplayScanner.Speed: ExpressibleByArgument {
  /// Reads `max`, or a multiple such as `1x`.
  public init?(argument: String) { self.init(argument) }

  /// As it is given.
  public var defaultValueDescription: String {
    switch self {
    case .max: "max"
    case .times(let factor): "\(decimal(factor, 3))x"
    }
  }
}

extension AdapterName: ExpressibleByArgument {}

extension LiveScanner.Backend: ExpressibleByArgument {}

extension AdapterSelection: ExpressibleByArgument {
  /// Reads the name of an adapter, or `all`.
  public init?(argument: String) {
    if argument == "all" {
      self = .all
    } else if let name = AdapterName(argument) {
      self = .these([name])
    } else {
      return nil
    }
  }
}
