/// The rule for the exit timeout of a beacon: the silence after which it counts as gone.
public enum ExitTimeoutRule: Sendable, Hashable, Codable {
  /// A timeout for each beacon, learned from its gaps, that makes false exits as rare as requested.
  ///
  /// - Parameters:
  ///   - falseExitsPerDay: The wanted number of false exits a day.
  ///   - ceiling: The longest timeout, in seconds, which may cause more false exits.
  case adaptive(
    falseExitsPerDay: Double = 1, ceiling: Double = ExitTimeoutRule.defaultCeiling)
  /// The same timeout for every beacon, in seconds.
  case fixed(seconds: Double)

  /// The shortest adaptive timeout, in seconds.
  package static let floor = 2.0
  /// The default of the longest adaptive timeout, in seconds.
  ///
  /// It exceeds the need of the worst common beacon: one sent every 10 s with one packet in ten
  /// received needs 690 s for one false exit a day, and with 120 s has more than 200.
  public static let defaultCeiling = 900.0

  /// Returns the exit timeout of a beacon, in seconds; `start` if an adaptive rule learned nothing.
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
