import CaptureFiles
import Glibc
import Scanning

/// Drives a replay: batches in, paced or as fast as they come, until the end, an interrupt, or enough.
struct ReplayDriver {
  /// What a consumer wants next.
  enum Verdict { case more, enough }

  /// How a replay ended.
  struct Outcome {
    /// The moment up to which all was given.
    var reached: Timestamp?
    /// What was wrong with a recording, to be said after the results.
    var failure: CommandError?
  }

  let replay: CaptureReplay
  let speed: ReplaySpeed
  /// In nanoseconds of the recording's time.
  let duration: Int64?
  let progress: Progress?

  /// The longest wait between two looks at the clock, in nanoseconds.
  private static let longestWait: Int64 = 100_000_000

  init(_ source: SourceOptions, output: OutputOptions) throws {
    replay = try source.open()
    speed = source.speed
    duration = source.duration.map { Int64($0 * 1e9) }
    progress = Progress(
      of: replay, isWanted: !output.quiet && source.speed == .max && !source.follow)
  }

  /// Whether results come as they happen, so that a reader wants each at once.
  var isPaced: Bool { speed != .max }

  /// Runs to the end.
  ///
  /// - Parameter consume: Takes sightings in order, and the moment up to which all have been given.
  /// - Returns: How far it came, and why not farther.
  /// - Throws: What the consumer throws.
  func run(_ consume: (ArraySlice<Sighting>, Timestamp) throws -> Verdict) throws -> Outcome {
    defer { progress?.clear() }
    var outcome = Outcome()
    var pacer: Pacer?
    while !Interrupt.isRequested {
      let state: CaptureReader.Progress
      do throws(CaptureError) {
        state = try replay.nextBatch()
      } catch {
        outcome.failure = CommandError(error)
        return outcome
      }
      progress?.update()
      guard let first = replay.firstTime else {
        if state == .end { return outcome }
        continue
      }
      // With a limit, the end is there even if the last packet before it is not.
      let limit = duration.map { first.advanced(by: $0) }
      let reached = state == .end ? limit ?? replay.time : min(replay.time, limit ?? replay.time)
      let all = replay.sightings[...]
      let sightings = limit.map { limit in all.prefix { $0.time < limit } } ?? all
      if case .times(let factor) = speed {
        if pacer == nil { pacer = Pacer(start: first, factor: factor) }
        let verdict = try pace(&pacer, sightings, to: reached, &outcome, consume)
        guard verdict == .more else { return outcome }
      } else {
        outcome.reached = reached
        guard try consume(sightings, reached) == .more else { return outcome }
      }
      if state == .end { return outcome }
    }
    return outcome
  }

  /// Gives each sighting when it is due, and lets time pass between them.
  private func pace(
    _ pacer: inout Pacer?, _ sightings: ArraySlice<Sighting>, to reached: Timestamp,
    _ outcome: inout Outcome, _ consume: (ArraySlice<Sighting>, Timestamp) throws -> Verdict
  ) throws -> Verdict {
    guard let pacer else { return .more }
    var rest = sightings
    while !Interrupt.isRequested {
      let now = min(pacer.now, reached)
      let due = rest.prefix { $0.time <= now }
      rest = rest.dropFirst(due.count)
      outcome.reached = now
      guard try consume(due, now) == .more else { return .enough }
      if rest.isEmpty, now >= reached { return .more }
      pacer.sleep(until: rest.first?.time ?? reached, atMost: Self.longestWait)
    }
    return .enough
  }
}

/// A recording's time as the monotonic clock drives it.
struct Pacer {
  private let start: Timestamp
  private let factor: Double
  private let began = Self.monotonic()

  init(start: Timestamp, factor: Double) {
    self.start = start
    self.factor = factor
  }

  /// The recording's moment that it is now.
  var now: Timestamp {
    start.advanced(by: Int64(min(Double(Self.monotonic() - began) * factor, 9e18)))
  }

  /// Waits for a moment of the recording, or for some nanoseconds of real time at most.
  func sleep(until moment: Timestamp, atMost longest: Int64) {
    let wait = min(Double(moment.nanoseconds(since: now)) / factor, Double(longest))
    guard wait > 0 else { return }
    var request = timespec(tv_sec: 0, tv_nsec: Int(wait))
    unsafe nanosleep(&request, nil)  // An interrupt ends it early, as it should.
  }

  static func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
