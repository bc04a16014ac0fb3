import Scanning

/// Turns the kernel's time stamps, which are wall-clock times, into monotonic times.
///
/// A packet cannot be older than the moment at which the queue was last empty, nor younger than now. So a wall's
/// clock that steps between a packet and its reading moves that packet by no more than the time between two
/// readings, and never moves one behind another.
struct KernelClock: Sendable {
  /// When the queue was last empty.
  private(set) var latestEmpty: MonotonicTime
  private var latest: MonotonicTime
  private var now: MonotonicTime
  /// The distance from monotonic time to wall-clock time.
  private(set) var wallClockOffset: WallClockOffset

  /// Begins with an empty queue.
  init(now: MonotonicTime, wall: WallClockTime) {
    latestEmpty = now
    latest = now
    self.now = now
    wallClockOffset = WallClockOffset(from: now, to: wall)
  }

  /// Records the time before packets are read.
  mutating func read(at now: MonotonicTime, wall: WallClockTime) {
    self.now = max(now, self.now)
    wallClockOffset = WallClockOffset(from: self.now, to: wall)
  }

  /// The moment of a packet, given its stamp.
  mutating func moment(of stamp: WallClockTime) -> MonotonicTime {
    let moment = stamp.monotonicTime(wallClockOffset)
    latest = min(max(moment, latestEmpty, latest), max(now, latest))
    return latest
  }

  /// Records that the queue was empty after it was read.
  mutating func emptied() { latestEmpty = now }

  /// The distance from monotonic to wall-clock time now: between two readings of the monotonic clock that are closer than
  /// 20 µs, or the closest of three where the process is interrupted.
  static var currentOffset: WallClockOffset {
    var best: (width: Int64, offset: WallClockOffset)?
    for _ in 0..<3 {
      let (start, wall, end) = (MonotonicTime.now, WallClockTime.now, MonotonicTime.now)
      let width = end.nanoseconds(since: start)
      if width < best?.width ?? .max {
        best = (width, WallClockOffset(from: start.advanced(by: width / 2), to: wall))
      }
      if width < 20_000 { break }
    }
    return best?.offset ?? WallClockOffset(from: MonotonicTime.now, to: WallClockTime.now)
  }
}
