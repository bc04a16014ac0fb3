import Dispatch
import Glibc
package import Scanning

/// A clock that maps the monotonic clock to a recording's time.
package struct Pacer {
  private let start: MonotonicTime
  private let factor: Double
  private let began = DispatchTime.now()

  package init(start: MonotonicTime, factor: Double) {
    self.start = start
    self.factor = factor
  }

  package var now: MonotonicTime {
    let elapsed = DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds
    return start.advanced(by: Int64(min(Double(elapsed) * factor, 9e18)))
  }

  /// Waits until a time of the recording, for at most `longest` nanoseconds of real time.
  package func sleep(until moment: MonotonicTime, atMost longest: Int64) {
    let wait = min(Double(moment.nanoseconds(since: now)) / factor, Double(longest))
    guard wait > 0 else { return }
    usleep(UInt32(clamping: Int(wait) / 1000))
  }
}
