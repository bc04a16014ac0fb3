import Positioning
import Scanning

/// A request for one fix.
///
/// The answer is the first fix with the needed accuracy that is not older than ``recent``, or, for
/// the best accuracy, one of ``good`` meters when ``steady`` fixes in a row are no better. After
/// ``patience`` seconds from the first fix, it is the most accurate recent one, or else any.
/// Without a fix, the request ends after ``limit`` seconds.
struct FixRequest {
  /// The maximum age of a fix that answers a request at once, in seconds.
  static let recent = 15.0
  static let good = 20.0
  static let steady = 3
  static let patience = 10.0
  static let limit = 60.0

  enum Answer: Equatable {
    case fix(Fix)
    case timedOut
  }

  let accuracy: AccuracyClass
  /// The seconds from the first known time to the end.
  private let duration: Double
  private let known: Fix?
  private var best: Fix?
  private var isBestRecent = false
  private var steadyCount = 0
  /// The time at which the request ends; `nil` before the source's time is known.
  private(set) var deadline: MonotonicTime?

  /// Creates a request, whose answer is `known` if no other fix comes within ``patience``. If the
  /// source was refused when it last ran, that is the limit too.
  init(_ accuracy: AccuracyClass, known: Fix? = nil, isRefused: Bool = false) {
    (self.accuracy, self.known) = (accuracy, known)
    duration = known != nil || isRefused ? Self.patience : Self.limit
  }

  /// Receives a fix, which may be older than `now`.
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

  var end: Answer { (best ?? known).map { .fix($0) } ?? .timedOut }
}
