/// Learns a beacon's advertising interval, and the share of its adverts that is lost, from the gaps between its
/// sightings.
///
/// A beacon of interval T that loses packets is received after T, 2T, 3T …; the learned period falls to the
/// shortest gap that comes again and again, and is then the mean of the gaps near it. What the time between
/// sightings would have held at that period, and did not, is the loss.
struct AdvertisingInterval {
  /// Seconds between adverts; `nil` before two of them are received apart.
  var period: Double? { learned > 0 ? Double(learned) / 1e9 : nil }

  /// The share of adverts that was lost, 0 to 1.
  var loss: Double? {
    guard learned > 0, span > 0 else { return nil }
    return max(0, 1 - Double(gaps) * Double(learned) / Double(span))
  }

  /// All times are in nanoseconds.
  private var learned: Int64 = 0
  private var span: Int64 = 0
  private var gaps: Int64 = 0
  /// How many gaps were much shorter than the period.
  private var shorter: Int64 = 0

  /// Gaps shorter than the shortest advertising interval but for its jitter, 20 ms (Core Specification, Vol 6, Part
  /// B, §4.4.2.2), are one event received on several channels.
  private static let shortest: Int64 = 15_000_000
  /// A month, so that no product below overflows.
  private static let longest: Int64 = 1 << 51
  /// A gap of more periods than this is an absence, not loss.
  private static let maximumPeriods: Int64 = 50

  /// Adds the nanoseconds since the sighting before.
  ///
  /// Which kind a gap is of cannot be foreseen, so each kind is a mask of no bits or of all: a wrong guess of the
  /// processor's costs more than the arithmetic.
  @inline(__always)
  mutating func add(gap nanoseconds: Int64) {
    let gap = min(nanoseconds, Self.longest)
    guard gap >= Self.shortest else { return }
    guard learned > 0 else {
      learned = gap
      return
    }
    let isShorter: Int64 = gap &* 5 < learned &* 3 ? -1 : 0
    let isLonger: Int64 = gap &* 2 < learned &* 3 ? 0 : -1
    let isLoss: Int64 = gap < learned &* Self.maximumPeriods ? -1 : 0
    // A sixteenth of the way: the mean of the last thirty or so gaps near the period.
    learned &+= (gap &- learned) >> 4 & ~(isShorter | isLonger)
    gaps &-= isLoss
    span &+= gap & isLoss
    shorter &-= isShorter
    // Three times is no accident: the period is shorter than it seemed.
    if shorter == 3 {
      learned = gap
      shorter = 0
    }
  }
}
