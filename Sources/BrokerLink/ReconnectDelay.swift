import Clocks

/// The pauses between attempts to connect. It does not read a clock.
struct ReconnectDelay {
  private var backoff: Backoff

  /// The seconds that a connection must last to reset the delay to the shortest.
  static let stableTime = 30.0
  /// The factor's range, which keeps clients of one failed broker from returning at the same time.
  /// It is at most 1, so that no delay exceeds the longest.
  static let jitter = 0.75...1.0

  /// Creates delays within limits in seconds.
  init(_ limits: ClosedRange<Double>) {
    backoff = Backoff(
      first: Int64(limits.lowerBound * 1e9), longest: Int64(limits.upperBound * 1e9))
  }

  /// Returns the next delay in nanoseconds, after a connection that lasted the given seconds, or 0
  /// for a failed attempt.
  mutating func next(afterConnectionOf seconds: Double, jitter: Double) -> Int64 {
    if seconds >= Self.stableTime { backoff.reset() }
    return Int64(Double(backoff.next()) * jitter)
  }
}
