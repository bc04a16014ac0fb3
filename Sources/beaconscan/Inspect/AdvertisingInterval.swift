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
    return max(0, 1 - Float(gaps) * learnt / span)
  }

  private var learnt: Float = 0
  private var near: Float = 0
  private var shorter: UInt8 = 0
  private var gaps: Int32 = 0
  private var span: Float = 0

  /// Gaps shorter than the shortest advertising interval but for its jitter, 20 ms (Core
  /// Specification, Vol 6, Part B, §4.4.2.2), are one event heard on several channels.
  private static let shortest: Float = 0.015
  /// A gap of more periods than this is an absence, not loss.
  private static let mostPeriods: Float = 50

  /// Takes the nanoseconds since the sighting before.
  mutating func add(gap nanoseconds: Int64) {
    let gap = Float(nanoseconds) * 1e-9
    guard gap >= Self.shortest else { return }
    guard learnt > 0 else {
      learnt = gap
      return
    }
    if gap < 0.6 * learnt {
      shorter &+= 1
      // Three times is no accident: the period is shorter than it seemed.
      if shorter == 3 {
        learnt = gap
        near = 0
        shorter = 0
      }
    } else if gap < 1.5 * learnt {
      near = min(near + 1, 256)
      learnt += (gap - learnt) / near
    }
    if gap < Self.mostPeriods * learnt {
      gaps &+= 1
      span += gap
    }
  }
}
