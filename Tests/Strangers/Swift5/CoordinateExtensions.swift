// Conformances that Apple's types do not have, so that everybody declares his own.
import CoreLocation

extension CLLocationCoordinate2D: Equatable {
  public static func == (lhs: CLLocationCoordinate2D, rhs: CLLocationCoordinate2D) -> Bool {
    return lhs.latitude == rhs.latitude && lhs.longitude == rhs.longitude
  }
}

extension CLLocationCoordinate2D: Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(latitude)
    hasher.combine(longitude)
  }
}

extension CLLocationCoordinate2D: Codable {
  enum CodingKeys: String, CodingKey { case latitude, longitude }
  public init(from decoder: Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      latitude: try container.decode(CLLocationDegrees.self, forKey: .latitude),
      longitude: try container.decode(CLLocationDegrees.self, forKey: .longitude))
  }
  public func encode(to encoder: Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(latitude, forKey: .latitude)
    try container.encode(longitude, forKey: .longitude)
  }
}

extension CLLocationCoordinate2D: CustomStringConvertible {
  public var description: String { return "\(latitude), \(longitude)" }
  static var zero: CLLocationCoordinate2D { return CLLocationCoordinate2D() }
  var location: CLLocation { return CLLocation(latitude: latitude, longitude: longitude) }
  var isValid: Bool { return CLLocationCoordinate2DIsValid(self) }
  func distance(to other: CLLocationCoordinate2D) -> CLLocationDistance {
    return location.distance(from: other.location)
  }
}

extension CLLocation {
  static func - (lhs: CLLocation, rhs: CLLocation) -> CLLocationDistance {
    return lhs.distance(from: rhs)
  }
  var age: TimeInterval { return -timestamp.timeIntervalSinceNow }
  convenience init(_ coordinate: CLLocationCoordinate2D) {
    self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }
}

struct Place: Codable, Hashable {
  var name: String
  var coordinate: CLLocationCoordinate2D
  var radius: CLLocationDistance = 100
  var region: CLCircularRegion {
    let region = CLCircularRegion(center: coordinate, radius: radius, identifier: name)
    region.notifyOnEntry = true
    region.notifyOnExit = false
    return region
  }
}

extension CLBeacon {
  var key: String { return "\(uuid.uuidString)-\(major)-\(minor)" }
  var isClose: Bool { return proximity == .immediate || proximity == .near }
  static func areSame(_ a: CLBeacon, _ b: CLBeacon) -> Bool {
    return a.uuid == b.uuid && a.major == b.major && a.minor == b.minor
  }
}

extension CLBeaconRegion {
  convenience init?(dictionary: [String: Any]) {
    guard let text = dictionary["uuid"] as? String, let uuid = UUID(uuidString: text),
      let name = dictionary["name"] as? String
    else { return nil }
    if let major = dictionary["major"] as? Int, let minor = dictionary["minor"] as? Int {
      self.init(uuid: uuid, major: UInt16(major), minor: UInt16(minor), identifier: name)
    } else {
      self.init(uuid: uuid, identifier: name)
    }
  }
}

func places() -> [Place] {
  return [Place(name: "a", coordinate: .zero), Place(name: "b", coordinate: .init())]
}
