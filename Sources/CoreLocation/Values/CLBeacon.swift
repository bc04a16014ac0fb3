public import Foundation

/// A beacon that was ranged: who it is, how loud, how near.
///
/// Two beacons are equal only if they are the same object, as on Apple's systems; compare
/// ``uuid``, ``major`` and ``minor`` to know whether they are the same beacon.
open class CLBeacon: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let values: Values

  private struct Values {
    var uuid = UUID.zero
    var major: UInt16 = 0
    var minor: UInt16 = 0
    var proximity = CLProximity.unknown
    var accuracy: CLLocationAccuracy = -1
    var rssi = 0
    var timestamp = Date()
  }

  /// The UUID that the beacon sends.
  open var uuid: UUID { values.uuid }
  /// The UUID that the beacon sends, by its old name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }
  /// Which group the beacon belongs to: 0...65535.
  open var major: NSNumber { NSNumber(value: values.major) }
  /// Which one of its group the beacon is: 0...65535.
  open var minor: NSNumber { NSNumber(value: values.minor) }
  /// How near it is.
  open var proximity: CLProximity { values.proximity }
  /// How far it is at most, in metres, to one standard deviation; -1 if that is not known.
  ///
  /// It tells beacons of one proximity apart. It is no distance to measure with.
  open var accuracy: CLLocationAccuracy { values.accuracy }
  /// The mean signal strength since the last report, in dBm; 0 if nothing was heard.
  open var rssi: Int { values.rssi }
  /// When it was last heard.
  open var timestamp: Date { values.timestamp }

  /// Makes a beacon that was never heard, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  /// Makes a beacon.
  ///
  /// - Parameters:
  ///   - uuid: The UUID that it sends.
  ///   - major: Which group it belongs to.
  ///   - minor: Which one of the group it is.
  ///   - proximity: How near it is.
  ///   - accuracy: How far it is at most, in metres; -1 for not known.
  ///   - rssi: The mean signal strength in dBm; 0 for not heard.
  ///   - timestamp: When it was last heard.
  package init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, proximity: CLProximity,
    accuracy: CLLocationAccuracy, rssi: Int, timestamp: Date
  ) {
    values = Values(
      uuid: uuid, major: major, minor: minor, proximity: proximity, accuracy: accuracy,
      rssi: rssi, timestamp: timestamp)
    super.init()
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a beacon from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no beacon.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, let uuid = coder.decodeUUID("uuid"),
      let major = UInt16(exactly: coder.decodeInteger(forKey: "major")),
      let minor = UInt16(exactly: coder.decodeInteger(forKey: "minor")),
      let proximity = CLProximity(rawValue: coder.decodeInteger(forKey: "proximity"))
    else { return nil }
    values = Values(
      uuid: uuid, major: major, minor: minor, proximity: proximity,
      accuracy: coder.decodeDouble(forKey: "accuracy"), rssi: coder.decodeInteger(forKey: "rssi"),
      timestamp: coder.decodeDate("timestamp"))
    super.init()
  }

  /// Writes the beacon to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encodeUUID(uuid, "uuid")
    coder.encode(major.intValue, forKey: "major")
    coder.encode(minor.intValue, forKey: "minor")
    coder.encode(proximity.rawValue, forKey: "proximity")
    coder.encode(accuracy, forKey: "accuracy")
    coder.encode(rssi, forKey: "rssi")
    coder.encodeDate(timestamp, "timestamp")
  }

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The beacon itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "CLBeacon (uuid:\(uuid.uuidString), major:\(major), minor:\(minor), "
      + "proximity:\(proximity) +/- \(String(format: "%.2f", accuracy))m, rssi:\(rssi), "
      + "timestamp:\(timestamp))"
  }
}
