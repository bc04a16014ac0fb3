public import Advertising
public import Scanning

/// A beacon in a report.
public struct RangedBeacon: Sendable, Hashable, Codable {
  /// The beacon.
  public var beacon: BeaconIdentity
  /// Its proximity; unknown if the beacon was not received lately, or without a signal strength.
  public var proximity: Proximity
  /// Its distance; `nil` if ``proximity`` is unknown.
  public var estimate: DistanceEstimate?
  /// Its distance by ``rssi`` and the path-loss formula alone, in meters; `nil` if ``rssi`` is.
  public var rawDistance: Double?
  /// The mean signal strength since the previous report, in dBm; `nil` if none was measured.
  public var rssi: Int?
  /// The smoothed signal strength, in dBm, by which the zone changes. The distance is computed from
  /// the part of it that is not shadowing.
  public var smoothed: Double?
  /// The standard error of ``smoothed``, in dB.
  public var smoothedError: Double?
  /// The power that the beacon advertises, in dBm.
  public var measuredPower: Int8
  /// The number of sightings since the previous report.
  public var sightings: Int
  /// The time of the first sighting since the beacon entered the list.
  package var firstReceived: MonotonicTime
  /// The time of the last sighting.
  public var lastReceived: MonotonicTime
  /// Its side, if two adapters determine sides; `nil` if unknown.
  public var side: Side?
}

extension RangedBeacon {
  /// Orders as Core Location does: closest first, unknown last, and equal distances by identity.
  static func isCloser(_ left: RangedBeacon, _ right: RangedBeacon) -> Bool {
    (left.estimate?.distance ?? .infinity, left.beacon)
      < (right.estimate?.distance ?? .infinity, right.beacon)
  }
}
