import CaptureFiles
import FoundationEssentials
import Scanning
import ServiceCore
import Synchronization

/// Records what a source receives, until it is over.
final class RecordSession: Sendable {
  private let configuration: RecordingConfiguration
  /// Whether only errors are reported.
  private let isQuiet: Bool
  /// The source is opened first, so that one that cannot be opened leaves no empty recording; it starts later.
  private let recorder = Mutex<CaptureRecorder?>(nil)
  /// The recorder's remarks, until they are written to the terminal.
  private let remarks = Mutex<[String]>([])

  /// The maximum number of beacons that are distinguished: with what is known of each, less than 4 MB.
  private static let maximumBeacons = 32_768

  init(_ configuration: RecordingConfiguration, isQuiet: Bool) {
    self.configuration = configuration
    self.isQuiet = isQuiet
  }

  /// Records a source.
  ///
  /// - Throws: `CommandError` where it cannot be opened, and where not everything was recorded.
  func run(_ source: SourceOptions) async throws {
    let session = try BeaconSession(
      source.open { [self] packet, time, isReceived, adapter in
        self.recorder.withLock { $0 }?.record(
          packet, at: time, isReceived: isReceived, adapter: adapter)
      }, showsProgress: false)
    let recorder = try self.begin(isLive: session.isLive)
    try session.beacons.startSightings(for: session.client)
    var beacons = BeaconTable<Int>(capacity: Self.maximumBeacons)
    let beaconCount = Counter()
    var tally = HealthTally()
    let line = isQuiet ? nil : StatusLine()
    let began = SuspendingClock.now
    let (scanner, write) = (session.scanner, session.report)
    @Sendable func summary(_ status: RecordingStatus) -> RecordSummary {
      RecordSummary(
        status: status, counts: scanner.counts, beacons: beaconCount.value,
        seconds: began.duration(to: .now) / .seconds(1), isCutShort: recorder.isFull)
    }
    @Sendable func report(_ sentence: String, always: Bool = false) {
      guard always || !isQuiet else { return }
      line?.clear()
      write("beaconscan: \(sentence)")
    }
    @Sendable func reportRemarks() {
      let waiting = remarks.withLock { remarks in
        defer { remarks = [] }
        return remarks
      }
      for remark in waiting { report(remark, always: true) }
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
            beacons.update(sighting.beacon, at: sighting.time, orMake: { 0 }, update: { $0 += 1 })
          }
          beaconCount.value = beacons.beaconsReceived
        case .health(let health, _):
          tally.update(health)
          report(health.sentence)
        case .ranging, .region, .regionState, .registered, .refused, .ended: break
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
    if session.isLive { report(tally.sentence(scanner.name, session.beacons.received)) }
    report(end.sentence)
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
        configuration,
        startingAt: isLive
          ? WallClockTime(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) : nil,
        remark: { [self] remark in remarks.withLock { $0.append(remark) } })
      self.recorder.withLock { $0 = recorder }
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
