import ArgumentParser
import Clocks
import FleetEngine
import FleetReports
import Logging
import Synchronization

/// Sends recorded reports to the engine, as their receivers did.
struct PublishReports: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Sends recorded or simulated reports to the engine, in their own time.",
    discussion: """
      The first report of each file is sent now, and its time becomes now; the others follow as \
      they did. Repeats after a failure are sent until the engine has stored them.

      EXAMPLES
        beaconscan-fleet publish demo/reports.jsonl
        beaconscan-fleet publish demo/reports.jsonl --speed 60
        beaconscan-fleet publish sites/*/reports.jsonl --speed max
      """)

  enum Speed: ExpressibleByArgument {
    case times(Double)
    case max

    init?(argument: String) {
      if argument == "max" {
        self = .max
      } else if let number = Double(argument), 0.01...10_000 ~= number {
        self = .times(number)
      } else {
        return nil
      }
    }
  }

  @Argument(help: "The files of reports, one a line.")
  var reports: [String]

  @Option(
    help: ArgumentHelp(
      "How many times as fast as recorded, 0.01 to 10000, or max.", valueName: "number"))
  var speed = Speed.times(1)

  @OptionGroup var engine: EngineOptions

  func run() async throws {
    let recorded = try RecordedReports(reports, speed: speed)
    let configuration = try engine.configuration()
    let publisher: ReportPublisher
    do throws(EngineError) {
      publisher = try ReportPublisher(configuration) { recorded.next() }
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
    let began = MonotonicTime.now
    try await Interrupt.canceling { await publisher.run() }
    if let failure = recorded.failure { throw failure }
    let seconds = MonotonicTime.now.seconds(since: began)
    print(
      "the engine has stored \(publisher.count) reports in \((seconds * 10).rounded() / 10) s")
  }
}

/// The reports of some files, in the order of their times since the first one of each file.
private final class RecordedReports: Sendable {
  private struct Source {
    var lines: InputLines
    var next: ReceiverReport
    /// The difference between the new time of its reports and their own, in nanoseconds.
    var shift: Int64
  }

  private struct State {
    var sources: [Source] = []
    var failure: FleetError?
  }

  private let state: Mutex<State>
  private let speed: PublishReports.Speed
  private let began = WallClockTime.now.nanoseconds
  /// A start that no receiver had before.
  private let boot = UInt64.random(in: 1...UInt64.max)

  init(_ paths: [String], speed: PublishReports.Speed) throws {
    self.speed = speed
    var sources: [Source] = []
    for path in paths {
      let lines = try InputLines(path)
      guard let first = try lines.nextReport() else {
        throw FleetError(.badData, "\(path) has no report")
      }
      sources.append(Source(lines: lines, next: first, shift: began - first.time.nanoseconds))
    }
    state = Mutex(State(sources: sources))
  }

  var failure: FleetError? { state.withLock { $0.failure } }

  func next() -> ReportPublisher.Next {
    state.withLock { state in
      let times = state.sources.map { $0.next.time.nanoseconds + $0.shift }
      guard let first = times.indices.min(by: { times[$0] < times[$1] }) else { return .end }
      if case .times(let factor) = speed {
        let due = Double(times[first] - began) / factor
        let left = due - Double(WallClockTime.now.nanoseconds - began)
        if left > 0 { return .pause(left / 1e9) }
      }
      var report = state.sources[first].next
      report.time = WallClockTime(nanoseconds: times[first])
      report.boot ^= boot
      do throws(FleetError) {
        if let following = try state.sources[first].lines.nextReport() {
          state.sources[first].next = following
        } else {
          state.sources.remove(at: first)
        }
      } catch {
        state.failure = error
        state.sources = []
      }
      return .report(
        routingKey: FleetTopic.routingKey(ofSite: report.site, receiver: report.receiver),
        body: report.json)
    }
  }
}
