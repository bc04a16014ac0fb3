import CaptureFiles
import Scanning
import ServiceCore
import Synchronization

/// Records what a source receives, until it is over.
struct RecordSession {
  let configuration: RecordingConfiguration
  /// Whether only errors are reported.
  let isQuiet: Bool

  /// The maximum number of beacons that are distinguished: with what is known of each, less than 4 MB.
  private static let maximumBeacons = 32_768

  private let gate = RecorderGate()
  private let remarks = Remarks()

  init(_ configuration: RecordingConfiguration, isQuiet: Bool) {
    self.configuration = configuration
    self.isQuiet = isQuiet
  }

  /// The recorder's remarks, until they are written to the terminal.
  private final class Remarks: Sendable {
    private let waiting = Mutex<[String]>([])

    func add(_ remark: String) { waiting.withLock { $0.append(remark) } }

    func removeAll() -> [String] {
      waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
  }

  /// Records.
  ///
  /// - Parameter source: The source.
  /// - Throws: `CommandError` where it cannot be opened, and where not everything was recorded.
  func run(_ source: SourceOptions) async throws {
    let session = try BeaconSession(source.open(packetTap: gate.tap), showsProgress: false)
    let recorder = try begin(isLive: session.isLive)
    try session.beacons.startSightings(for: session.client)
    var beacons = BeaconTable<Int>(capacity: Self.maximumBeacons)
    let beaconCount = Counter()
    var tally = HealthTally()
    let line = isQuiet ? nil : StatusLine()
    let began = MonotonicClock.now()
    let (scanner, write) = (session.scanner, session.say)
    @Sendable func summary(_ status: RecordingStatus) -> RecordSummary {
      RecordSummary(
        status: status, counts: scanner.counts, beacons: beaconCount.value,
        seconds: Double(MonotonicClock.now() - began) / 1e9, isCutShort: recorder.isFull)
    }
    @Sendable func say(_ sentence: String, always: Bool = false) {
      guard always || !isQuiet else { return }
      line?.clear()
      write("beaconscan: \(sentence)")
    }
    @Sendable func reportRemarks() {
      for remark in remarks.removeAll() { say(remark, always: true) }
    }
    var failure: CommandError?
    var interrupt: (any Error)?
    do {
      failure = try await session.run {
        reportRemarks()
        line?.show { summary(recorder.status).progress }
        return !recorder.isFull && !recorder.status.isOver
      } _: { event in
        switch event {
        case .sightings(let sightings):
          for sighting in sightings {
            beacons.update(sighting.beacon, at: sighting.time) {
              1
            } update: {
              $0 += 1
            }
          }
          beaconCount.value = beacons.beaconsReceived
        case .health(let health, _):
          tally.update(health)
          say(health.sentence)
        case .ranging, .region, .regionState, .registered, .identity, .refused, .ended: break
        }
        return recorder.isFull ? .enough : .more
      }
    } catch {
      interrupt = error
    }
    let end = summary(recorder.finish())
    line?.clear()
    if end.status.isOver { throw ClosedPipe() }
    reportRemarks()
    if let interrupt { throw interrupt }
    if session.isLive { say(tally.sentence(scanner.name, session.beacons.received)) }
    say(end.sentence)
    if let failure { throw failure }
    try check(end, of: session)
  }

  /// Begins the recording.
  private func begin(isLive: Bool) throws -> CaptureRecorder {
    var configuration = configuration
    configuration.waitsForDisk = !isLive
    do throws(RecordingError) {
      // A recording that is recorded again has times of its own.
      let recorder = try CaptureRecorder(
        configuration, startingAt: isLive ? WallClock.now() : nil,
        remark: { [remarks] in remarks.add($0) })
      gate.open(recorder)
      return recorder
    } catch {
      throw CommandError(.cannotCreate, "\(error)")
    }
  }

  /// Checks that everything was recorded.
  private func check(_ end: RecordSummary, of session: BeaconSession) throws {
    if let loss = end.loss { throw CommandError(.ioError, loss) }
    guard !session.isLive, end.status.packets == 0, end.counts.packets > 0 else { return }
    throw CommandError(
      .badData,
      "\(session.scanner.name): none of its \(end.counts.packets) packets is an HCI packet; only those "
        + "can be recorded, not what a sniffer received")
  }
}
