import Advertising
public import Foundation
public import Regions
import Synchronization

/// The region in which beacons of a UUID, of a group or of one identity are received.
open class CLBeaconRegion: CLRegion, @unchecked Sendable {
  // Sendable: the values that change are atomic. A subclass is responsible for what it adds.
  private let constraint: CLBeaconIdentityConstraint
  private let display = Atomic<Bool>(false)
  private let ownRules = Mutex<RegionRules?>(nil)

  /// The UUID of the beacons.
  open var uuid: UUID { constraint.uuid }
  /// The UUID of the beacons, under its former name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }
  /// The group, 0...65535; `nil` for all groups.
  open var major: NSNumber? { constraint.major.map { NSNumber(value: $0) } }
  /// The number in the group, 0...65535; `nil` for all numbers.
  open var minor: NSNumber? { constraint.minor.map { NSNumber(value: $0) } }
  /// The constraint that the region's beacons satisfy.
  open var beaconIdentityConstraint: CLBeaconIdentityConstraint { constraint }

  /// A Boolean value without effect, because displays do not report waking. The default is `false`.
  open var notifyEntryStateOnDisplay: Bool {
    get { display.load(ordering: .relaxed) }
    set { display.store(newValue, ordering: .relaxed) }
  }

  /// The rules for entering and leaving the region, to be set before monitoring starts; `nil`, the
  /// default, for ``LocationServices/Configuration/rules``. Apple's class has no such property.
  open var rules: RegionRules? {
    get { ownRules.withLock { $0 } }
    set { ownRules.withLock { $0 = newValue } }
  }

  /// Creates a region that no beacon satisfies, for subclasses that override what they need.
  public override init() {
    constraint = CLBeaconIdentityConstraint()
    super.init()
  }

  /// Creates the region of all beacons of a UUID.
  public init(uuid: UUID, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid)
    super.init(named: identifier)
  }

  /// Creates the region of one group.
  public init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major)
    super.init(named: identifier)
  }

  /// Creates the region of one identity.
  public init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor)
    super.init(named: identifier)
  }

  /// Creates the region of the beacons that satisfy a constraint.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    constraint = CLBeaconIdentityConstraint(
      uuid: beaconIdentityConstraint.uuid, anyMajor: beaconIdentityConstraint.major,
      anyMinor: beaconIdentityConstraint.minor)
    super.init(named: identifier)
  }

  /// Creates the region of all beacons of a UUID, in the former spelling.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public init(proximityUUID: UUID, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID)
    super.init(named: identifier)
  }

  /// Creates the region of one group, in the former spelling.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major)
    super.init(named: identifier)
  }

  /// Creates the region of one identity, in the former spelling.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major, minor: minor)
    super.init(named: identifier)
  }

  /// Creates a region from a keyed archive; `nil` if the archive contains no region of beacons.
  public required init?(coder: NSCoder) {
    guard let constraint = CLBeaconIdentityConstraint(coder: coder) else { return nil }
    self.constraint = constraint
    super.init(coder: coder)
    notifyEntryStateOnDisplay = coder.decodeBool(forKey: "CLBeaconRegion.notifyEntryStateOnDisplay")
  }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    constraint.encode(with: coder)
    coder.encode(notifyEntryStateOnDisplay, forKey: "CLBeaconRegion.notifyEntryStateOnDisplay")
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    guard type(of: self) == CLBeaconRegion.self else { return self }
    let copy = CLBeaconRegion(beaconIdentityConstraint: constraint, identifier: identifier)
    copy.notifyEntryStateOnDisplay = notifyEntryStateOnDisplay
    copy.rules = rules
    return copy.notifying(like: self)
  }

  /// Returns the data that a peripheral advertises to be this beacon.
  ///
  /// - Parameter measuredPower: The dBm at one meter, limited to -128...127; `nil` for -59.
  /// - Returns: One entry, `kCBAdvDataAppleBeaconKey`, whose 21 bytes are the UUID, major and minor
  ///   (big-endian; 0 if the region has none) and the power.
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    let identity = BeaconIdentity(
      uuid: ProximityUUID(uuid), major: major?.uint16Value ?? 0, minor: minor?.uint16Value ?? 0)
    let power = Int8(clamping: measuredPower?.intValue ?? -59)
    // A peripheral adds the company, type and length itself.
    let bytes = Data(
      IBeacon(identity: identity, measuredPower: power).manufacturerData.dropFirst(4))
    let data = NSMutableDictionary()
    data.setObject(NSData(data: bytes), forKey: NSString(string: "kCBAdvDataAppleBeaconKey"))
    return data
  }

  override var kind: ObjectIdentifier { ObjectIdentifier(CLBeaconRegion.self) }

  override func isPlace(of other: CLRegion) -> Bool {
    guard let other = other as? CLBeaconRegion else { return false }
    return uuid == other.uuid && major == other.major && minor == other.minor
  }

  open override var description: String {
    "CLBeaconRegion (identifier:'\(identifier)', uuid:\(uuid.uuidString), "
      + "major:\(major.map { "\($0)" } ?? "any"), minor:\(minor.map { "\($0)" } ?? "any"))"
  }
}
