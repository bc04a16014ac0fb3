public import Advertising
public import Scanning

/// A beacon in a report.
public struct RangedBeacon: Sendable, Hashable, Codable {
  /// The beacon.
  public var beacon: BeaconIdentity
  /// Its proximity; unknown where it was not received lately, or without a signal strength.
  public var proximity: Proximity
  /// Its distance; `nil` where ``proximity`` is unknown.
  public var estimate: DistanceEstimate?
  /// Its distance by ``rssi`` alone, in meters; `nil` where that is.
  public var rawDistance: Double?
  /// The mean signal strength since the report before, in dBm; `nil` where there was none.
  public var rssi: Int?
  /// The smoothed signal strength in dBm, which the distance is computed from.
  public var smoothed: Double?
  /// The standard error of ``smoothed``, in dB.
  public var smoothedError: Double?
  /// The power that the beacon advertises, in dBm.
  public var measuredPower: Int8
  /// The number of sightings since the report before.
  public var sightings: Int
  /// When it was first received, since it was last not in the list.
  package var firstReceived: MonotonicTime
  /// When it was last received.
  public var lastReceived: MonotonicTime
  /// Its side, where two adapters have sides; `nil` where it is not known.
  public var side: Side?
}

extension RangedBeacon {
  /// Orders as Core Location does: the closest first, the unknown last, and equals by identity.
  static func isCloser(_ left: RangedBeacon, _ right: RangedBeacon) -> Bool {
    let distances = (left.estimate?.distance ?? .infinity, right.estimate?.distance ?? .infinity)
    return distances.0 != distances.1 ? distances.0 < distances.1 : left.beacon < right.beacon
  }
}
