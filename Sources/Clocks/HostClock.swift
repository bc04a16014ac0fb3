import Glibc

extension MonotonicTime {
  package static var now: MonotonicTime { MonotonicTime(nanoseconds: time(CLOCK_MONOTONIC)) }
}

extension WallClockTime {
  package static var now: WallClockTime { WallClockTime(nanoseconds: time(CLOCK_REALTIME)) }
}

private func time(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  // The structure outlives the call.
  unsafe clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
