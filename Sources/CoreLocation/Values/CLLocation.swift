public import Foundation
import Positioning

/// A place with its accuracy, movement and time. As on Apple's systems, two locations are equal
/// only if they are the same object; use ``distance(from:)`` to compare places.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: the stored values never change. A subclass is responsible for what it adds.
  private let values: Values

  private struct Values {
    var coordinate = CLLocationCoordinate2D()
    var altitude: CLLocationDistance = 0
    var ellipsoidalAltitude: CLLocationDistance?
    var horizontalAccuracy: CLLocationAccuracy = 0
    var verticalAccuracy: CLLocationAccuracy = -1
    var course: CLLocationDirection = -1
    var courseAccuracy: CLLocationDirectionAccuracy = -1
    var speed: CLLocationSpeed = -1
    var speedAccuracy: CLLocationSpeedAccuracy = -1
    var timestamp = Date()
    var source: CLLocationSourceInformation?
  }

  /// The place.
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// Meters above the sea; valid if ``verticalAccuracy`` is not negative.
  open var altitude: CLLocationDistance { values.altitude }
  /// Meters above the ellipsoid of WGS 84, or ``altitude`` if the source does not provide it.
  open var ellipsoidalAltitude: CLLocationDistance { values.ellipsoidalAltitude ?? altitude }
  /// The radius around ``coordinate`` that contains the place, in meters; negative if not valid.
  open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }
  /// The possible error of the altitude, in meters; negative if it is not valid.
  open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }
  /// The direction of movement, in degrees clockwise from true north; negative if not valid.
  open var course: CLLocationDirection { values.course }
  /// The possible error of the course, in degrees; negative if it is not valid.
  open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }
  /// The speed, in meters per second; negative if it is not valid.
  open var speed: CLLocationSpeed { values.speed }
  /// The possible error of the speed, in meters per second; negative if it is not valid.
  open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }
  /// The time of the location.
  open var timestamp: Date { values.timestamp }
  /// The floor of the building; always `nil` here, unless a subclass overrides it.
  open var floor: CLFloor? { nil }
  /// The source of the location; `nil` if it is not known.
  open var sourceInformation: CLLocationSourceInformation? { values.source }

  /// Creates the location 0, 0, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  /// Creates a location with the current time and a place in degrees north and east.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    values = Values(coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude))
    super.init()
  }

  /// Creates a location that does not move. The units are those of the properties.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, timestamp: timestamp)
    super.init()
  }

  /// Creates a location that moves.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, speed: speed, timestamp: timestamp)
    super.init()
  }

  /// Creates a location that moves, with the possible errors of the movement.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp)
    super.init()
  }

  /// Creates a location with all values.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    values = Values(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: sourceInfo)
    super.init()
  }

  /// Creates the location of a fix. Values that the fix does not have are marked as not valid.
  init(_ fix: Fix, isSimulated: Bool) {
    let hasAltitude = fix.altitude != nil || fix.ellipsoidalAltitude != nil
    values = Values(
      coordinate: CLLocationCoordinate2D(fix.place),
      altitude: fix.altitude ?? fix.ellipsoidalAltitude ?? 0,
      ellipsoidalAltitude: fix.ellipsoidalAltitude, horizontalAccuracy: fix.horizontalAccuracy,
      verticalAccuracy: hasAltitude ? fix.verticalAccuracy ?? -1 : -1, course: fix.course ?? -1,
      courseAccuracy: fix.course == nil ? -1 : fix.courseAccuracy ?? -1, speed: fix.speed ?? -1,
      speedAccuracy: fix.speed == nil ? -1 : fix.speedAccuracy ?? -1,
      timestamp: Date(fix.timestamp),
      source: CLLocationSourceInformation(
        softwareSimulationState: isSimulated, andExternalAccessoryState: false))
    super.init()
  }

  /// Returns the distance in meters from another location, regardless of altitudes: the shortest
  /// line on the WGS 84 ellipsoid. It is not a number if a latitude is beyond ±90 degrees.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    coordinate.geodesicDistance(to: location.coordinate)
  }

  /// Returns ``distance(from:)``, in the former spelling.
  @available(*, deprecated, renamed: "distance(from:)")
  open func getDistanceFrom(_ location: CLLocation) -> CLLocationDistance {
    distance(from: location)
  }

  /// A Boolean value that indicates whether the class supports secure coding: `true`.
  open class var supportsSecureCoding: Bool { true }

  /// Creates a location from a keyed archive; `nil` if the archive contains none.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, coder.containsValue(forKey: "CLLocation.latitude") else {
      return nil
    }
    var values = Values(coordinate: coder.decodeCoordinate("CLLocation"))
    for (key, field) in Self.fields {
      values[keyPath: field] = coder.decodeDouble(forKey: "CLLocation.\(key)")
    }
    values.ellipsoidalAltitude = coder.decodeOptionalDouble("CLLocation.ellipsoidalAltitude")
    values.timestamp = coder.decodeDate("CLLocation.timestamp")
    if coder.containsValue(forKey: "CLLocationSourceInformation.isSimulatedBySoftware") {
      values.source = CLLocationSourceInformation(coder: coder)
    }
    self.values = values
    super.init()
  }

  /// Writes the location to a keyed archive.
  open func encode(with coder: NSCoder) {
    coder.encodeCoordinate(coordinate, "CLLocation")
    for (key, field) in Self.fields {
      coder.encode(values[keyPath: field], forKey: "CLLocation.\(key)")
    }
    if let altitude = values.ellipsoidalAltitude {
      coder.encode(altitude, forKey: "CLLocation.ellipsoidalAltitude")
    }
    coder.encodeDate(timestamp, "CLLocation.timestamp")
    sourceInformation?.encode(with: coder)
  }

  private static var fields: [(String, WritableKeyPath<Values, Double>)] {
    [
      ("altitude", \.altitude), ("horizontalAccuracy", \.horizontalAccuracy),
      ("verticalAccuracy", \.verticalAccuracy), ("course", \.course),
      ("courseAccuracy", \.courseAccuracy), ("speed", \.speed),
      ("speedAccuracy", \.speedAccuracy),
    ]
  }

  /// Returns the object itself, because it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "\(Self.text(of: coordinate)) +/- \(String(format: "%.2f", horizontalAccuracy))m "
      + "(speed \(String(format: "%.2f", speed)) mps / "
      + "course \(String(format: "%.2f", course))) @ \(timestamp)"
  }

  /// Returns a text such as `<+52.51627230,+13.37771670>`.
  static func text(of coordinate: CLLocationCoordinate2D) -> String {
    String(format: "<%+.8f,%+.8f>", coordinate.latitude, coordinate.longitude)
  }
}
