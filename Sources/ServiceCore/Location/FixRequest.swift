import Positioning
import Scanning

/// A request for one fix.
///
/// The first fix of the accuracy that is needed is the answer. If none comes within ``patience`` seconds of the first
/// fix, it is the most accurate one; without any fix, the request ends after ``limit`` seconds.
struct FixRequest {
  /// Seconds that a better fix is waited for.
  static let patience = 10.0
  /// Seconds that the first fix is waited for.
  static let limit = 60.0

  enum Answer {
    case fix(Fix)
    case timedOut
  }

  let accuracy: AccuracyClass
  private var best: Fix?
  /// When the request ends; `nil` before the source's time is known.
  private(set) var deadline: MonotonicTime?

  init(_ accuracy: AccuracyClass) { self.accuracy = accuracy }

  mutating func receive(_ fix: Fix) -> Answer? {
    if let answer = advance(to: fix.time) { return answer }
    if best == nil { deadline = fix.time.advanced(bySeconds: Self.patience) }
    if let best, best.horizontalAccuracy <= fix.horizontalAccuracy { return nil }
    best = fix
    return fix.horizontalAccuracy <= accuracy.meters ? .fix(fix) : nil
  }

  mutating func advance(to now: MonotonicTime) -> Answer? {
    guard let deadline else {
      deadline = now.advanced(bySeconds: Self.limit)
      return nil
    }
    guard now >= deadline else { return nil }
    return best.map { .fix($0) } ?? .timedOut
  }
}
