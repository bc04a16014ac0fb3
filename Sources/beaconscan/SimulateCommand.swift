import ArgumentParser
import CaptureFiles
import Frontends
import Glibc
import Records
import Simulation
import SystemPackage

struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Write a capture from a scenario whose truth is known.",
    discussion: """
      The scenario is a JSON file that names beacons, how they move, and what else is on air; \
      docs/scenarios.md has every key. The same scenario and seed give the same bytes. Beside the \
      recording stands its truth: every sighting that a decoder must find, and when each beacon \
      comes, goes and changes its zone.

      EXAMPLES
        beaconscan simulate captures/visitor.json --output visitor.btsnoop
        beaconscan range --replay visitor.btsnoop
      """)

  enum RecordingFormat: String, CaseIterable {
    case btsnoop, pcapng
  }

  @Argument(.file("scenario", "The scenario file; - is standard input.", endings: ["json"]))
  var scenario: String

  @Option(
    Setting(
      SettingDescription(
        "output", letter: "o", "Where the recording goes; - is standard output.", "file",
        completion: .file), valid: { _ in "write the name of a file" }, read: { $0 }))
  var output: String

  @Option(
    .choice(
      "format", "The recording's format.", "format", shown: "by the output's ending, else btsnoop"))
  var format: RecordingFormat?

  @Option(
    .file(
      "truth", "Where the truth goes; - is standard output.",
      shown:
        "the output's name with .truth.jsonl; none if the recording goes to standard output"))
  var truth: String?

  @Option(
    .whole(
      "seed", "Begin the random numbers elsewhere than the scenario does.", in: 0 ... .max))
  var seed: UInt64?

  @Flag(.flag("force", "Replace the files if they are there.")) var force: Bool

  func validate() throws {
    if output == "-", truth == "-" {
      throw ValidationError("The recording and the truth cannot both go to standard output.")
    }
    if scenario.isEmpty {
      throw ValidationError("The scenario must have a name; - is standard input.")
    }
    if format == nil { try checkEnding(of: output) }
    if output != "-", FilePath(output) == FilePath(truthPath ?? "") {
      throw ValidationError("The recording and the truth cannot be the same file.")
    }
  }

  func run() throws {
    if output == "-", isatty(STDOUT_FILENO) != 0 {
      throw CommandError(
        .usage,
        "a recording is binary and standard output is a terminal; give --output a file name")
    }
    var read = try readScenario()
    if let seed { read.seed = seed }
    let isPcapng = format.map { $0 == .pcapng } ?? output.hasSuffix(".pcapng")
    let recording = try OutputFile(output, replacesFile: force)
    let truth = try truthPath.map { try OutputFile($0, replacesFile: force) }
    var simulator = Simulator(read, format: isPcapng ? .pcapng : .btsnoop)
    let line = StatusLine()
    var bytes: [UInt8] = []
    var lines: [UInt8] = []
    var isMore = true
    while isMore {
      isMore = simulator.next(recording: &bytes, truth: &lines)
      try recording.write(bytes)
      try truth?.write(lines)
      bytes.removeAll(keepingCapacity: true)
      lines.removeAll(keepingCapacity: true)
      line?.show {
        "\(fixed(simulator.elapsed / read.duration * 100, 0)) % of \(Int(read.duration)) s simulated"
      }
      if Interrupt.isRequested {
        line?.clear()
        throw CommandError(.interrupted, "interrupted before the recording was whole; none is left")
      }
    }
    line?.clear()
    try recording.finish()
    try truth?.finish()
  }

  private var truthPath: String? {
    if let truth { return truth }
    guard output != "-" else { return nil }
    var path = FilePath(output)
    let stem = path.stem ?? "recording"
    path.removeLastComponent()
    return path.appending("\(stem).truth.jsonl").string
  }

  private func readScenario() throws -> Scenario {
    let name = scenario == "-" ? "standard input" : scenario
    let json = try Interrupt.endingAtOnce { () throws(CommandError) in
      try readFile(scenario, "scenario", upTo: Self.maximumBytes, isOnInput: scenario == "-")
    }
    guard json.count <= Self.maximumBytes else {
      throw CommandError(
        .badData, "\(name): a scenario has at most \(Self.maximumBytes) bytes; make it shorter")
    }
    do throws(ScenarioError) {
      return try Scenario(json: json)
    } catch {
      throw CommandError(.badData, "\(name): \(error); docs/scenarios.md has every key")
    }
  }

  private static let maximumBytes = 16 * 1024 * 1024
}
