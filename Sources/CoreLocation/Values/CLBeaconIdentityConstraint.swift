public import Foundation

/// A description of beacons: those of a UUID, of one of its groups, or of one identity. Constraints
/// are equal by value, so an equal one can stop ranging.
open class CLBeaconIdentityConstraint: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let values: Values

  private struct Values: Hashable {
    var uuid: UUID
    var major: UInt16?
    var minor: UInt16?
  }

  /// The UUID of the beacons.
  open var uuid: UUID { values.uuid }
  /// The group; `nil` for all groups.
  open var major: CLBeaconMajorValue? { values.major }
  /// The number in the group; `nil` for all numbers.
  open var minor: CLBeaconMinorValue? { values.minor }

  /// Creates a constraint that no beacon satisfies, for subclasses that override what they need.
  public override init() {
    values = Values(uuid: .zero)
    super.init()
  }

  /// Creates a constraint for all beacons of a UUID.
  public init(uuid: UUID) {
    values = Values(uuid: uuid)
    super.init()
  }

  /// Creates a constraint for the beacons of one group.
  public init(uuid: UUID, major: CLBeaconMajorValue) {
    values = Values(uuid: uuid, major: major)
    super.init()
  }

  /// Creates a constraint for the beacons of one identity.
  public init(uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue) {
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// Creates a region's constraint, which may have a minor without a major.
  package init(uuid: UUID, anyMajor major: CLBeaconMajorValue?, anyMinor minor: CLBeaconMinorValue?)
  {
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a constraint from a keyed archive; `nil` if the archive contains none.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, let uuid = coder.decodeUUID("CLBeaconIdentityConstraint.uuid"),
      let major = coder.decodeOptionalUInt16("CLBeaconIdentityConstraint.major"),
      let minor = coder.decodeOptionalUInt16("CLBeaconIdentityConstraint.minor")
    else { return nil }
    values = Values(uuid: uuid, major: major, minor: minor)
    super.init()
  }

  /// Writes the constraint to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encodeUUID(uuid, "CLBeaconIdentityConstraint.uuid")
    if let major { coder.encode(Int(major), forKey: "CLBeaconIdentityConstraint.major") }
    if let minor { coder.encode(Int(minor), forKey: "CLBeaconIdentityConstraint.minor") }
  }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLBeaconIdentityConstraint else { return false }
    return uuid == other.uuid && major == other.major && minor == other.minor
  }

  open override var hash: Int { Values(uuid: uuid, major: major, minor: minor).hashValue }

  open override var description: String {
    "CLBeaconIdentityConstraint (uuid:\(uuid.uuidString), "
      + "major:\(major.map(String.init) ?? "any"), minor:\(minor.map(String.init) ?? "any"))"
  }
}
