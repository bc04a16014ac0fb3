public import Foundation

/// Which beacons are meant: those of a UUID, of a major of it, or one alone.
///
/// Constraints are equal by value: a fresh equal one stops what another started.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let values: Values

  private struct Values: Hashable {
    var uuid: UUID
    var major: UInt16?
    var minor: UInt16?
  }

  /// Whose beacons.
  open var uuid: UUID { values.uuid }
  /// Which group; `nil` for all.
  open var major: CLBeaconMajorValue? { values.major }
  /// Which one of the group; `nil` for all.
  open var minor: CLBeaconMinorValue? { values.minor }

  /// Means no beacon that anyone sends, for subclasses that override what they need.
  public override init() {
    values = Values(uuid: .zero)
    super.init()
  }

  /// Means all beacons of a UUID.
  ///
  /// - Parameter uuid: Whose beacons.
  public init(uuid: UUID) {
    values = Values(uuid: uuid)
    super.init()
  }

  /// Means the beacons of one group.
  ///
  /// - Parameters:
  ///   - uuid: Whose beacons.
  ///   - major: Which group.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    values = Values(uuid: uuid, major: major)
    super.init()
  }

  /// Means the beacons of one identity.
  ///
  /// - Parameters:
  ///   - uuid: Whose beacons.
  ///   - major: Which group.
  ///   - minor: Which one of the group.
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// Means what a region means; a minor without a major counts.
  package init(uuid: UUID, anyMajor major: CLBeaconMajorValue?, anyMinor minor: CLBeaconMinorValue?)
  {
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a constraint from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no constraint.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, let uuid = coder.decodeUUID("CLBeaconIdentityConstraint.uuid"),
      let major = coder.decodeOptionalUInt16("CLBeaconIdentityConstraint.major"),
      let minor = coder.decodeOptionalUInt16("CLBeaconIdentityConstraint.minor")
    else { return nil }
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// Writes the constraint to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encodeUUID(uuid, "CLBeaconIdentityConstraint.uuid")
    if let major { coder.encode(Int(major), forKey: "CLBeaconIdentityConstraint.major") }
    if let minor { coder.encode(Int(minor), forKey: "CLBeaconIdentityConstraint.minor") }
  }

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The constraint itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLBeaconIdentityConstraint else { return false }
    return uuid == other.uuid && major == other.major && minor == other.minor
  }

  open override var hash: Int {
    Values(uuid: uuid, major: major, minor: minor).hashValue
  }

  open override var description: String {
    "CLBeaconIdentityConstraint (uuid:\(uuid.uuidString), "
      + "major:\(major.map(String.init) ?? "any"), minor:\(minor.map(String.init) ?? "any"))"
  }
}
