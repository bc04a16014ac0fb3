public import Foundation

/// Where something is, how exactly, and when that was so.
///
/// Two locations are equal only if they are the same object, as on Apple's systems; use
/// ``distance(from:)`` to compare places.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: nothing that is stored here ever changes. A subclass answers for what it adds.
  private let values: Values

  private struct Values {
    var coordinate = CLLocationCoordinate2D()
    var altitude: CLLocationDistance = 0
    var horizontalAccuracy: CLLocationAccuracy = 0
    var verticalAccuracy: CLLocationAccuracy = -1
    var course: CLLocationDirection = -1
    var courseAccuracy: CLLocationDirectionAccuracy = -1
    var speed: CLLocationSpeed = -1
    var speedAccuracy: CLLocationSpeedAccuracy = -1
    var timestamp = Date()
    var source: CLLocationSourceInformation?
  }

  /// Where.
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// Metres above the sea; valid if ``verticalAccuracy`` is not negative.
  open var altitude: CLLocationDistance { values.altitude }
  /// Metres above the ellipsoid of WGS 84.
  ///
  /// Unlike Apple's, it is ``altitude`` itself: there is no model of the geoid here.
  open var ellipsoidalAltitude: CLLocationDistance { altitude }
  /// The radius around ``coordinate`` that holds the place, in metres; negative for not valid.
  open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }
  /// How far the altitude may be off, in metres; negative for not valid.
  open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }
  /// Where it moves to, in degrees clockwise from true north; negative for not valid.
  open var course: CLLocationDirection { values.course }
  /// How far the course may be off, in degrees; negative for not valid.
  open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }
  /// How fast it moves, in metres per second; negative for not valid.
  open var speed: CLLocationSpeed { values.speed }
  /// How far the speed may be off, in metres per second; negative for not valid.
  open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }
  /// When it was so.
  open var timestamp: Date { values.timestamp }
  /// On which floor of a building; always `nil` here, unless a subclass knows.
  open var floor: CLFloor? { nil }
  /// Who found it; `nil` if that is not known.
  open var sourceInformation: CLLocationSourceInformation? { values.source }

  /// Makes the location 0, 0, for subclasses that override what they need.
  public override init() {
    values = Values()
    super.init()
  }

  /// Makes a location of now, with nothing known but the place.
  ///
  /// - Parameters:
  ///   - latitude: Degrees north.
  ///   - longitude: Degrees east.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    values = Values(coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude))
    super.init()
  }

  /// Makes a location that does not move.
  ///
  /// - Parameters:
  ///   - coordinate: Where.
  ///   - altitude: Metres above the sea.
  ///   - hAccuracy: The radius that holds the place, in metres; negative for not valid.
  ///   - vAccuracy: How far the altitude may be off, in metres; negative for not valid.
  ///   - timestamp: When.
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

  /// Makes a location that moves.
  ///
  /// - Parameters:
  ///   - coordinate: Where.
  ///   - altitude: Metres above the sea.
  ///   - hAccuracy: The radius that holds the place, in metres; negative for not valid.
  ///   - vAccuracy: How far the altitude may be off, in metres; negative for not valid.
  ///   - course: Where it moves to, in degrees; negative for not valid.
  ///   - speed: How fast, in metres per second; negative for not valid.
  ///   - timestamp: When.
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

  /// Makes a location that moves, with how exact that is.
  ///
  /// - Parameters:
  ///   - coordinate: Where.
  ///   - altitude: Metres above the sea.
  ///   - hAccuracy: The radius that holds the place, in metres; negative for not valid.
  ///   - vAccuracy: How far the altitude may be off, in metres; negative for not valid.
  ///   - course: Where it moves to, in degrees; negative for not valid.
  ///   - courseAccuracy: How far the course may be off, in degrees.
  ///   - speed: How fast, in metres per second; negative for not valid.
  ///   - speedAccuracy: How far the speed may be off, in metres per second.
  ///   - timestamp: When.
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

  /// Makes a location of which all is known.
  ///
  /// - Parameters:
  ///   - coordinate: Where.
  ///   - altitude: Metres above the sea.
  ///   - hAccuracy: The radius that holds the place, in metres; negative for not valid.
  ///   - vAccuracy: How far the altitude may be off, in metres; negative for not valid.
  ///   - course: Where it moves to, in degrees; negative for not valid.
  ///   - courseAccuracy: How far the course may be off, in degrees.
  ///   - speed: How fast, in metres per second; negative for not valid.
  ///   - speedAccuracy: How far the speed may be off, in metres per second.
  ///   - timestamp: When.
  ///   - sourceInfo: Who found it.
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

  /// Measures how far it is from another location along the earth; altitudes do not count.
  ///
  /// It is the geodesic of the WGS 84 ellipsoid by Vincenty's formula, exact to a millimetre; for
  /// points that lie nearly opposite each other it is the great circle, wrong by up to 0.6 %.
  ///
  /// - Parameter location: The other location.
  /// - Returns: The distance in metres.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    Geodesic.distance(from: coordinate, to: location.coordinate)
  }

  /// ``distance(from:)``, in the old spelling.
  ///
  /// - Parameter location: The other location.
  /// - Returns: The distance in metres.
  @available(*, deprecated, renamed: "distance(from:)")
  open func getDistanceFrom(_ location: CLLocation) -> CLLocationDistance {
    distance(from: location)
  }

  /// Whether it can be archived safely: it can.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a location from a keyed archive.
  ///
  /// - Parameter coder: The archive; `nil` is returned if it holds no location.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding, coder.containsValue(forKey: "CLLocation.latitude") else {
      return nil
    }
    var values = Values(coordinate: coder.decodeCoordinate("CLLocation"))
    for (key, field) in Self.fields {
      values[keyPath: field] = coder.decodeDouble(forKey: "CLLocation.\(key)")
    }
    values.timestamp = coder.decodeDate("CLLocation.timestamp")
    if coder.containsValue(forKey: "CLLocationSourceInformation.isSimulatedBySoftware") {
      values.source = CLLocationSourceInformation(coder: coder)
    }
    self.values = values
    super.init()
  }

  /// Writes the location to a keyed archive.
  ///
  /// - Parameter coder: The archive.
  open func encode(with coder: NSCoder) {
    coder.encodeCoordinate(coordinate, "CLLocation")
    for (key, field) in Self.fields {
      coder.encode(values[keyPath: field], forKey: "CLLocation.\(key)")
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

  /// Copies it without copying: it never changes.
  ///
  /// - Parameter zone: Not used.
  /// - Returns: The location itself.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override var description: String {
    "\(Self.text(of: coordinate)) +/- \(String(format: "%.2f", horizontalAccuracy))m "
      + "(speed \(String(format: "%.2f", speed)) mps / "
      + "course \(String(format: "%.2f", course))) @ \(timestamp)"
  }

  /// `<+52.51627230,+13.37771670>`.
  static func text(of coordinate: CLLocationCoordinate2D) -> String {
    String(format: "<%+.8f,%+.8f>", coordinate.latitude, coordinate.longitude)
  }
}
