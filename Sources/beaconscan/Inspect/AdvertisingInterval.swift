/// Learns a beacon's advertising interval and loss from the gaps between its sightings.
///
/// With an interval T and losses, gaps are T, 2T, 3T …. The learned period falls to the shortest
/// gap that recurs, and follows the mean of the gaps near it. The loss is the share of expected
/// adverts that were not received.
struct AdvertisingInterval {
  /// The seconds between adverts, or `nil` before the first gap.
  var period: Double? { learned > 0 ? Double(learned) / 1e9 : nil }

  var loss: Double? {
    guard learned > 0, span > 0 else { return nil }
    return max(0, 1 - Double(gaps) * Double(learned) / Double(span))
  }

  var samples: Int { learned > 0 ? Int(gaps) + 1 : 0 }

  func marked(_ text: String?) -> String? {
    text.map { samples < Self.fewSamples ? "~" + $0 : $0 }
  }

  /// The number of gaps from which on a mark is not needed.
  static let fewSamples = 10

  /// In nanoseconds, like the other times.
  private var learned: Int64 = 0
  private var span: Int64 = 0
  private var gaps: Int64 = 0
  /// The number of gaps that were much shorter than the period.
  private var shorter: Int64 = 0

  /// Shorter gaps are one event received on several channels. The shortest advertising interval is
  /// 20 ms minus jitter (Core Specification, Vol 6, Part B, §4.4.2.2).
  private static let shortest: Int64 = 15_000_000
  /// About a month, so that no product below overflows.
  private static let longest: Int64 = 1 << 51
  /// A gap of more periods is an absence, not loss.
  private static let maximumPeriods: Int64 = 50

  /// Adds the nanoseconds since the previous sighting. The kinds of gaps are unpredictable, so
  /// masks replace branches: a misprediction costs more than the arithmetic.
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
    // A step of 1/16 yields about the mean of the last thirty gaps near the period.
    learned &+= (gap &- learned) >> 4 & ~(isShorter | isLonger)
    gaps &-= isLoss
    span &+= gap & isLoss
    shorter &-= isShorter
    if shorter == 3 {
      learned = gap
      shorter = 0
    }
  }
}
