public import Advertising
public import Scanning

/// What is known of one beacon when a report is made.
public struct RangedBeacon: Sendable, Hashable, Codable {
  /// Which beacon.
  public var beacon: BeaconIdentity
  /// How near it is; unknown where it was not heard lately, or without a signal strength.
  public var proximity: Proximity
  /// How far it is; `nil` where ``proximity`` is unknown.
  public var estimate: DistanceEstimate?
  /// How far it would be by ``rssi`` alone, in metres; `nil` where that is.
  public var rawDistance: Double?
  /// The mean signal strength since the report before, in dBm; `nil` where there was none.
  public var rssi: Int?
  /// The smoothed signal strength in dBm, which the distance is computed from.
  public var smoothed: Double?
  /// The standard error of ``smoothed``, in dB.
  public var smoothedError: Double?
  /// The power that the beacon advertises, in dBm, as heard.
  public var measuredPower: Int8
  /// How often it was heard since the report before.
  public var sightings: Int
  /// When it was first heard, since it was last not in the list.
  public var firstHeard: MonotonicTime
  /// When it was last heard.
  public var lastHeard: MonotonicTime
}

extension RangedBeacon {
  /// Core Location's order: the closest first, the unknown last, and of equals by identity.
  static func isCloser(_ left: RangedBeacon, _ right: RangedBeacon) -> Bool {
    let distances = (left.estimate?.distance ?? .infinity, right.estimate?.distance ?? .infinity)
    return distances.0 != distances.1 ? distances.0 < distances.1 : left.beacon < right.beacon
  }
}
