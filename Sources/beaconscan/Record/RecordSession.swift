import CaptureFiles
import CoreLocation
import Scanning
import Synchronization

/// Records what a source hears, until it is over.
struct RecordSession {
  let configuration: RecordingConfiguration
  /// Whether nothing is said but errors.
  let isQuiet: Bool

  private let gate = RecorderGate()
  private let remarks = Remarks()

  init(_ configuration: RecordingConfiguration, isQuiet: Bool) {
    self.configuration = configuration
    self.isQuiet = isQuiet
  }

  /// What the recorder says, until the thread that writes to the terminal has time for it.
  private final class Remarks: Sendable {
    private let waiting = Mutex<[String]>([])

    func add(_ remark: String) { waiting.withLock { $0.append(remark) } }

    func take() -> [String] {
      waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
  }

  /// Records.
  ///
  /// - Parameter source: What is listened to.
  /// - Throws: `CommandError` where it cannot be opened, and where not everything was recorded.
  func run(_ source: SourceOptions) throws {
    let scan = try ManagedScan(source.open(packetTap: gate.tap), showsProgress: false)
    let recorder = try begin(isLive: scan.isLive)
    var interest = ServiceInterest()
    (interest.inSightings, interest.inEveryBeacon) = (true, true)
    scan.services.ask(interest, for: scan.manager)
    let line = isQuiet ? nil : StatusLine()
    let began = MonotonicClock.now()
    func summary(_ status: RecordingStatus) -> RecordSummary {
      RecordSummary(
        status: status, counts: scan.scanner.counts, beacons: scan.services.beaconsHeard.count,
        seconds: Double(MonotonicClock.now() - began) / 1e9, isCutShort: recorder.isFull)
    }
    func sayRemarks() {
      for remark in remarks.take() {
        line?.clear()
        printError("beaconscan: \(remark)")
      }
    }
    var failure: CommandError?
    var interrupt: (any Error)?
    do {
      failure = try scan.run {
        sayRemarks()
        line?.show { summary(recorder.status).progress }
        return !recorder.isFull && !recorder.status.isOver
      } _: { news in
        if case .health(let health) = news, !isQuiet {
          line?.clear()
          printError("beaconscan: \(health.sentence)")
        }
        return recorder.isFull ? .enough : .more
      }
    } catch {
      interrupt = error
    }
    let end = summary(recorder.finish())
    line?.clear()
    if end.status.isOver { throw ClosedPipe() }
    sayRemarks()
    if let interrupt { throw interrupt }
    if !isQuiet { printError("beaconscan: \(end.sentence)") }
    if let failure { throw failure }
    try check(end, of: scan)
  }

  /// Begins the recording.
  private func begin(isLive: Bool) throws -> CaptureRecorder {
    var configuration = configuration
    configuration.waitsForDisk = !isLive
    do throws(RecordingError) {
      // A recording that is recorded anew has times of its own.
      let recorder = try CaptureRecorder(
        configuration, startingAt: isLive ? WallClock.now() : nil,
        remark: { [remarks] in remarks.add($0) })
      gate.open(recorder)
      return recorder
    } catch {
      throw CommandError(.cannotCreate, "\(error)")
    }
  }

  /// Whether what was asked for is there.
  private func check(_ end: RecordSummary, of scan: ManagedScan) throws {
    if let loss = end.loss { throw CommandError(.ioError, loss) }
    guard !scan.isLive, end.status.packets == 0, end.counts.packets > 0 else { return }
    throw CommandError(
      .badData,
      "\(scan.scanner.name): none of its \(end.counts.packets) packets is an HCI packet; only those "
        + "can be recorded, not what a sniffer heard")
  }
}
