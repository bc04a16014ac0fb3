/// The exit timeout of a beacon: how long it must be silent to count as gone.
public enum ExitTimeoutRule: Sendable, Hashable, Codable {
  /// A timeout for each beacon that makes false exits as rare as wanted, learned from the beacon's own gaps.
  ///
  /// - Parameters:
  ///   - falseExitsPerDay: How often a day a beacon that is there may count as gone.
  ///   - ceiling: The longest timeout, in seconds. Where more is needed, false exits are more frequent
  ///     than wanted.
  case adaptive(
    falseExitsPerDay: Double = 1, ceiling: Double = ExitTimeoutRule.defaultCeiling)
  /// The same timeout for every beacon, in seconds.
  case fixed(seconds: Double)

  /// The shortest adaptive timeout, in seconds: 2.
  package static let floor = 2.0
  /// The longest adaptive timeout unless set, in seconds: 900, a quarter of an hour.
  ///
  /// It is above what the worst beacon of common use needs: one that is sent every 10 s, of which one
  /// in ten is received, needs 690 s for one false exit a day and with 120 s has more than 200.
  public static let defaultCeiling = 900.0

  /// Returns the exit timeout of a beacon, in seconds: the start where an adaptive one has learned nothing.
  func seconds(_ learner: GapLearner, start: Double) -> Double {
    switch self {
    case .fixed(let seconds): return seconds
    case .adaptive(let wanted, let ceiling):
      let learned =
        learner.count == 0 ? start : Double(learner.tail.timeout(falseExitsPerDay: Float(wanted)))
      return min(max(learned, Self.floor), ceiling)
    }
  }
}
