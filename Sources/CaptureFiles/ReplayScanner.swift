public import Scanning
import Synchronization

/// A scanner that plays back the sightings of recordings, merged by time.
///
/// Each recording is a separate receiver: several recordings of one place act as several adapters.
/// The adapters of the first recording keep their numbers. Adapter N of the second becomes 100 + N,
/// of the third 200 + N, and so on.
public final class ReplayScanner: Scanner {
  /// The speed of playback.
  public enum Speed: Sendable, Hashable {
    /// The recordings are read without delay.
    case max
    /// A multiple of the recorded speed.
    case times(Double)

    /// The multiple of the recorded speed, or `nil` for playback without delay.
    package var factor: Double? { if case .times(let factor) = self { factor } else { nil } }

    /// Parses `max`, or a multiple from 0.001 to 100,000 such as `1x`.
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
  package let speed: Speed
  package let follows: Bool

  /// Opens recordings.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - speed: The speed of playback.
  ///   - follows: Whether the files are still being written.
  ///   - duration: The duration to play, in nanoseconds; `nil` for all.
  ///   - offsets: The values to subtract from the RSSI, in dB, by adapter number.
  ///   - packetTap: A function that receives every HCI packet when it is read, before it is played.
  ///     Packets of several recordings are not in order.
  /// - Throws: ``CaptureError`` for the first file that cannot be opened.
  public init(
    paths: [String], speed: Speed = .max, follows: Bool = false, duration: Int64? = nil,
    offsets: [UInt16: Double] = [:], packetTap: PacketTap? = nil
  ) throws(CaptureError) {
    self.speed = speed
    self.follows = follows
    self.offsets = offsets.filter { $0.value.isFinite }
    var recordings: [CaptureRecording] = []
    // Paced playback does not read ahead, so the counts match the delivered sightings.
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

  /// The names of the recordings, separated by commas.
  public var name: String { statuses.map(\.name).joined(separator: ", ") }
  /// Always `true`, because a recording waits for its reader.
  public var isRecorded: Bool { true }
  /// Always available, because the recordings are open.
  public var availability: ScannerAvailability { .available }

  package var statuses: [CaptureStatus] { state.withLock { $0.recordings.map(\.status) } }

  /// The counts of all recordings; in paced playback, up to the last delivered sighting.
  public var counts: ScanCounts {
    state.withLock { playback in
      let isHolding = playback.isHolding
      return playback.recordings.reduce(into: ScanCounts()) {
        $0 += isHolding ? $1.countsBeforeHeld : $1.counts
      }
    }
  }

  package func tap(_ tap: @escaping ReportTap) {
    state.withLock { state in
      for recording in state.recordings { recording.collector.reportTap = tap }
    }
  }

  package func stopPacing() { state.withLock { $0.factor = nil } }

  /// Reads more sightings.
  ///
  /// All sightings of one call have one wall-clock offset, which the progress contains. To ensure
  /// this, calls return earlier if the clock of one of several recordings was set back.
  ///
  /// - Throws: The error of a recording, after everything valid before it in every recording.
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

private final class CaptureRecording: Recording {
  typealias Health = ScannerHealth

  private let reader: CaptureReader
  var collector = SightingCollector()
  var next = 0
  /// The counts before the current batch.
  private var countsBefore = ScanCounts()
  /// The counts before the part that was read ahead.
  private(set) var countsBeforeHeld = ScanCounts()

  init(_ reader: CaptureReader) { self.reader = reader }

  var inputs: [Sighting] {
    get { collector.sightings }
    set { collector.sightings = newValue }
  }
  var status: CaptureStatus { reader.status(collector.counts) }
  /// The counts up to the last delivered sighting, without a batch that is delivered in part.
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
