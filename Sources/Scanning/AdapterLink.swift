/// One beacon as one adapter receives it.
struct AdapterLink: Sendable {
  var adapter: UInt16 = 0
  /// How many sightings ``level`` rests on, up to a number from which the old ones fade.
  private(set) var count: UInt16 = 0
  /// The mean signal strength in dBm.
  private(set) var level: Float = 0
  /// The usual time between two sightings, in nanoseconds; 0 as long as there was only one.
  private(set) var gap: Int64 = 0
  private var last = Int64.min

  /// What stands for a signal that was not measured: any that was is louder.
  static let unmeasured: Float = -127
  /// What a link must be louder by, in dB, to be followed instead, and how much more by as long as little of it
  /// is known: less by each sighting.
  static let (margin, doubt): (Float, Float) = (3, 10)
  /// Of so many sightings a level is a plain mean.
  private static let maximumCounted: UInt16 = 16
  /// A link is silent after so many of its gaps, but within these times, in nanoseconds; and never within so
  /// many hundredths of a gap, however seldom it is sent.
  private static let (patience, fewest): (Int64, Int64) = (5, 250)
  private static let (shortest, longest): (Int64, Int64) = (250_000_000, 4_000_000_000)
  private static let unknown: Int64 = 2_000_000_000
  /// After so long, or so many of its gaps, what was known of a link is known no more; a single sighting is
  /// remembered for longer, as it may be seldom sent.
  private static let forgets: Int64 = 10_000_000_000
  private static let forgetsGaps: Int64 = 10
  private static let forgetsOne: Int64 = 60_000_000_000
  /// No gap is longer, in nanoseconds: an hour.
  private static let maximumGap: Int64 = 3_600_000_000_000

  /// Receives a sighting: its signal strength in dBm, if it was measured, and its time in nanoseconds.
  mutating func receive(_ rssi: Int8?, at time: Int64) {
    let passed = silence(at: time)
    if passed > max(gap == 0 ? Self.forgetsOne : Self.forgets, Self.forgetsGaps * gap) {
      (count, gap, level) = (0, 0, 0)
    }
    if count > 0 {
      // A gap of an absence is no measure of the usual one.
      let counted = min(passed, gap > 0 ? 3 * gap : Self.maximumGap, Self.maximumGap)
      gap += (counted - gap) / Int64(min(count, 8))
    }
    count = min(count + 1, Self.maximumCounted)
    let signal = rssi.map(Float.init) ?? (count > 1 ? level : Self.unmeasured)
    // The first that is measured is all that is known.
    level = level == Self.unmeasured ? signal : level + (signal - level) / Float(count)
    last = time
  }

  /// Whether it has been silent for longer than is usual. Of a link with one sighting, another link's gap
  /// says what is usual, where that is known.
  func isSilent(at time: Int64, otherGap: Int64 = 0) -> Bool {
    let gap = gap == 0 ? otherGap : gap
    let few = gap == 0 ? Self.unknown : min(Self.patience * gap, Self.longest)
    return silence(at: time) > max(few, gap / 100 * Self.fewest, Self.shortest)
  }

  /// Whether it is clearly louder than another, for what is known of both.
  func isLouder(than other: AdapterLink) -> Bool {
    level - other.level > Self.margin + Self.doubt / Float(max(1, min(count, other.count)))
  }

  /// What it is worth to remember: its level, and nothing when it is silent.
  func worth(at time: Int64) -> Float { isSilent(at: time) ? -.infinity : level }

  private func silence(at time: Int64) -> Int64 {
    guard count > 0 else { return .max }
    let passed = time.subtractingReportingOverflow(last)
    return passed.overflow ? .max : max(0, passed.partialValue)
  }
}
