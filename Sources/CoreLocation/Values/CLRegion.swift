public import Foundation
import Synchronization

/// A region to be monitored: ``CLBeaconRegion`` or ``CLCircularRegion``.
///
/// The ``identifier`` is its identity: monitoring a region of the same identifier replaces the one
/// before. Two regions are equal if they are of one kind, have the same identifier and mean the same
/// place or beacons; what they notify of does not count.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: what changes is atomic, the rest never does. A subclass answers for what it adds.
  private let name: String
  private let place: (center: CLLocationCoordinate2D, radius: CLLocationDistance)
  private let entry = Atomic<Bool>(true)
  private let exit = Atomic<Bool>(true)

  /// The name that the app gave it, which is its identity.
  open var identifier: String { name }

  /// Whether entering is reported. The default is `true`.
  open var notifyOnEntry: Bool {
    get { entry.load(ordering: .relaxed) }
    set { entry.store(newValue, ordering: .relaxed) }
  }

  /// Whether leaving is reported. The default is `true`.
  open var notifyOnExit: Bool {
    get { exit.load(ordering: .relaxed) }
    set { exit.store(newValue, ordering: .relaxed) }
  }

  /// The centre of a circle; ``kCLLocationCoordinate2DInvalid`` for what is none.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open var center: CLLocationCoordinate2D { place.center }

  /// The radius of a circle, in metres; -1 for what is none.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open var radius: CLLocationDistance { place.radius }

  /// Makes a region that is nowhere, for subclasses that override what they need.
  public override init() {
    (name, place) = ("", (kCLLocationCoordinate2DInvalid, -1))
    super.init()
  }

  /// Makes a circle.
  ///
  /// - Parameters:
  ///   - center: Its centre.
  ///   - radius: Its radius, in metres.
  ///   - identifier: Its name, which is its identity.
  @available(*, deprecated, message: "Use CLCircularRegion")
  public init(
    circularRegionWithCenter center: CLLocationCoordinate2D, radius: CLLocationDistance,
    identifier: String
  ) {
    (name, place) = (identifier, (center, radius))
    super.init()
  }

  init(
    named identifier: String, center: CLLocationCoordinate2D = kCLLocationCoordinate2DInvalid,
    radius: CLLocationDistance = -1
  ) {
    (name, place) = (identifier, (center, radius))
    super.init()
  }

  /// Tells whether a point lies in the circle.
  ///
  /// - Parameter coordinate: The point.
  /// - Returns: Whether it does; `false` for a region that is no circle.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    circleContains(coordinate)
  }

  /// What its circle is made of, whatever a subclass says.
  var circle: (center: CLLocationCoordinate2D, radius: CLLocationDistance) { place }

  func circleContains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    guard CLLocationCoordinate2DIsValid(coordinate), CLLocationCoordinate2DIsValid(place.center)
    else { return false }
    return Geodesic.distance(from: place.center, to: coordinate) <= place.radius
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a region from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no region.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, let identifier = coder.decodeText("CLRegion.identifier") else {
      return nil
    }
    name = identifier
    place = (coder.decodeCoordinate("CLRegion"), coder.decodeDouble(forKey: "CLRegion.radius"))
    super.init()
    notifyOnEntry = coder.decodeBool(forKey: "CLRegion.notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "CLRegion.notifyOnExit")
  }

  /// Writes the region to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encodeText(identifier, "CLRegion.identifier")
    coder.encodeCoordinate(place.center, "CLRegion")
    coder.encode(place.radius, forKey: "CLRegion.radius")
    coder.encode(notifyOnEntry, forKey: "CLRegion.notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "CLRegion.notifyOnExit")
  }

  /// Copies the region.
  ///
  /// An object of an app's own subclass is not copied: what the subclass keeps is not known here.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: Another region that is equal and notifies of the same.
  open func copy(with zone: NSZone? = nil) -> Any {
    guard type(of: self) == CLRegion.self else { return self }
    return CLRegion(named: name, center: place.center, radius: place.radius).notifying(like: self)
  }

  func notifying(like other: CLRegion) -> Self {
    notifyOnEntry = other.notifyOnEntry
    notifyOnExit = other.notifyOnExit
    return self
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLRegion else { return false }
    return kind == other.kind && identifier == other.identifier && isPlace(of: other)
  }

  /// Regions of one kind can be equal.
  var kind: ObjectIdentifier { ObjectIdentifier(CLRegion.self) }

  func isPlace(of other: CLRegion) -> Bool {
    let (here, there) = (circle, other.circle)
    return here.center.latitude == there.center.latitude
      && here.center.longitude == there.center.longitude && here.radius == there.radius
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "CLRegion (identifier:'\(identifier)')" }
}
