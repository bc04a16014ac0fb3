/// The rules for entering and leaving a region.
///
/// Without gates, count and dwell, a beacon enters with its first sighting and leaves by the exit
/// timeout. Each beacon must meet all rules by itself. The region is entered with the first beacon,
/// and left with the last.
public struct RegionRules: Sendable, Hashable, Codable {
  /// The silence after which a beacon counts as gone.
  public private(set) var exitTimeout = ExitTimeoutRule.adaptive()
  /// The signal strength that a beacon must have; `nil` for any.
  public private(set) var signal: SignalGate?
  /// The distance within which a beacon must be; `nil` for any.
  public private(set) var distance: DistanceGate?
  /// The number of a beacon's last sightings that must lie inside the gates to enter.
  public private(set) var count = EnterCount.first
  /// The time in seconds for which a beacon must be inside the gates to enter, with a later
  /// sighting.
  public private(set) var dwell = 0.0
  /// Whether every beacon that enters or leaves is reported, not only the first and the last. At
  /// most 512 are inside at once; others enter when one has left.
  public private(set) var reportsEachBeacon = false

  /// The default: an adaptive exit timeout with one false exit a day.
  public static let standard = RegionRules()

  private init() {}

  /// Creates rules. Signal strength and distance may be `nil` for any; `dwell` is in seconds.
  ///
  /// - Throws: ``RegionError`` for an invalid rule.
  public init(
    exitTimeout: ExitTimeoutRule = .adaptive(), signal: SignalGate? = nil,
    distance: DistanceGate? = nil,
    count: EnterCount = .first, dwell: Double = 0, reportsEachBeacon: Bool = false
  ) throws(RegionError) {
    switch exitTimeout {
    case .fixed(let seconds):
      guard seconds > 0, seconds <= RegionRules.longest else { throw .exitTimeout(seconds) }
    case .adaptive(let wanted, let ceiling):
      guard wanted >= 1e-6, wanted <= 86400 else { throw .falseExits(wanted) }
      guard ceiling >= ExitTimeoutRule.floor, ceiling <= RegionRules.longest else {
        throw .ceiling(ceiling)
      }
    }
    if let signal {
      guard signal.enter >= signal.exit, signal.exit >= -200, signal.enter <= 100 else {
        throw .signal(enter: signal.enter, exit: signal.exit)
      }
      guard signal.excess >= 0, signal.excess <= 1000 else { throw .excess(signal.excess) }
    }
    if let distance {
      guard distance.enter > 0, distance.enter <= distance.exit, distance.exit <= 1000 else {
        throw .distance(enter: distance.enter, exit: distance.exit)
      }
      guard distance.excess >= 0, distance.excess <= 1000 else { throw .excess(distance.excess) }
    }
    guard count.needed >= 1, count.needed <= count.last, count.last <= EnterCount.maximum else {
      throw .count(needed: count.needed, last: count.last)
    }
    guard dwell >= 0, dwell <= RegionRules.longest else { throw .dwell(dwell) }
    self.exitTimeout = exitTimeout
    self.signal = signal
    self.distance = distance
    self.count = count
    self.dwell = dwell
    self.reportsEachBeacon = reportsEachBeacon
  }

  /// Decodes and validates rules.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      exitTimeout: values.decode(ExitTimeoutRule.self, forKey: .exitTimeout),
      signal: values.decodeIfPresent(SignalGate.self, forKey: .signal),
      distance: values.decodeIfPresent(DistanceGate.self, forKey: .distance),
      count: values.decode(EnterCount.self, forKey: .count),
      dwell: values.decode(Double.self, forKey: .dwell),
      // Rules of older versions do not have this one.
      reportsEachBeacon: values.decodeIfPresent(Bool.self, forKey: .reportsEachBeacon) ?? false)
  }

  /// The longest time of a rule, in seconds: a week.
  package static let longest = 604_800.0
  /// The most beacons in a region whose rules report each: the capacity of the store.
  package static let maximumBeaconsInside = 512

  /// Whether a beacon can leave while it is received.
  var hasGates: Bool { signal != nil || distance != nil }
}

/// The number of a beacon's last sightings that must lie inside the gates.
public struct EnterCount: Sendable, Hashable, Codable {
  /// The required number.
  public let needed: Int
  /// The number of last sightings, at most 64.
  public let last: Int

  /// A count that the first sighting meets.
  public static let first = EnterCount(needed: 1, of: 1)
  package static let maximum = 64

  /// Creates a count of required sightings of a number of last ones.
  public init(needed: Int, of last: Int) { (self.needed, self.last) = (needed, last) }
}
