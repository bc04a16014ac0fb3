import Glibc
import Scanning

/// Time that no clock on the wall can step.
enum MonotonicClock {
  /// Nanoseconds since some moment.
  static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The clock on the wall, which is only shown.
enum WallClock {
  /// What it shows.
  static func now() -> WallClockTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallClockTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
