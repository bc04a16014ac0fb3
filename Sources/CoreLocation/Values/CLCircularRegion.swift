public import Foundation

/// A circle on the earth, which ``CLLocationManager/startMonitoring(for:)`` can monitor.
open class CLCircularRegion: CLRegion, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.

  open override var center: CLLocationCoordinate2D { circle.center }

  open override var radius: CLLocationDistance { circle.radius }

  /// Creates a region without a place, for subclasses that override what they need.
  public override init() { super.init() }

  /// Creates a circle with a radius in meters.
  public init(
    center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String
  ) { super.init(named: identifier, center: center, radius: radius) }

  /// Creates a circle from a keyed archive; `nil` if the archive contains none.
  public required init?(coder: NSCoder) { super.init(coder: coder) }

  /// Returns whether the circle or its edge contains a point; `false` for one that is not valid.
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
