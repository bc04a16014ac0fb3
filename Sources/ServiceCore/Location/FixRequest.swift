import Positioning
import Scanning

/// A request for one fix.
///
/// The first fix of the accuracy that is needed and not older than ``recent`` is the answer, also one
/// of before the request. Where the best accuracy is needed, one of ``good`` is as good as it gets
/// when ``steady`` fixes in a row are no better than those before. If none comes within ``patience``
/// seconds of the first fix, it is the most accurate one, of equal ones the newest, and one that is
/// older than ``recent`` only where there is no other; without any fix, the request ends after
/// ``limit`` seconds.
struct FixRequest {
  /// The greatest age of a fix that answers a request at once, in seconds.
  static let recent = 15.0
  /// The accuracy of a receiver that has settled, in meters.
  static let good = 20.0
  /// The number of fixes in a row that are no better than those before, where more will not be.
  static let steady = 3
  /// Seconds that a better fix is waited for.
  static let patience = 10.0
  /// Seconds that the first fix is waited for.
  static let limit = 60.0

  enum Answer: Equatable {
    case fix(Fix)
    case timedOut
  }

  let accuracy: AccuracyClass
  /// Seconds from the first time that is known to the end.
  private let duration: Double
  /// The answer where no fix comes.
  private let known: Fix?
  private var best: Fix?
  private var isBestRecent = false
  /// The number of fixes in a row that were no better than the best one.
  private var steadyCount = 0
  /// The time at which the request ends; `nil` before the source's time is known.
  private(set) var deadline: MonotonicTime?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - accuracy: The accuracy that is needed.
  ///   - known: The fix that is the answer where no other one comes.
  ///   - isRefused: Whether the source was refused when it last ran: it has a shorter time to deliver.
  init(_ accuracy: AccuracyClass, known: Fix? = nil, isRefused: Bool = false) {
    (self.accuracy, self.known) = (accuracy, known)
    duration = known != nil || isRefused ? Self.patience : Self.limit
  }

  /// Receives a fix, which may be older than the moment at which it comes.
  mutating func receive(_ fix: Fix, at now: MonotonicTime) -> Answer? {
    if let answer = advance(to: now) { return answer }
    if best == nil, known == nil { deadline = now.advanced(bySeconds: Self.patience) }
    let isRecent = now.seconds(since: fix.time) <= Self.recent
    if isRecent, fix.horizontalAccuracy <= accuracy.meters { return .fix(fix) }
    guard isRecent || !isBestRecent else { return nil }
    if isRecent, isBestRecent, let best {
      let isBetter = fix.horizontalAccuracy < 0.9 * best.horizontalAccuracy
      steadyCount = isBetter ? 0 : steadyCount + 1
    }
    if best == nil || isRecent != isBestRecent
      || fix.horizontalAccuracy <= best?.horizontalAccuracy ?? .infinity
    {
      (best, isBestRecent) = (fix, isRecent)
    }
    let isSettled =
      steadyCount >= Self.steady && best?.horizontalAccuracy ?? .infinity <= Self.good
    return accuracy <= .best && isSettled ? end : nil
  }

  mutating func advance(to now: MonotonicTime) -> Answer? {
    guard let deadline else {
      deadline = now.advanced(bySeconds: duration)
      return nil
    }
    return now >= deadline ? end : nil
  }

  /// The answer where no other fix comes.
  var end: Answer { (best ?? known).map { .fix($0) } ?? .timedOut }
}
