import CaptureFiles
import Glibc
import Records
import Scanning
import ServiceCore
import Synchronization
import SystemPackage

final class RecordSession: Sendable {
  private let configuration: RecordingConfiguration
  private let isQuiet: Bool
  /// The source is opened before the recorder, so that a failure leaves no empty recording.
  private let recorder = Mutex<CaptureRecorder?>(nil)
  private let remarks = Mutex<[String]>([])

  /// The most beacons to distinguish, in less than 4 MB.
  private static let maximumBeacons = 32_768

  init(_ configuration: RecordingConfiguration, isQuiet: Bool) {
    self.configuration = configuration
    self.isQuiet = isQuiet
  }

  func run(_ source: SourceOptions) async throws {
    let session = try BeaconSession(
      source.open { [self] packet, time, isReceived, adapter in
        self.recorder.withLock { $0 }?.record(
          packet, at: time, isReceived: isReceived, adapter: adapter)
      }, showsProgress: false)
    let wasThere = (try? Stat(FilePath(configuration.path), followTargetSymlink: false)) != nil
    let recorder = try self.begin(isLive: session.isLive)
    try session.client.startSightings()
    var beacons = BeaconTable<Int>(capacity: Self.maximumBeacons)
    let beaconCount = Atomic(0)
    var tally = HealthTally()
    let line = isQuiet ? nil : StatusLine()
    let began = SuspendingClock.now
    let (scanner, write) = (session.scanner, session.report)
    @Sendable func summary(_ status: RecordingStatus) -> RecordSummary {
      RecordSummary(
        status: status, counts: scanner.counts, beacons: beaconCount.load(ordering: .relaxed),
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
          beaconCount.store(beacons.beaconsReceived, ordering: .relaxed)
        case .health(let health, _):
          tally.update(health)
          report(health.sentence)
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
    if let failure, !session.isLive, end.counts.packets == 0 {
      // An input that is not a recording leaves no new file.
      if configuration.path != "-", !wasThere { unsafe unlink(end.status.file) }
      throw failure
    }
    if let interrupt { throw interrupt }
    if session.isLive { report(tally.sentence(scanner.name, session.beacons.received)) }
    report(end.sentence)
    if let failure { throw failure }
    try check(end, of: session)
  }

  private func begin(isLive: Bool) throws -> CaptureRecorder {
    var configuration = configuration
    configuration.waitsForDisk = !isLive
    do throws(RecordingError) {
      // A recording that is recorded again keeps its times.
      let recorder = try CaptureRecorder(
        configuration, startingAt: isLive ? WallClockTime.now : nil,
        remark: { [self] remark in remarks.withLock { $0.append(remark) } })
      self.recorder.withLock { $0 = recorder }
      return recorder
    } catch {
      throw CommandError(.cannotCreate, "\(error)")
    }
  }

  private func check(_ end: RecordSummary, of session: BeaconSession) throws {
    if let loss = end.loss { throw CommandError(.ioError, loss) }
    guard !session.isLive, end.status.packets == 0, end.counts.packets > 0 else { return }
    throw CommandError(
      .badData,
      "\(session.scanner.name): it has \(counted(end.counts.packets, "packet")) but no HCI packet; only "
        + "those can be recorded, not what a sniffer received")
  }
}

struct RecordSummary {
  var status: RecordingStatus
  var counts: ScanCounts
  var beacons: Int
  var seconds: Double
  /// Whether the source had more to record.
  var isCutShort: Bool

  var progress: String {
    var line =
      "\(fixed(seconds, 0)) s  \(counted(status.packets, "packet"))  \(Self.size(status.bytes))  "
    if status.files > 1 { line += "\(status.files) files  " }
    line += "\(counted(counts.sightings, "sighting"))  \(counted(beacons, "beacon"))"
    return status.lost > 0 ? line + "  \(counted(status.lost, "packet")) lost" : line
  }

  var sentence: String {
    let files =
      status.files == 1 ? status.file : "\(status.files) files, the last of them \(status.file)"
    let recorded =
      "recorded \(counted(status.packets, "packet")), \(status.bytes) bytes, in \(files)"
    // The source is read ahead of the recording, so it may have received more.
    if isCutShort { return recorded }
    return recorded
      + "; received \(counted(counts.sightings, "sighting")) of \(counted(beacons, "beacon"))"
  }

  var loss: String? {
    guard status.lost > 0 else { return nil }
    let lost = status.lost == 1 ? "1 packet was" : "\(status.lost) packets were"
    return "\(lost) not recorded: see the faults above, and fix them before the next recording"
  }

  private static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<(1 << 20): "\(fixed(Double(bytes) / 0x1p10, 1)) KiB"
    case ..<(1 << 30): "\(fixed(Double(bytes) / 0x1p20, 1)) MiB"
    default: "\(fixed(Double(bytes) / 0x1p30, 1)) GiB"
    }
  }
}
