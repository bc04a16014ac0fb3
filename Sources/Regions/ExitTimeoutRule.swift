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
  /// The default of the longest adaptive timeout, in seconds, which suffices for beacons sent every
  /// 10 s with one packet in ten received.
  public static let defaultCeiling = 900.0

  /// The number of gaps that suffice for a timeout that is shorter than the one at the start.
  private static let neededGaps = 5.0

  /// Returns the exit timeout of a beacon, in seconds. An adaptive rule begins with `start`, and
  /// falls to what it learned over the first gaps: two packets are no evidence for a short timeout.
  func seconds(_ learner: GapLearner, start: Double) -> Double {
    switch self {
    case .fixed(let seconds): return seconds
    case .adaptive(let wanted, let ceiling):
      let learned = Double(learner.tail.timeout(falseExitsPerDay: Float(wanted)))
      let assumed = start * (1 - Double(learner.count) / Self.neededGaps)
      return min(max(learned, assumed, Self.floor), ceiling)
    }
  }
}
