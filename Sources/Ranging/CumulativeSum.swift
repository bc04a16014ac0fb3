/// A state that changes only when enough evidence speaks for another one: what the signal lies beyond a limit, in
/// dB, is summed up over time, as in Page's cumulative sum (Biometrika 41, 1954).
struct CumulativeSum<State: BitwiseCopyable & Sendable & Hashable>: BitwiseCopyable, Sendable,
  Hashable
{
  /// The state now.
  private(set) var state: State
  /// The state towards which the excess is summed up.
  private var wanted: State
  /// dB · s beyond the limit.
  private var excess: Float = 0
  /// When the excess was last added to, in nanoseconds.
  private var summedAt: Int64 = 0

  /// A gap between packets counts for at most so many seconds.
  private static var longestGap: Float { 2 }

  /// Creates a sum in a state.
  init(_ state: State) { (self.state, wanted) = (state, state) }

  /// Receives the state that the signal lies in, and how many dB it lies beyond the limit of the state now, at a time in
  /// nanoseconds of a monotonic clock. The state changes once the excess reaches a limit in dB · s, or at once. A time
  /// that steps back starts the sum anew.
  mutating func update(
    to next: State, towards: State, beyond: Float, at time: Int64, limit: Float, changesAtOnce: Bool
  ) {
    let elapsed = time.subtractingReportingOverflow(summedAt)
    if towards != wanted || elapsed.overflow || elapsed.partialValue < 0 {
      wanted = towards
      excess = 0
    } else {
      // A packet counts for a short while only, however long the gap before it.
      excess += beyond * min(Float(elapsed.partialValue) * 1e-9, Self.longestGap)
    }
    summedAt = time
    if changesAtOnce || towards == state || excess >= limit {
      (state, wanted, excess) = (next, next, 0)
    }
  }
}
