/// A state that changes only on sufficient evidence: the dB by which the signal exceeds a limit,
/// summed over time, as in Page's cumulative sum (Biometrika 41, 1954).
struct CumulativeSum<State: BitwiseCopyable & Sendable & Hashable>: BitwiseCopyable, Sendable,
  Hashable
{
  private(set) var state: State
  /// The state that the excess supports.
  private var wanted: State
  /// The excess, in dB · s, and the time of its last update, in nanoseconds.
  private var excess: Float = 0
  private var summedAt: Int64 = 0

  /// The longest gap between packets that counts, in seconds.
  private static var longestGap: Float { 2 }

  init(_ state: State) { (self.state, wanted) = (state, state) }

  /// Receives at a time that the signal lies in the current state, which ends the sum.
  @inline(__always)
  mutating func restart(at time: Int64) { (wanted, excess, summedAt) = (state, 0, time) }

  /// Receives the state that the signal lies in, and the dB by which it lies beyond the limit of
  /// the current state, at a time in nanoseconds of a monotonic clock. The state changes at once,
  /// or when the excess reaches `limit`, in dB · s. A time that steps back restarts the sum.
  mutating func update(
    to next: State, towards: State, beyond: Float, at time: Int64, limit: Float, changesAtOnce: Bool
  ) {
    let elapsed = time.subtractingReportingOverflow(summedAt)
    if towards != wanted || elapsed.overflow || elapsed.partialValue < 0 {
      wanted = towards
      excess = 0
    } else {
      excess += beyond * min(Float(elapsed.partialValue) * 1e-9, Self.longestGap)
    }
    summedAt = time
    if changesAtOnce || towards == state || excess >= limit {
      (state, wanted, excess) = (next, next, 0)
    }
  }
}
