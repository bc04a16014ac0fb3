public import ArgumentParser
public import CaptureFiles

/// Where the packets come from.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "A recording: btsnoop, pcap or pcapng, gzip-compressed or not; - is standard input.",
      discussion: "May be given several times: the recordings are merged by time.",
      valueName: "file"),
    completion: .file())
  var replay: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How fast a recording is replayed: max, or a multiple of its own time such as 1x or 10x.",
      valueName: "speed"))
  var speed = ReplayScanner.Speed.max

  @Flag(name: .long, help: "Go on when the recording's end is reached: it is still being written.")
  var follow = false

  @Option(
    name: .long,
    help: ArgumentHelp("Stop after so many seconds of the recording's time.", valueName: "seconds"))
  var duration: Double?

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError("--duration must be a positive number of seconds.")
    }
    if replay.filter({ $0 == "-" }).count > 1 {
      throw ValidationError("--replay - can be given once: there is one standard input.")
    }
  }

  /// Opens the recordings.
  func open() throws -> ReplayScanner {
    guard !replay.isEmpty else {
      throw CommandError(
        .usage, "no source: name a recording with --replay FILE (live scanning is not built yet)")
    }
    do throws(CaptureError) {
      return try ReplayScanner(
        paths: replay, speed: speed, follows: follow, duration: duration.map { Int64($0 * 1e9) })
    } catch {
      throw CommandError(error)
    }
  }
}

extension ReplayScanner.Speed: ExpressibleByArgument {
  /// Reads `max`, or a multiple such as `1x`.
  public init?(argument: String) {
    self.init(argument)
  }

  /// As it is given.
  public var defaultValueDescription: String {
    switch self {
    case .max: "max"
    case .times(let factor): "\(decimal(factor, 3))x"
    }
  }
}
