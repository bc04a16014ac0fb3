import Advertising
public import Foundation
import Ranging

/// A beacon in a ranging report: its identity, signal strength and distance. As on Apple's systems,
/// beacons are equal only if they are the same object; compare ``uuid``, ``major`` and ``minor``.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let values: Values

  struct Values {
    var uuid = UUID.zero
    var major: UInt16 = 0
    var minor: UInt16 = 0
    var proximity = CLProximity.unknown
    var accuracy: CLLocationAccuracy = -1
    var rssi = 0
    var timestamp = Date()
    var distance: CLLocationDistance?
    var range: ClosedRange<CLLocationDistance>?
  }

  /// The UUID that the beacon advertises.
  open var uuid: UUID { values.uuid }
  /// The UUID that the beacon advertises, under its former name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }
  /// The group that the beacon belongs to: 0...65535.
  open var major: NSNumber { NSNumber(value: values.major) }
  /// The beacon's number in its group: 0...65535.
  open var minor: NSNumber { NSNumber(value: values.minor) }
  /// The zone that the beacon is in.
  open var proximity: CLProximity { values.proximity }
  /// The approximate distance to the beacon, in meters; -1 if it is not known.
  ///
  /// It is the smoothed estimate, limited to the zone that ``proximity`` reports, and the order of
  /// lists. ``estimatedDistance`` has no limits.
  open var accuracy: CLLocationAccuracy { values.accuracy }
  /// The mean signal strength since the last report, in dBm; 0 if no signal was received.
  open var rssi: Int { values.rssi }
  /// The time at which the beacon was last received.
  open var timestamp: Date { values.timestamp }
  /// The estimated distance, in meters; `nil` if it is not known. Apple's class has no such
  /// property.
  public var estimatedDistance: CLLocationDistance? { values.distance }
  /// The range in meters that contains the true distance with a probability of 95 %; `nil` if
  /// unknown.
  public var estimatedDistanceRange: ClosedRange<CLLocationDistance>? { values.range }

  /// Creates a beacon without values, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  init(_ values: Values) {
    self.values = values
    super.init()
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a beacon from a keyed archive; `nil` if there is none, except for a subclass.
  public required init?(coder: NSCoder) {
    let isOfSubclass = Self.self != CLBeacon.self && !coder.containsValue(forKey: "CLBeacon.uuid")
    guard coder.allowsKeyedCoding,
      let uuid = isOfSubclass ? .zero : coder.decodeUUID("CLBeacon.uuid"),
      let major = UInt16(exactly: coder.decodeWhole("CLBeacon.major")),
      let minor = UInt16(exactly: coder.decodeWhole("CLBeacon.minor")),
      let proximity = CLProximity(rawValue: coder.decodeWhole("CLBeacon.proximity"))
    else { return nil }
    values = Values(
      uuid: uuid, major: major, minor: minor, proximity: proximity,
      accuracy: coder.decodeNumber("CLBeacon.accuracy"),
      rssi: coder.decodeWhole("CLBeacon.rssi"),
      timestamp: coder.decodeDate("CLBeacon.timestamp"),
      distance: coder.decodeOptionalDouble("CLBeacon.distance"),
      range: coder.decodeRange("CLBeacon.shortestDistance", "CLBeacon.longestDistance"))
    super.init()
  }

  /// Writes the beacon to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encodeUUID(uuid, "CLBeacon.uuid")
    coder.encode(major.intValue, forKey: "CLBeacon.major")
    coder.encode(minor.intValue, forKey: "CLBeacon.minor")
    coder.encode(proximity.rawValue, forKey: "CLBeacon.proximity")
    coder.encode(accuracy, forKey: "CLBeacon.accuracy")
    coder.encode(rssi, forKey: "CLBeacon.rssi")
    coder.encodeDate(timestamp, "CLBeacon.timestamp")
    if let distance = estimatedDistance { coder.encode(distance, forKey: "CLBeacon.distance") }
    if let range = estimatedDistanceRange {
      coder.encode(range.lowerBound, forKey: "CLBeacon.shortestDistance")
      coder.encode(range.upperBound, forKey: "CLBeacon.longestDistance")
    }
  }

  /// Returns the beacon itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "CLBeacon (uuid:\(uuid.uuidString), major:\(major), minor:\(minor), "
      + "proximity:\(proximity) +/- \(String(format: "%.2f", accuracy))m, rssi:\(rssi), "
      + "timestamp:\(timestamp))"
  }
}

extension CLBeacon {
  /// Creates a beacon from the ranger's report.
  convenience init(_ ranged: RangedBeacon, limits: ProximityLimits, timestamp: Date) {
    let interval = ranged.estimate?.interval(coverage: 0.95)
    self.init(
      Values(
        uuid: UUID(ranged.beacon.uuid), major: ranged.beacon.major, minor: ranged.beacon.minor,
        proximity: CLProximity(ranged.proximity),
        accuracy: ranged.estimate.map { limits.clamp($0.distance, to: ranged.proximity) } ?? -1,
        rssi: ranged.rssi ?? 0, timestamp: timestamp, distance: ranged.estimate?.distance,
        range: interval.map { $0.low...max($0.low, $0.high) }))
  }

  /// Returns whether a beacon precedes another one in a list: the closest first, the unknown last.
  static func isCloser(_ left: CLBeacon, _ right: CLBeacon) -> Bool {
    guard left.accuracy >= 0 else { return false }
    return right.accuracy < 0 || left.accuracy < right.accuracy
  }
}

extension ProximityLimits {
  /// Returns the distance in a zone that is nearest to an estimate, in meters; -1 for no zone.
  fileprivate func clamp(_ distance: Double, to zone: Proximity) -> Double {
    switch zone {
    case .unknown: -1
    case .immediate: min(distance, leaveImmediate)
    case .near: min(max(distance, enterImmediate), leaveNear)
    case .far: max(distance, enterNear)
    }
  }
}
