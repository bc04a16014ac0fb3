internal import RealModule

/// Learns the gaps of a present beacon, and hence the silence after which it counts as gone. It
/// keeps a histogram of gaps, forgets over 12 h, and derives the ``GapLearner/Tail``.
package struct GapLearner: Sendable, BitwiseCopyable {
  private var histogram = GapHistogram()
  /// The beacon's own interval, in seconds: the gap between packets without loss.
  package private(set) var interval: Float = 0
  /// The seconds of reception, which fade like the histogram.
  private var watched: Float = 0
  /// The number of gaps, which fades like the histogram.
  private var weight: Float = 0
  /// The number of all gaps, which saturates.
  package private(set) var count: UInt32 = 0
  /// The seconds since the histogram was faded.
  private var unfaded: Float = 0
  /// The number of gaps since the tail was derived.
  private var fresh: Int32 = 0
  package private(set) var tail = Tail()
  /// The silence, in seconds, beyond which the beacon was absent and nothing is learned.
  private var absence: Float = GapLearner.firstAbsence

  /// The share of time in which the scanner receives.
  private let share: Float

  /// Creates a learner for a scanner that receives for a share of time, from 0 to 1.
  package init(share: Float = 1) { self.share = share }

  /// The seconds of reception over which gaps are forgotten: 12 h.
  static let memory: Float = 43200
  /// The silence in seconds up to which a gap is always learned: bad spells last as long.
  static let spell: Float = 30
  /// The factor over the timeout for one false exit a day beyond which a silence is an absence.
  static let farBeyond: Float = 3
  /// The length, in seconds, beyond which the first gap is an absence.
  static let firstAbsence: Float = 120

  /// Learns the seconds between two packets of the beacon, and returns whether ``tail`` was derived
  /// again. Less than 16 ms is one packet received twice.
  @discardableResult
  package mutating func learn(gap: Float) -> Bool {
    guard gap >= GapHistogram.shortest, gap <= absence else { return false }
    histogram.add(gap)
    watched += gap
    unfaded += gap
    weight += 1
    if count != .max { count += 1 }
    fresh &+= 1
    follow(gap)
    // For each of the first gaps and for every long one, else once in 256 or an eighth of all.
    guard
      fresh >= 256 || count <= 16 || Float(fresh) * 8 >= weight
        || gap > tail.rare.threshold + 0.5 * interval
    else { return false }
    draw()
    return true
  }

  /// Follows the interval: at first the shortest gap, then the mean of similar gaps.
  private mutating func follow(_ gap: Float) {
    if (gap - interval).magnitude < 0.25 * interval {
      interval += (gap - interval) * (count < 64 ? 0.125 : 0.015625)
    } else if count == 1 || (count <= 16 && gap < interval) {
      interval = gap
    }
  }

  private mutating func draw() {
    fresh = 0
    if unfaded > 600 {
      let share = Float.exp(-unfaded / Self.memory)
      histogram.fade(to: share)
      watched *= share
      weight *= share
      unfaded = 0
    }
    if count > 16 { holdInterval() }
    tail = Tail(
      histogram, interval: interval, watched: watched, weight: weight, share: share)
    absence = min(
      max(Self.spell, Self.farBeyond * tail.timeout(falseExitsPerDay: 1)), GapHistogram.longest)
  }

  /// Keeps the interval near the 5 % quantile of the gaps, to detect that the beacon changed it.
  private mutating func holdInterval() {
    var below: Float = 0
    for bin in 0..<GapHistogram.bins {
      below += histogram[bin]
      guard below >= 0.05 * weight else { continue }
      let (low, high) = GapHistogram.range(of: bin)
      if interval < 0.8 * low || interval > 1.25 * high { interval = 0.5 * (low + high) }
      return
    }
  }
}
