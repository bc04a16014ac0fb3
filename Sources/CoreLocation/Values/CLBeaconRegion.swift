import Advertising
public import Foundation
public import Regions
import Synchronization

/// The region in which beacons of a UUID, of a major of it, or of one identity are heard.
open class CLBeaconRegion: CLRegion, @unchecked Sendable {
  // Sendable: what changes is atomic, the rest never does. A subclass answers for what it adds.
  private let constraint: CLBeaconIdentityConstraint
  private let display = Atomic<Bool>(false)
  private let ownRules = Mutex<RegionRules?>(nil)

  /// Whose beacons.
  open var uuid: UUID { constraint.uuid }
  /// Whose beacons, by its old name.
  @available(*, deprecated, renamed: "uuid")
  open var proximityUUID: UUID { uuid }
  /// Which group, 0...65535; `nil` for all.
  open var major: NSNumber? { constraint.major.map { NSNumber(value: $0) } }
  /// Which one of the group, 0...65535; `nil` for all.
  open var minor: NSNumber? { constraint.minor.map { NSNumber(value: $0) } }
  /// Which beacons are meant, as ranging asks for them.
  open var beaconIdentityConstraint: CLBeaconIdentityConstraint { constraint }

  /// Whether beacons are also looked for when the display wakes. The default is `false`.
  ///
  /// It is kept, and changes nothing here: a kiosk's display tells nobody when it wakes.
  open var notifyEntryStateOnDisplay: Bool {
    get { display.load(ordering: .relaxed) }
    set { display.store(newValue, ordering: .relaxed) }
  }

  /// When the region is entered and left; `nil`, the default, for what the services lay down
  /// (``LocationServices/Configuration/rules``). Set it before monitoring starts. Apple's has none.
  open var rules: RegionRules? {
    get { ownRules.withLock { $0 } }
    set { ownRules.withLock { $0 = newValue } }
  }

  /// Makes a region of no beacon that anyone sends, for subclasses that override what they need.
  public override init() {
    constraint = CLBeaconIdentityConstraint()
    super.init()
  }

  /// Makes the region of all beacons of a UUID.
  ///
  /// - Parameters:
  ///   - uuid: Whose beacons.
  ///   - identifier: Its name, which is its identity.
  public init(uuid: UUID, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid)
    super.init(named: identifier)
  }

  /// Makes the region of one group.
  ///
  /// - Parameters:
  ///   - uuid: Whose beacons.
  ///   - major: Which group.
  ///   - identifier: Its name, which is its identity.
  public init(uuid: UUID, major: CLBeaconMajorValue, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major)
    super.init(named: identifier)
  }

  /// Makes the region of one identity.
  ///
  /// - Parameters:
  ///   - uuid: Whose beacons.
  ///   - major: Which group.
  ///   - minor: Which one of the group.
  ///   - identifier: Its name, which is its identity.
  public init(
    uuid: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    constraint = CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor)
    super.init(named: identifier)
  }

  /// Makes the region of the beacons that a constraint means.
  ///
  /// - Parameters:
  ///   - beaconIdentityConstraint: Which beacons.
  ///   - identifier: Its name, which is its identity.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    constraint = CLBeaconIdentityConstraint(
      uuid: beaconIdentityConstraint.uuid, anyMajor: beaconIdentityConstraint.major,
      anyMinor: beaconIdentityConstraint.minor)
    super.init(named: identifier)
  }

  /// Makes the region of all beacons of a UUID, in the old spelling.
  ///
  /// - Parameters:
  ///   - proximityUUID: Whose beacons.
  ///   - identifier: Its name, which is its identity.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public init(proximityUUID: UUID, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID)
    super.init(named: identifier)
  }

  /// Makes the region of one group, in the old spelling.
  ///
  /// - Parameters:
  ///   - proximityUUID: Whose beacons.
  ///   - major: Which group.
  ///   - identifier: Its name, which is its identity.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public init(proximityUUID: UUID, major: CLBeaconMajorValue, identifier: String) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major)
    super.init(named: identifier)
  }

  /// Makes the region of one identity, in the old spelling.
  ///
  /// - Parameters:
  ///   - proximityUUID: Whose beacons.
  ///   - major: Which group.
  ///   - minor: Which one of the group.
  ///   - identifier: Its name, which is its identity.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public init(
    proximityUUID: UUID, major: CLBeaconMajorValue, minor: CLBeaconMinorValue, identifier: String
  ) {
    constraint = CLBeaconIdentityConstraint(uuid: proximityUUID, major: major, minor: minor)
    super.init(named: identifier)
  }

  /// Reads a region from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no region of beacons.
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

  /// Tells what a peripheral advertises to be this beacon.
  ///
  /// - Parameter measuredPower: The signal strength at one metre, in dBm, -128...127; `nil` for
  ///   the default of this module, -59. What does not fit is cut to the nearest that does.
  /// - Returns: One entry, `kCBAdvDataAppleBeaconKey`, whose 21 bytes are the UUID, major and minor
  ///   (big-endian, 0 where the region names none) and the power.
  open func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> NSMutableDictionary {
    let identity = BeaconIdentity(
      uuid: ProximityUUID(uuid), major: major?.uint16Value ?? 0, minor: minor?.uint16Value ?? 0)
    let power = Int8(clamping: measuredPower?.intValue ?? -59)
    // A peripheral puts company, type and length in front by itself.
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
