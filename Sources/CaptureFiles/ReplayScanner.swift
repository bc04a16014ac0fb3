public import Scanning
import Synchronization

/// A scanner that plays recordings back: their sightings, merged by time, on their own time.
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
  public let speed: Speed
  /// Whether the recordings are still being written.
  public let follows: Bool

  /// Opens recordings.
  ///
  /// - Parameters:
  ///   - paths: The files; `-` is standard input.
  ///   - speed: How fast time passes.
  ///   - follows: Whether they are still being written.
  ///   - duration: How many nanoseconds are played; `nil` for all.
  ///   - offsets: How much stronger than true adapters heard, in dB, by their numbers in the recordings: that
  ///     is taken away.
  ///   - packetTap: Is handed every HCI packet as it is read, which is before it is played; of several
  ///     recordings in no order, and by several threads.
  /// - Throws: ``CaptureError`` for the first that cannot be opened.
  public init(
    paths: [String], speed: Speed = .max, follows: Bool = false, duration: Int64? = nil,
    offsets: [UInt16: Double] = [:], packetTap: PacketTap? = nil
  ) throws(CaptureError) {
    self.speed = speed
    self.follows = follows
    let replay = try CaptureReplay(
      paths: paths, follows: follows, duration: duration, packetTap: packetTap)
    state = Mutex(State(replay: replay, speed: speed, duration: duration, offsets: offsets))
  }

  /// The recordings' names.
  public var name: String {
    statuses.map(\.name).joined(separator: ", ")
  }
  /// Always: a recording waits for its listener.
  public var isRecorded: Bool { true }
  /// Always: the recordings are open.
  public var availability: ScannerAvailability { .available }

  /// How far each recording has been given, in the order of the paths.
  public var statuses: [CaptureStatus] { state.withLock { $0.replay.statuses } }

  /// What was counted so far, in all recordings.
  public var counts: ScanCounts { state.withLock { $0.replay.counts } }

  /// Reads on. What is wrong with a recording is thrown after all that stood whole before it.
  public func receive(
    for demand: ScanDemand, until deadline: MonotonicTime?, into sightings: inout [Sighting]
  ) throws -> ScanProgress {
    // The lock's closure can take the array only as its own.
    var own: [Sighting] = []
    swap(&own, &sightings)
    defer { swap(&own, &sightings) }
    return try state.withLock { state in try state.listen(until: deadline, into: &own) }
  }

  /// Time does not pass in a recording while nobody listens.
  public func rest() {
    state.withLock { $0.pacer = nil }
  }
}

extension ReplayScanner {
  private struct State {
    let replay: CaptureReplay
    var pacer: Pacer?
    private let speed: Speed
    private let duration: Int64?
    private let offsets: [UInt16: Double]
    /// What has been read and is not yet due.
    private var held: [Sighting] = []
    private var next = 0
    /// How far the recordings have been read, and how far they have been given.
    private var progress = ScanProgress()
    private var given: MonotonicTime?

    init(replay: CaptureReplay, speed: Speed, duration: Int64?, offsets: [UInt16: Double]) {
      self.replay = replay
      self.speed = speed
      self.duration = duration
      self.offsets = offsets.filter { $0.value.isFinite }
    }

    mutating func listen(until deadline: MonotonicTime?, into sightings: inout [Sighting]) throws
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
      let isAtEnd = try replay.nextBatch() == .end
      replay.take(&sightings)
      if !offsets.isEmpty {
        for index in sightings.indices {
          sightings[index].subtract(offset: offsets[sightings[index].adapter] ?? 0)
        }
      }
      progress.isOver = isAtEnd
      progress.wallClockOffset = replay.wallClockOffset
      guard let first = replay.firstTime else { return }
      progress.began = first
      guard let limit = duration.map({ first.advanced(by: $0) }) else {
        progress.reached = replay.time
        return
      }
      while let last = sightings.last, last.time >= limit { sightings.removeLast() }
      // The end is there even if the last packet before it is not.
      progress.reached = isAtEnd ? limit : min(replay.time, limit)
    }

    /// Gives what is due, and lets a little time pass where nothing is.
    private mutating func pace(
      _ factor: Double, until deadline: MonotonicTime?, into sightings: inout [Sighting]
    ) throws -> ScanProgress {
      sightings.removeAll(keepingCapacity: true)
      if next == held.count, given == progress.reached, !progress.isOver {
        var read: [Sighting] = []
        swap(&read, &held)
        defer { swap(&read, &held) }
        try self.read(into: &read)
        next = 0
      }
      guard let reached = progress.reached else { return progress }
      let start = given ?? progress.began ?? reached
      // After a rest, time goes on from where it was.
      let pacer = self.pacer ?? Pacer(start: start, factor: factor)
      self.pacer = pacer
      let due = next < held.count ? min(held[next].time, reached) : reached
      pacer.sleep(until: min(due, deadline ?? due), atMost: ReplayScanner.maximumReceiveTime)
      let now = max(start, min(pacer.now, reached))
      while next < held.count, held[next].time <= now {
        sightings.append(held[next])
        next += 1
      }
      given = now
      return ScanProgress(
        began: progress.began, reached: now, wallClockOffset: progress.wallClockOffset,
        isOver: progress.isOver && next == held.count && now == reached)
    }
  }
}
