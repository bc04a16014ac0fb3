public import Foundation
import Synchronization

/// A region that can be monitored: ``CLBeaconRegion`` or ``CLCircularRegion``. Two regions are
/// equal if they have the same kind, identifier, and place or beacons, regardless of their
/// notifications.
open class CLRegion: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the values that change are atomic. A subclass is responsible for what it adds.
  private let name: String
  /// The circle, regardless of what a subclass overrides.
  let circle: (center: CLLocationCoordinate2D, radius: CLLocationDistance)
  private let entry = Atomic<Bool>(true)
  private let exit = Atomic<Bool>(true)

  /// The identifier, which is the region's identity.
  open var identifier: String { name }

  /// A Boolean value that indicates whether entering is reported. The default is `true`.
  open var notifyOnEntry: Bool {
    get { entry.load(ordering: .relaxed) }
    set { entry.store(newValue, ordering: .relaxed) }
  }

  /// A Boolean value that indicates whether leaving is reported. The default is `true`.
  open var notifyOnExit: Bool {
    get { exit.load(ordering: .relaxed) }
    set { exit.store(newValue, ordering: .relaxed) }
  }

  /// The center of a circle; ``kCLLocationCoordinate2DInvalid`` for other regions.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open var center: CLLocationCoordinate2D { circle.center }

  /// The radius of a circle, in meters; -1 for other regions.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open var radius: CLLocationDistance { circle.radius }

  /// Creates a region without a place, for subclasses that override what they need.
  public override init() {
    name = ""
    circle = (kCLLocationCoordinate2DInvalid, -1)
    super.init()
  }

  /// Creates a circle with a radius in meters.
  @available(*, deprecated, message: "Use CLCircularRegion")
  public init(
    circularRegionWithCenter center: CLLocationCoordinate2D, radius: CLLocationDistance,
    identifier: String
  ) {
    name = identifier
    circle = (center, radius)
    super.init()
  }

  init(
    named identifier: String, center: CLLocationCoordinate2D = kCLLocationCoordinate2DInvalid,
    radius: CLLocationDistance = -1
  ) {
    name = identifier
    circle = (center, radius)
    super.init()
  }

  /// Returns whether a point lies in the circle; `false` for other regions.
  @available(*, deprecated, message: "Use CLCircularRegion")
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool { circleContains(coordinate) }

  func circleContains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    guard CLLocationCoordinate2DIsValid(coordinate), CLLocationCoordinate2DIsValid(circle.center)
    else { return false }
    return circle.center.geodesicDistance(to: coordinate) <= circle.radius
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a region from a keyed archive; `nil` if the archive contains none.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, let identifier = coder.decodeText("CLRegion.identifier") else {
      return nil
    }
    name = identifier
    circle = (coder.decodeCoordinate("CLRegion"), coder.decodeDouble(forKey: "CLRegion.radius"))
    super.init()
    notifyOnEntry = coder.decodeBool(forKey: "CLRegion.notifyOnEntry")
    notifyOnExit = coder.decodeBool(forKey: "CLRegion.notifyOnExit")
  }

  /// Writes the region to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encodeText(identifier, "CLRegion.identifier")
    coder.encodeCoordinate(circle.center, "CLRegion")
    coder.encode(circle.radius, forKey: "CLRegion.radius")
    coder.encode(notifyOnEntry, forKey: "CLRegion.notifyOnEntry")
    coder.encode(notifyOnExit, forKey: "CLRegion.notifyOnExit")
  }

  /// Returns an equal region with the same notifications; for an app's own subclass, the object
  /// itself.
  open func copy(with zone: NSZone? = nil) -> Any {
    guard type(of: self) == CLRegion.self else { return self }
    return CLRegion(named: name, center: circle.center, radius: circle.radius).notifying(like: self)
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

  /// The kind of region. Only regions of one kind can be equal.
  var kind: ObjectIdentifier { ObjectIdentifier(CLRegion.self) }

  func isPlace(of other: CLRegion) -> Bool {
    circle.center.latitude == other.circle.center.latitude
      && circle.center.longitude == other.circle.center.longitude
      && circle.radius == other.circle.radius
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "CLRegion (identifier:'\(identifier)')" }
}
