import Dispatch
import Glibc
package import Scanning

/// A recording's time as the monotonic clock drives it.
package struct Pacer {
  private let start: MonotonicTime
  private let factor: Double
  private let began = DispatchTime.now()

  /// Begins at a moment of the recording, which passes so many times as fast as it did.
  package init(start: MonotonicTime, factor: Double) {
    self.start = start
    self.factor = factor
  }

  /// The recording's moment that it is now.
  package var now: MonotonicTime {
    let elapsed = DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds
    return start.advanced(by: Int64(min(Double(elapsed) * factor, 9e18)))
  }

  /// Waits for a moment of the recording, or for some nanoseconds of real time at most.
  package func sleep(until moment: MonotonicTime, atMost longest: Int64) {
    let wait = min(Double(moment.nanoseconds(since: now)) / factor, Double(longest))
    guard wait > 0 else { return }
    usleep(UInt32(clamping: Int(wait) / 1000))
  }
}
