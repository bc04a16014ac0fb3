import Scanning

/// A converter of the kernel's time stamps, which are wall-clock times, to monotonic times.
///
/// A packet is not older than the time at which the queue was last empty, and not newer than now,
/// so a step of the wall clock moves it by at most that and never changes the order of packets.
struct KernelClock: Sendable {
  private(set) var latestEmpty: MonotonicTime
  private var latest: MonotonicTime
  private var now: MonotonicTime
  private(set) var wallClockOffset: WallClockOffset

  init(now: MonotonicTime, wall: WallClockTime) {
    latestEmpty = now
    latest = now
    self.now = now
    wallClockOffset = WallClockOffset(from: now, to: wall)
  }

  mutating func read(at now: MonotonicTime, wall: WallClockTime) {
    self.now = max(now, self.now)
    wallClockOffset = WallClockOffset(from: self.now, to: wall)
  }

  mutating func moment(of stamp: WallClockTime) -> MonotonicTime {
    let moment = stamp.monotonicTime(wallClockOffset)
    latest = min(max(moment, latestEmpty, latest), max(now, latest))
    return latest
  }

  mutating func emptied() { latestEmpty = now }

  /// The current offset, between monotonic readings less than 20 µs apart, or the closest of three.
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
