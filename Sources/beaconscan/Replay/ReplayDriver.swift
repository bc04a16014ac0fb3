import CaptureFiles
import Glibc
import Scanning

/// Drives a replay: batches in, paced or as fast as they come, until the end, an interrupt, or enough.
struct ReplayDriver {
  /// What a consumer wants next.
  enum Verdict { case more, enough }

  let replay: CaptureReplay
  let speed: ReplaySpeed
  /// In nanoseconds of the recording's time.
  let duration: Int64?
  let progress: Progress?

  /// When a file has given all it has so far, how long to wait for more, in microseconds.
  private static let followWait: UInt32 = 100_000
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
  /// - Returns: What was wrong with a recording, to be said after the results.
  /// - Throws: What the consumer throws.
  func run(_ consume: (ArraySlice<Sighting>, Timestamp) throws -> Verdict) throws -> CommandError? {
    defer { progress?.clear() }
    var pacer: Pacer?
    while !Interrupt.isRequested {
      let state: CaptureReader.Progress
      do throws(CaptureError) {
        state = try replay.nextBatch()
      } catch {
        return CommandError(error)
      }
      progress?.update()
      var reached = replay.time
      var sightings = replay.sightings[...]
      var isLast = state == .end
      if let duration, let first = replay.firstTime {
        let end = first.advanced(by: duration)
        if reached >= end {
          sightings = sightings.prefix { $0.time < end }
          reached = end
          isLast = true
        }
      }
      if case .times(let factor) = speed, let first = replay.firstTime {
        if pacer == nil { pacer = Pacer(start: first, factor: factor) }
        guard try pace(&pacer, sightings, to: reached, consume) == .more else { return nil }
      } else if replay.firstTime != nil {
        guard try consume(sightings, reached) == .more else { return nil }
      }
      if isLast { return nil }
      if state == .caughtUp { usleep(Self.followWait) }
    }
    return nil
  }

  /// Gives each sighting when it is due, and lets time pass between them.
  private func pace(
    _ pacer: inout Pacer?, _ sightings: ArraySlice<Sighting>, to reached: Timestamp,
    _ consume: (ArraySlice<Sighting>, Timestamp) throws -> Verdict
  ) throws -> Verdict {
    guard let pacer else { return .more }
    var rest = sightings
    while !Interrupt.isRequested {
      let now = min(pacer.now, reached)
      let due = rest.prefix { $0.time <= now }
      rest = rest.dropFirst(due.count)
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
    start.advanced(by: Int64(Double(Self.monotonic() - began) * factor))
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
