/// The rules by which a region is entered and left.
///
/// Without gates, count and dwell it is entered with the first sighting and left by the exit timeout alone. Each
/// rule is kept for every beacon of the region by itself; the region is entered with the first beacon
/// that meets them all, and left with the last. With ``reportsEachBeacon`` each of them enters and leaves.
public struct RegionRules: Sendable, Hashable, Codable {
  /// How long a beacon must be silent to count as gone.
  public let exitTimeout: ExitTimeoutRule
  /// The signal strength that a beacon must have; `nil` for any.
  public let signal: SignalGate?
  /// The distance within which a beacon must be; `nil` for any.
  public let distance: DistanceGate?
  /// How many of a beacon's last sightings must lie inside the gates to enter.
  public let count: EnterCount
  /// For how long a beacon must be received inside the gates to enter, in seconds.
  ///
  /// It is over with the first sighting after that time: a beacon that was received once does not enter.
  public let dwell: Double
  /// Whether each beacon of the region is reported as it enters and leaves, and not only the first and the last.
  ///
  /// The region then has one state for each beacon, at most 512 of them inside at once: further ones enter when
  /// others have left.
  public let reportsEachBeacon: Bool

  /// An adaptive exit timeout with one false exit a day, and nothing else.
  public static let standard = RegionRules()

  private init() {
    (exitTimeout, signal, distance, count, dwell) = (.adaptive(), nil, nil, .first, 0)
    reportsEachBeacon = false
  }

  /// Creates rules, if they can be kept.
  ///
  /// - Parameters:
  ///   - exitTimeout: How long a beacon must be silent to count as gone.
  ///   - signal: The signal strength that a beacon must have; `nil` for any.
  ///   - distance: The distance within which a beacon must be; `nil` for any.
  ///   - count: How many of its last sightings must lie inside the gates to enter.
  ///   - dwell: For how long it must be received inside the gates to enter, in seconds.
  ///   - reportsEachBeacon: Whether each beacon of the region is reported as it enters and leaves.
  /// - Throws: ``RegionError`` for a rule that cannot be kept.
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
    (self.exitTimeout, self.signal, self.distance, self.count, self.dwell) =
      (exitTimeout, signal, distance, count, dwell)
    self.reportsEachBeacon = reportsEachBeacon
  }

  /// Decodes rules, if they can be kept.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      exitTimeout: values.decode(ExitTimeoutRule.self, forKey: .exitTimeout),
      signal: values.decodeIfPresent(SignalGate.self, forKey: .signal),
      distance: values.decodeIfPresent(DistanceGate.self, forKey: .distance),
      count: values.decode(EnterCount.self, forKey: .count),
      dwell: values.decode(Double.self, forKey: .dwell),
      // Rules that were stored before there was this one do not have it.
      reportsEachBeacon: values.decodeIfPresent(Bool.self, forKey: .reportsEachBeacon) ?? false)
  }

  /// The longest time of a rule, in seconds: a week.
  package static let longest = 604_800.0
  /// The most beacons inside a region whose rules report each: the store holds the states of so many.
  package static let maximumBeaconsInside = 512

  /// Whether a beacon inside the region can leave it while it is received.
  var hasGates: Bool { signal != nil || distance != nil }
}

/// The number of a beacon's last sightings that must lie inside the gates.
public struct EnterCount: Sendable, Hashable, Codable {
  /// The number that is needed.
  public let needed: Int
  /// The number that is looked at; at most 64.
  public let last: Int

  /// The first sighting is enough.
  public static let first = EnterCount(needed: 1, of: 1)
  /// The greatest number of last sightings: 64.
  package static let maximum = 64

  /// Creates a count.
  ///
  /// - Parameters:
  ///   - needed: How many sightings must lie inside the gates.
  ///   - last: Of how many.
  public init(needed: Int, of last: Int) { (self.needed, self.last) = (needed, last) }
}
