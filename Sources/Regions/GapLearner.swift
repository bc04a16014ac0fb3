internal import RealModule

/// A learner of a beacon's gaps: how long it is silent though it is there, and so how long a silence
/// must last before the beacon counts as gone.
///
/// It keeps the frequency of gaps of each length, forgetting over 12 h, and draws the ``GapLearner/Tail`` from it.
/// A value is trivially copyable, of about 300 bytes, and takes a few nanoseconds a packet.
package struct GapLearner: Sendable, BitwiseCopyable {
  private var histogram = GapHistogram()
  /// The beacon's own interval, in seconds: the gap between packets of which none was lost.
  package private(set) var interval: Float = 0
  /// The seconds of reception, faded as the histogram is.
  private var watched: Float = 0
  /// The number of gaps, faded as the histogram is.
  private var weight: Float = 0
  /// The number of gaps in all; it stays at its greatest value.
  package private(set) var count: UInt32 = 0
  /// The seconds for which the histogram has not been faded.
  private var unfaded: Float = 0
  /// The number of gaps since the tail was drawn.
  private var fresh: Int32 = 0
  /// What is learned of long gaps.
  package private(set) var tail = Tail()
  /// A silence longer than this is an absence and teaches nothing, in seconds.
  private var absence: Float = GapLearner.firstAbsence

  /// The share of time in which the scanner receives.
  private let share: Float

  /// Creates a learner of a scanner that receives for a share of time, from 0 to 1: the less, the longer the gaps
  /// that are taken for possible before many are known.
  package init(share: Float = 1) { self.share = share }

  /// The time over which gaps are forgotten, in seconds of reception: 12 h.
  static let memory: Float = 43200
  /// A silence of up to this always teaches something, in seconds: bad spells last as long.
  static let spell: Float = 30
  /// Beyond that, a silence teaches something if it is at most so many times as long as the timeout for
  /// one false exit a day: longer ones are absences.
  static let farBeyond: Float = 3
  /// A first gap that is longer than this is an absence, in seconds.
  static let firstAbsence: Float = 120

  /// Learns the seconds between two packets of the beacon, and returns whether ``tail`` was drawn anew. Less than
  /// 16 ms is the same packet, received twice: by two adapters, or on two channels.
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

  /// Follows the interval: at first the shortest gap, then the mean of the gaps like it.
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

  /// Holds the interval near the gap that one in twenty does not reach, so that it is found again
  /// when the beacon changes it.
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
