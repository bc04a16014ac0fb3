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

  private let state: Mutex<State>
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
    var sources: [Source] = []
    // What is paced is not read ahead, so that what was counted was shown.
    let batch = speed == .max ? CaptureReader.batch : 1
    for path in paths {
      sources.append(
        Source(
          try CaptureReader(
            path: path, firstAdapter: UInt16(truncatingIfNeeded: sources.count * 100),
            follows: follows, duration: duration, batch: batch, packetTap: packetTap)))
    }
    state = Mutex(State(sources: sources, speed: speed, duration: duration, offsets: offsets))
  }

  /// The recordings' names.
  public var name: String { statuses.map(\.name).joined(separator: ", ") }
  /// Always `true`: a recording waits for its reader.
  public var isRecorded: Bool { true }
  /// Always available: the recordings are open.
  public var availability: ScannerAvailability { .available }

  /// How far each recording has been read, in the order of the paths.
  package var statuses: [CaptureStatus] { state.withLock { $0.sources.map(\.status) } }

  /// The counts so far of all recordings; of paced ones, up to the latest sighting that was given.
  public var counts: ScanCounts { state.withLock { $0.counts } }

  /// Hands every advertising report to a function from now on.
  package func tap(_ tap: @escaping ReportTap) {
    state.withLock { state in
      for source in state.sources { source.collector.reportTap = tap }
    }
  }

  /// Leaves the pace to another object from now on.
  package func stopPacing() { state.withLock { $0.speed = .max } }

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
    return try state.withLock { state in try state.receive(until: deadline, into: &own) }
  }

  /// Stops the time of paced recordings until the next call of ``receive(for:until:into:)``.
  public func rest() {
    state.withLock { $0.pacer = nil }
  }
}

/// A recording, and the batch of it that is being given.
private final class Source {
  let reader: CaptureReader
  var collector = SightingCollector()
  /// The place of the batch's next sighting.
  var next = 0
  /// What was counted before the batch.
  private var countsBefore = ScanCounts()
  private(set) var isAtEnd = false
  /// What is wrong with the recording behind its last sighting.
  private(set) var failure: CaptureError?

  init(_ reader: CaptureReader) { self.reader = reader }

  var status: CaptureStatus { reader.status(collector.counts) }
  /// What was counted up to the latest sighting that was given; a batch that is given in part does not count.
  var counts: ScanCounts { isEmpty ? collector.counts : countsBefore }
  /// Whether the whole batch has been given.
  var isEmpty: Bool { next == collector.sightings.count }
  /// The time of the next sighting.
  var nextTime: MonotonicTime { collector.sightings[next].time }

  /// Reads the next batch, and returns whether it is known what comes next; otherwise more may be there later.
  func advance() -> Bool {
    collector.removeSightings()
    next = 0
    countsBefore = collector.counts
    guard !isAtEnd else { return true }
    do throws(CaptureError) {
      switch try reader.read(into: &collector) {
      case .more: return true
      case .caughtUp: return false
      case .end: break
      }
    } catch {
      failure = error
    }
    isAtEnd = true
    collector.finish()
    return true
  }
}

extension ReplayScanner {
  private struct State {
    let sources: [Source]
    var pacer: Pacer?
    var speed: Speed
    private let duration: Int64?
    private let offsets: [UInt16: Double]
    /// What has been read and is not yet due.
    private var held: [Sighting] = []
    private var next = 0
    /// Whether reading waits for a pipe; not while something that is due would wait with it.
    private var mayWait = true
    /// How far the recordings have been read, and how far they have been given.
    private var progress = ScanProgress()
    private var given: MonotonicTime?
    /// What was counted before what is held.
    private var countsBefore = ScanCounts()

    var counts: ScanCounts {
      if case .times = speed, given != progress.reached { return countsBefore }
      return countsRead
    }

    private var countsRead: ScanCounts { sources.reduce(into: ScanCounts()) { $0 += $1.counts } }

    init(sources: [Source], speed: Speed, duration: Int64?, offsets: [UInt16: Double]) {
      self.sources = sources
      self.speed = speed
      self.duration = duration
      self.offsets = offsets.filter { $0.value.isFinite }
    }

    mutating func receive(until deadline: MonotonicTime?, into sightings: inout [Sighting]) throws
      -> ScanProgress
    {
      if case .times(let factor) = speed {
        return try pace(factor, until: deadline, into: &sightings)
      }
      try read(into: &sightings)
      return progress
    }

