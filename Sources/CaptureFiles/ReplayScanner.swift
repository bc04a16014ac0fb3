public import Scanning
import Synchronization

/// A scanner that plays recordings back: their sightings, merged by time, on their own time.
///
/// Each recording is a receiver of its own: several recordings of one place are several adapters there.
/// The first recording's adapters keep their numbers. Adapter N of the second is number 100 + N, of the
/// third 200 + N, and so on.
public final class ReplayScanner: Scanner {
  /// How fast time passes.
  public enum Speed: Sendable, Hashable {
    /// As fast as the recordings can be read.
    case max
    /// A multiple of their own time.
    case times(Double)

    /// How many times as fast as it did time passes; `nil` for as fast as the recordings can be read.
    package var factor: Double? { if case .times(let factor) = self { factor } else { nil } }

    /// Reads `max`, or a multiple from 0.001 to 100,000 such as `1x`.
    public init?(_ text: String) {
      if text == "max" {
        self = .max
        return
      }
      guard text.hasSuffix("x"), let factor = Double(text.dropLast()),
        (0.001...1e5).contains(factor)
      else { return nil }
      self = .times(factor)
    }
  }

  private let state: Mutex<Playback<CaptureRecording>>
  private let offsets: [UInt16: Double]
  /// How fast time passes.
  package let speed: Speed
  /// Whether the recordings are still being written.
  package let follows: Bool

  /// Opens recordings.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - speed: How fast time passes.
  ///   - follows: Whether they are still being written.
  ///   - duration: The number of nanoseconds that are played; `nil` for all.
  ///   - offsets: How much stronger than true adapters receive, in dB, by their numbers: that is subtracted.
  ///   - packetTap: Receives every HCI packet as it is read, which is before it is played; of several
  ///     recordings in no order.
  /// - Throws: ``CaptureError`` for the first that cannot be opened.
  public init(
    paths: [String], speed: Speed = .max, follows: Bool = false, duration: Int64? = nil,
    offsets: [UInt16: Double] = [:], packetTap: PacketTap? = nil
  ) throws(CaptureError) {
    self.speed = speed
    self.follows = follows
    self.offsets = offsets.filter { $0.value.isFinite }
    var recordings: [CaptureRecording] = []
    // What is paced is not read ahead, so that what was counted was shown.
    let batch = speed == .max ? CaptureReader.batch : 1
    for path in paths {
      recordings.append(
        CaptureRecording(
          try CaptureReader(
            path: path, firstAdapter: UInt16(truncatingIfNeeded: recordings.count * 100),
            follows: follows, duration: duration, batch: batch, packetTap: packetTap)))
    }
    state = Mutex(Playback(recordings, factor: speed.factor, duration: duration))
  }

  /// The recordings' names.
  public var name: String { statuses.map(\.name).joined(separator: ", ") }
  /// Always `true`: a recording waits for its reader.
  public var isRecorded: Bool { true }
  /// Always available: the recordings are open.
  public var availability: ScannerAvailability { .available }

  /// How far each recording has been read, in the order of the paths.
  package var statuses: [CaptureStatus] { state.withLock { $0.recordings.map(\.status) } }

  /// The counts so far of all recordings; of paced ones, up to the latest sighting that was given.
  public var counts: ScanCounts {
    state.withLock { playback in
      let isHolding = playback.isHolding
      return playback.recordings.reduce(into: ScanCounts()) {
        $0 += isHolding ? $1.countsBeforeHeld : $1.counts
      }
    }
  }

  /// Hands every advertising report to a function from now on.
  package func tap(_ tap: @escaping ReportTap) {
    state.withLock { state in
      for recording in state.recordings { recording.collector.reportTap = tap }
    }
  }

  /// Leaves the pace to another object from now on.
  package func stopPacing() { state.withLock { $0.factor = nil } }

  /// Reads on.
  ///
  /// The sightings of one call have one distance to wall-clock time, which the progress names: that of
  /// the recording that they come from. Where the clock of one of several recordings was set back, calls
  /// return earlier, so that each names the right one.
  ///
  /// - Throws: What is wrong with a recording, after all that stood whole before it in every recording.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure cannot capture an inout array.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    let progress = try state.withLock { try $0.receive(until: deadline, into: &own) }
    if !offsets.isEmpty {
      for index in own.indices { own[index].subtract(offset: offsets[own[index].adapter] ?? 0) }
    }
    return progress
  }

  /// Stops the time of paced recordings until the next call of ``receive(for:until:into:)``.
  public func rest() {
    state.withLock { $0.rest() }
  }
}

/// A capture, and what was counted in it.
private final class CaptureRecording: Recording {
  typealias Health = ScannerHealth

  private let reader: CaptureReader
  var collector = SightingCollector()
  var next = 0
  /// What was counted before the batch.
  private var countsBefore = ScanCounts()
  /// What was counted before what was read ahead.
  private(set) var countsBeforeHeld = ScanCounts()

  init(_ reader: CaptureReader) { self.reader = reader }

  var inputs: [Sighting] {
    get { collector.sightings }
    set { collector.sightings = newValue }
  }
  var status: CaptureStatus { reader.status(collector.counts) }
  /// What was counted up to the latest sighting that was given; a batch that is given in part does not count.
  var counts: ScanCounts { isEmpty ? collector.counts : countsBefore }
  var firstTime: MonotonicTime? { reader.firstTime }
  var time: MonotonicTime { reader.time }
  var wallClockOffset: WallClockOffset { reader.wallClockOffset }

  func read() throws -> ReadingProgress {
    countsBefore = collector.counts
    do throws(CaptureError) {
      let progress = try reader.read(into: &collector)
      if progress == .end { collector.finish() }
      return progress
    } catch {
      collector.finish()
      throw error
    }
  }

  func wait() { reader.wait() }

  func willReadAhead() { countsBeforeHeld = counts }

  static func time(of sighting: Sighting) -> MonotonicTime { sighting.time }
}
