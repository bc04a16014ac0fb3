/// The link from one beacon to one adapter.
struct AdapterLink: Sendable {
  var adapter: UInt16 = 0
  /// The number of sightings in ``level``, with a maximum that makes old ones fade.
  private(set) var count: UInt16 = 0
  /// The mean signal strength in dBm.
  private(set) var level: Float = 0
  /// The usual time between two sightings, in nanoseconds; 0 before the second one.
  private(set) var gap: Int64 = 0
  private var last = Int64.min

  /// The level of a signal that was not measured; every measured one is louder.
  static let unmeasured: Float = -127
  /// The margin in dB by which a link must be louder to be followed instead, and the extra margin
  /// for a link with one sighting, which shrinks with each further one.
  static let margin: Float = 3
  static let doubt: Float = 10
  private static let maximumCounted: UInt16 = 16
  /// The limits for silence, in gaps, hundredths of a gap and nanoseconds: a link is silent after
  /// `patience` gaps, at most `longest`, but never within `shortest` or `fewest` hundredths of a
  /// gap. A link without a known gap is silent after `unknown`.
  private static let patience: Int64 = 5
  private static let fewest: Int64 = 250
  private static let shortest: Int64 = 250_000_000
  private static let longest: Int64 = 4_000_000_000
  private static let unknown: Int64 = 2_000_000_000
  /// The limits for forgetting a link, in nanoseconds and in gaps, of which the longer applies. A
  /// single sighting is remembered longer, because the beacon may send rarely.
  private static let forgets: Int64 = 10_000_000_000
  private static let forgetsGaps: Int64 = 10
  private static let forgetsOne: Int64 = 60_000_000_000
  private static let maximumGap: Int64 = 3_600_000_000_000

  /// Receives a sighting with its signal strength in dBm, if measured, and its time in nanoseconds.
  mutating func receive(_ rssi: Int8?, at time: Int64) {
    let passed = silence(at: time)
    if passed > max(gap == 0 ? Self.forgetsOne : Self.forgets, Self.forgetsGaps * gap) {
      count = 0
      gap = 0
      level = 0
    }
    if count > 0 {
      // The gap of an absence is limited, because it does not measure the usual one.
      let counted = min(passed, gap > 0 ? 3 * gap : Self.maximumGap, Self.maximumGap)
      gap += (counted - gap) / Int64(min(count, 8))
    }
    count = min(count + 1, Self.maximumCounted)
    let signal = rssi.map(Float.init) ?? (count > 1 ? level : Self.unmeasured)
    level = level == Self.unmeasured ? signal : level + (signal - level) / Float(count)
    last = time
  }

  /// Returns whether the link has been silent for longer than usual. With one sighting only, the
  /// other link's gap is the usual one.
  func isSilent(at time: Int64, otherGap: Int64 = 0) -> Bool {
    let gap = gap == 0 ? otherGap : gap
    let few = gap == 0 ? Self.unknown : min(Self.patience * gap, Self.longest)
    return silence(at: time) > max(few, gap / 100 * Self.fewest, Self.shortest)
  }

  /// Returns whether the link is clearly louder than another, given the sightings of both.
  func isLouder(than other: AdapterLink) -> Bool {
    level - other.level > Self.margin + Self.doubt / Float(max(1, min(count, other.count)))
  }

  /// Returns the worth of remembering the link: its level, or minus infinity if it is silent.
  func worth(at time: Int64) -> Float { isSilent(at: time) ? -.infinity : level }

  private func silence(at time: Int64) -> Int64 {
    guard count > 0 else { return .max }
    let passed = time.subtractingReportingOverflow(last)
    return passed.overflow ? .max : max(0, passed.partialValue)
  }
}
