import CaptureFiles
import CoreLocation
import Scanning
import Synchronization

/// Records what a source hears, until it is over.
struct RecordSession {
  let configuration: RecordingConfiguration
  /// Whether nothing is said but errors.
  let isQuiet: Bool

  /// The most beacons that are told apart: with what is known of each, less than 4 MB.
  private static let mostBeacons = 32_768

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
    interest.inSightings = true
    scan.services.ask(interest, for: scan.manager)
    var beacons = BeaconTable<Int>(capacity: Self.mostBeacons)
    var tally = HealthTally()
    let line = isQuiet ? nil : StatusLine()
    let began = MonotonicClock.now()
    func summary(_ status: RecordingStatus) -> RecordSummary {
      RecordSummary(
        status: status, counts: scan.scanner.counts, beacons: beacons.beaconsHeard,
        seconds: Double(MonotonicClock.now() - began) / 1e9, isCutShort: recorder.isFull)
    }
    func say(_ sentence: String, always: Bool = false) {
      guard always || !isQuiet else { return }
      line?.clear()
      scan.say("beaconscan: \(sentence)")
    }
    func sayRemarks() {
      for remark in remarks.take() { say(remark, always: true) }
    }
    var failure: CommandError?
    var interrupt: (any Error)?
    do {
      failure = try scan.run {
        sayRemarks()
        line?.show { summary(recorder.status).progress }
        return !recorder.isFull && !recorder.status.isOver
      } _: { news in
        switch news {
        case .heard(let sightings):
          for sighting in sightings {
            beacons.update(sighting.beacon, at: sighting.time) {
              1
            } update: {
              $0 += 1
            }
          }
        case .health(let health):
          tally.note(health)
          say(health.sentence)
        case .ranged, .region: break
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
    if scan.isLive { say(tally.sentence(scan.scanner.name, scan.services.listened)) }
    say(end.sentence)
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
