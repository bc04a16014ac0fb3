internal import RealModule

/// Learns from a beacon's gaps how long it is silent though it is there, and so how long a silence
/// must last before the beacon counts as gone.
///
/// It keeps how often gaps of each length were heard, forgetting over 12 h, and draws the
/// ``SilenceLearner/Tail`` from it. A value is trivially copyable, of about 300 bytes, and takes a few
/// nanoseconds a packet.
public struct SilenceLearner: Sendable, BitwiseCopyable {
  private var histogram = GapHistogram()
  /// The beacon's own interval, in seconds: the gap between packets of which none was lost.
  public private(set) var interval: Float = 0
  /// How long the beacon was listened to, in seconds, faded as the histogram is.
  private var watched: Float = 0
  /// How many gaps were learnt, faded as the histogram is.
  private var weight: Float = 0
  /// How many gaps were learnt in all; it stays at its greatest value.
  public private(set) var count: UInt32 = 0
  /// For how many seconds the histogram has not been faded.
  private var unfaded: Float = 0
  /// Gaps since the tail was drawn.
  private var fresh: Int32 = 0
  /// What was learnt of long gaps.
  public private(set) var tail = Tail()
  /// A silence longer than this is an absence and teaches nothing, in seconds.
  private var absence: Float = SilenceLearner.firstAbsence

  /// The share of time in which the beacon is listened to.
  private let share: Float

  /// A learner that knows nothing.
  ///
  /// - Parameter share: The share of time in which the beacon is listened to, from 0 to 1: the less, the
  ///   longer the gaps that it takes for possible before it has heard many.
  public init(listening share: Float = 1) {
    self.share = share
  }

  /// The time over which gaps are forgotten, in seconds of listening to the beacon: 12 h.
  public static let memory: Float = 43200
  /// A silence of up to this may always teach something, in seconds: bad spells last as long.
  public static let spell: Float = 30
  /// Beyond that, a silence teaches something if it is at most so many times as long as the limit for
  /// one false exit a day: longer ones are absences.
  public static let farBeyond: Float = 3
  /// A first gap that is longer than this is an absence, in seconds.
  public static let firstAbsence: Float = 120

  /// Takes the time between two packets of the beacon.
  ///
  /// - Parameter gap: The time, in seconds. Less than 16 ms is the same packet, heard twice: by two
  ///   adapters, or on two channels.
  /// - Returns: Whether ``tail`` was drawn anew.
  @discardableResult
  public mutating func hear(gap: Float) -> Bool {
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
      histogram, interval: interval, watched: watched, weight: weight, listening: share)
    absence = min(
      max(Self.spell, Self.farBeyond * tail.limit(falseExitsPerDay: 1)), GapHistogram.longest)
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
