import Positioning
import Scanning

/// A request for one fix.
///
/// The first fix of the accuracy that is needed is the answer, also one that is not older than
/// ``recent`` at the request. If none comes within ``patience`` seconds of the first fix, it is the
/// most accurate one; without any fix, the request ends after ``limit`` seconds.
struct FixRequest {
  /// The greatest age of a fix that answers a request at once, in seconds.
  static let recent = 15.0
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

  mutating func receive(_ fix: Fix) -> Answer? {
    if let answer = advance(to: fix.time) { return answer }
    if best == nil, known == nil { deadline = fix.time.advanced(bySeconds: Self.patience) }
    if fix.horizontalAccuracy <= accuracy.meters { return .fix(fix) }
    if best.map({ fix.horizontalAccuracy < $0.horizontalAccuracy }) ?? true { best = fix }
    return nil
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