    /// Reads on, and cuts what lies behind the limit.
    private mutating func read(into sightings: inout [Sighting]) throws {
      sightings.removeAll(keepingCapacity: true)
      if sources.count == 1 {
        readOne(sources[0], into: &sightings)
      } else {
        merge(into: &sightings)
      }
      let isAtEnd = sources.allSatisfy { $0.isAtEnd && $0.isEmpty }
      if isAtEnd, sightings.isEmpty, let failure = sources.lazy.compactMap(\.failure).first {
        throw failure
      }
      // A failure is reported after the last sightings.
      progress.isOver = isAtEnd && sources.allSatisfy { $0.failure == nil }
      // The first moment is known when every recording has shown its own.
      guard sources.allSatisfy({ $0.reader.firstTime != nil || $0.isAtEnd }),
        let first = sources.compactMap(\.reader.firstTime).min()
      else { return }
      progress.began = first
      if !offsets.isEmpty {
        for index in sightings.indices {
          sightings[index].subtract(offset: offsets[sightings[index].adapter] ?? 0)
        }
      }
      let last = sightings.last?.time ?? first
      var reached = max(progress.reached ?? first, last)
      // What follows the last sighting of a single recording, and of all at their end, is known.
      if sources.count == 1 || isAtEnd {
        reached = max(reached, sources.lazy.map(\.reader.time).max() ?? reached)
      }
      if let limit = duration.map({ first.advanced(by: $0) }) {
        while let last = sightings.last, last.time >= limit { sightings.removeLast() }
        // The end is there even if the last packet before it is not.
        reached = progress.isOver ? limit : min(reached, limit)
      }
      progress.reached = reached
    }

    /// Reads the usual single recording: its batch is the batch.
    private mutating func readOne(_ source: Source, into sightings: inout [Sighting]) {
      swap(&source.collector.sightings, &sightings)
      if !source.advance(), source.collector.sightings.isEmpty, mayWait { source.reader.wait() }
      swap(&source.collector.sightings, &sightings)
      progress.wallClockOffset = source.reader.wallClockOffset
    }

    /// Moves sightings of all recordings in the order of time, as long as these have one distance to
    /// wall-clock time.
    private mutating func merge(into sightings: inout [Sighting]) {
      while sightings.count < sources[0].reader.batch {
        // Before one recording may give a sighting, every other must have shown its next.
        for source in sources {
          while source.isEmpty, !source.isAtEnd {
            guard source.advance() else {
              if sightings.isEmpty, mayWait { source.reader.wait() }
              return
            }
          }
        }
        guard
          let source = sources.lazy.filter({ !$0.isEmpty }).min(by: { $0.nextTime < $1.nextTime })
        else { return }
        let offset = source.reader.wallClockOffset
        guard sightings.isEmpty || offset == progress.wallClockOffset else { return }
        progress.wallClockOffset = offset
        sightings.append(source.collector.sightings[source.next])
        source.next += 1
      }
    }

    /// Gives what is due, and lets a little time pass where nothing is.
    private mutating func pace(
      _ factor: Double, until deadline: MonotonicTime?, into sightings: inout [Sighting]
    ) throws -> ScanProgress {
      sightings.removeAll(keepingCapacity: true)
      var shown = progress
      repeat {
        if next == held.count, given == progress.reached, !progress.isOver {
          mayWait = sightings.isEmpty
          do {
            try readAhead()
          } catch {
            guard !sightings.isEmpty else { throw error }
            // It is reported when these have been given.
            return shown
          }
        }
        guard let reached = progress.reached else { return progress }
        // The sightings of one call have one distance to wall-clock time. Nothing more may be there yet.
        guard
          sightings.isEmpty || !held.isEmpty && progress.wallClockOffset == shown.wallClockOffset
        else { break }
        let start = given ?? progress.began ?? reached
        // After a rest, time goes on from where it was.
        let pacer = self.pacer ?? Pacer(start: start, factor: factor)
        self.pacer = pacer
        if sightings.isEmpty {
          let due = next < held.count ? min(held[next].time, reached) : reached
          pacer.sleep(until: min(due, deadline ?? due), atMost: ReplayScanner.maximumReceiveTime)
        }
        let now = max(start, min(pacer.now, reached))
        while next < held.count, held[next].time <= now {
          sightings.append(held[next])
          next += 1
        }
        given = now
        shown = progress
        shown.reached = now
        shown.isOver = progress.isOver && next == held.count && now == reached
      } while !sightings.isEmpty && sightings.count < CaptureReader.batch && next == held.count
        && given == progress.reached && !progress.isOver
      return shown
    }

    private mutating func readAhead() throws {
      countsBefore = countsRead
      next = 0
      var read: [Sighting] = []
      swap(&read, &held)
      defer { swap(&read, &held) }
      try self.read(into: &read)
    }
  }
}
