import Glibc
import Scanning

/// Turns the kernel's time stamps, which the wall's clock gave, into moments of the monotonic clock.
///
/// A packet cannot be older than the moment at which the queue was last empty, nor younger than now. So a
/// wall's clock that steps between a packet and its reading moves that packet by no more than the time
/// between two readings, and never moves one behind another.
struct KernelClock: Sendable {
  /// When the queue was last empty.
  private(set) var latestEmpty: Timestamp
  private var latest: Timestamp
  private var now: Timestamp
  /// What to add to a moment of the monotonic clock to get the wall's.
  private(set) var wallClockShift: Int64

  /// Begins with an empty queue.
  init(now: Timestamp, wall: Timestamp) {
    latestEmpty = now
    latest = now
    self.now = now
    wallClockShift = wall.nanoseconds(since: now)
  }

  /// Is told the time before packets are read.
  mutating func read(at now: Timestamp, wall: Timestamp) {
    self.now = max(now, self.now)
    wallClockShift = wall.nanoseconds(since: self.now)
  }

  /// The moment of a packet, given its stamp.
  mutating func moment(of stamp: Timestamp) -> Timestamp {
    let moment = stamp.advanced(by: -wallClockShift)
    latest = min(max(moment, latestEmpty, latest), max(now, latest))
    return latest
  }

  /// Is told that the queue was empty after it was read.
  mutating func emptied() {
    latestEmpty = now
  }

  /// The monotonic clock.
  static var monotonic: Timestamp { time(CLOCK_MONOTONIC) }
  /// The wall's clock.
  static var wall: Timestamp { time(CLOCK_REALTIME) }

  private static func time(_ clock: clockid_t) -> Timestamp {
    var time = timespec()
    // The structure outlives the call.
    unsafe clock_gettime(clock, &time)
    return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
