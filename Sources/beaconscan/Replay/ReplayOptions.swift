public import ArgumentParser
public import CaptureFiles
import Records
import Scanning

/// Which recordings are replayed, and how.
struct ReplayOptions: ParsableArguments {
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
    help: ArgumentHelp(
      "Stop after so many seconds, of the recording's time where there is one.",
      valueName: "seconds"))
  var duration: Double?

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError("--duration must be a positive number of seconds.")
    }
    if replay.filter({ $0 == "-" }).count > 1 {
      throw ValidationError("--replay - can be given once: there is one standard input.")
    }
  }

  /// ``duration`` in nanoseconds.
  var nanoseconds: Int64? { duration.map { Int64($0 * 1e9) } }

  /// Opens the recordings.
  ///
  /// - Parameters:
  ///   - offsets: How much stronger than true adapters receive, in dB.
  ///   - packetTap: Is handed every HCI packet.
  /// - Returns: The scanner.
  /// - Throws: `CommandError` where one cannot be opened.
  func open(offsets: [(AdapterName, Double)] = [], packetTap: PacketTap? = nil) throws
    -> ReplayScanner
  {
    guard !replay.isEmpty else {
      throw CommandError(.usage, "no source: name a recording with --replay FILE")
    }
    var numbered: [UInt16: Double] = [:]
    for (name, offset) in offsets {
      guard case .number(let number) = name else {
        throw CommandError(
          .usage,
          "--adapter-offset \(name)=…: recordings have adapters' numbers, not their "
            + "addresses; name it as hci0, hci1 and so on")
      }
      numbered[number] = offset
    }
    do throws(CaptureError) {
      return try ReplayScanner(
        paths: replay, speed: speed, follows: follow, duration: nanoseconds, offsets: numbered,
        packetTap: packetTap)
    } catch {
      throw CommandError(error)
    }
  }
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
