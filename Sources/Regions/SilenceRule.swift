/// How long a beacon must be silent to count as gone.
public enum SilenceRule: Sendable, Hashable, Codable {
  /// As long as makes false exits as rare as asked, learnt from the beacon's own gaps; see
  /// ``SilenceLearner``.
  ///
  /// - Parameters:
  ///   - falseExitsPerDay: How often a day a beacon that is there may count as gone.
  ///   - ceiling: The longest limit, in seconds. Where more is needed, false exits are more frequent
  ///     than asked.
  case adaptive(
    falseExitsPerDay: Double = 1, ceiling: Double = SilenceRule.defaultCeiling)
  /// Always the same time, in seconds.
  case fixed(seconds: Double)

  /// The shortest adaptive limit, in seconds: 2.
  public static let floor = 2.0
  /// The longest adaptive limit unless said otherwise, in seconds: 900, a quarter of an hour.
  ///
  /// It is above what the worst beacon of common use needs: one that is sent every 10 s, of which one
  /// in ten is heard, needs 690 s for one false exit a day and with 120 s has more than 200.
  public static let defaultCeiling = 900.0

  /// The limit for a beacon, in seconds.
  ///
  /// - Parameters:
  ///   - learner: What is known of the beacon.
  ///   - start: The limit where nothing is, in seconds.
  /// - Returns: The limit, in seconds.
  func limit(_ learner: SilenceLearner, start: Double) -> Double {
    switch self {
    case .fixed(let seconds):
      return seconds
    case .adaptive(let wanted, let ceiling):
      let learnt =
        learner.count == 0 ? start : Double(learner.tail.limit(falseExitsPerDay: Float(wanted)))
      return min(max(learnt, Self.floor), ceiling)
    }
  }

  /// The limit where nothing is known, in seconds.
  func startLimit(_ start: Double) -> Double {
    limit(SilenceLearner(), start: start)
  }
}
