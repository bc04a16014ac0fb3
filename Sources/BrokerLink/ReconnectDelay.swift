import Clocks

/// How long the link waits before it connects again: arithmetic only.
struct ReconnectDelay {
  private var backoff: Backoff

  /// The time that a connection lasts at least for the next delay to be the shortest again, in seconds.
  static let stableTime = 30.0
  /// The factors of jitter: receivers that lost the same broker do not come back at the same moment. None is above 1, so
  /// that no delay is longer than the longest.
  static let jitter = 0.75...1.0

  /// Creates delays between a shortest and a longest one, in seconds.
  init(_ limits: ClosedRange<Double>) {
    backoff = Backoff(
      first: Int64(limits.lowerBound * 1e9), longest: Int64(limits.upperBound * 1e9))
  }

  /// Returns the next delay in nanoseconds, after a connection that lasted for so many seconds: 0 for an attempt that
  /// failed.
  mutating func next(afterConnectionOf seconds: Double, jitter: Double) -> Int64 {
    if seconds >= Self.stableTime { backoff.reset() }
    return Int64(Double(backoff.next()) * jitter)
  }
}
