import Scanning

/// Learns how often a beacon speaks, and how much of that is not heard, from the gaps between its
/// sightings.
///
/// A beacon of interval T that loses packets is heard after T, 2T, 3T …; the learnt period falls to
/// the shortest gap that comes again and again, and is then the mean of the gaps near it. What the
/// time between sightings would have held at that period, and did not, is the loss.
struct AdvertisingInterval {
  /// Seconds between adverts; `nil` before two of them are heard apart.
  var period: Float? { learnt > 0 ? learnt : nil }

  /// The share of adverts that was not heard, 0 to 1.
  var loss: Float? {
    guard learnt > 0, span > 0 else { return nil }
    return max(0, 1 - gaps * learnt / span)
  }

  private var learnt: Float = 0
  /// How many gaps near the period make its mean; at most ``mostNear``.
  private var near: Float = 0
  /// How many gaps were much shorter than the period.
  private var shorter: Float = 0
  private var gaps: Float = 0
  private var span: Float = 0

  /// Gaps shorter than the shortest advertising interval but for its jitter, 20 ms (Core
  /// Specification, Vol 6, Part B, §4.4.2.2), are one event heard on several channels.
  private static let shortest: Float = 0.015
  /// A gap of more periods than this is an absence, not loss.
  private static let mostPeriods: Float = 50
  private static let mostNear: Float = 256

  /// Takes the nanoseconds since the sighting before.
  ///
  /// Which kind a gap is of cannot be foreseen, so each kind is a factor of 0 or 1: a wrong guess of
  /// the processor's costs more than the arithmetic.
  mutating func add(gap nanoseconds: Int64) {
    let gap = Float(nanoseconds) * 1e-9
    guard gap >= Self.shortest else { return }
    guard learnt > 0 else {
      learnt = gap
      return
    }
    let isShorter = Self.isLess(gap, 0.6 * learnt)
    let isNear = Self.isLess(gap, 1.5 * learnt) - isShorter
    let isLoss = Self.isLess(gap, Self.mostPeriods * learnt)
    near = min(near + isNear, Self.mostNear)
    learnt += isNear * (gap - learnt) / max(near, 1)
    gaps += isLoss
    span += isLoss * gap
    shorter += isShorter
    // Three times is no accident: the period is shorter than it seemed.
    if shorter == 3 {
      learnt = gap
      near = 0
      shorter = 0
    }
  }

  /// 1 where a positive number is less than another, else 0. Positive numbers order as their bits
  /// do, and integers compare without a branch.
  private static func isLess(_ left: Float, _ right: Float) -> Float {
    Float(left.bitPattern < right.bitPattern ? 1 as Int32 : 0)
  }
}
