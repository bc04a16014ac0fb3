public import Foundation

/// A circle on the earth.
///
/// It is a value that can be asked what it contains. It cannot be monitored yet:
/// ``CLLocationManager/isMonitoringAvailable(for:)`` says so.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.

  /// The centre.
  open override var center: CLLocationCoordinate2D { circle.center }

  /// The radius, in metres.
  open override var radius: CLLocationDistance { circle.radius }

  /// Makes a region that is nowhere, for subclasses that override what they need.
  public override init() {
    super.init()
  }

  /// Makes a circle.
  ///
  /// - Parameters:
  ///   - center: Its centre.
  ///   - radius: Its radius, in metres.
  ///   - identifier: Its name, which is its identity.
  public init(
    center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String
  ) {
    super.init(named: identifier, center: center, radius: radius)
  }

  /// Reads a circle from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no circle.
  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  /// Tells whether a point lies in the circle, by the distance on the ellipsoid.
  ///
  /// - Parameter coordinate: The point.
  /// - Returns: Whether it does, the edge included; `false` for a point that is not valid.
  open override func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    circleContains(coordinate)
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    guard type(of: self) == CLCircularRegion.self else { return self }
    return CLCircularRegion(center: circle.center, radius: circle.radius, identifier: identifier)
      .notifying(like: self)
  }

  override var kind: ObjectIdentifier { ObjectIdentifier(CLCircularRegion.self) }

  override func isPlace(of other: CLRegion) -> Bool {
    guard let other = other as? CLCircularRegion else { return false }
    return center.latitude == other.center.latitude && center.longitude == other.center.longitude
      && radius == other.radius
  }

  open override var description: String {
    "CLCircularRegion (identifier:'\(identifier)', "
      + "center:\(CLLocation.text(of: center)), radius:\(String(format: "%.2f", radius))m)"
  }
}
