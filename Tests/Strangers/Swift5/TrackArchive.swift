// Locations on disk: by keyed archives, secure ones, and as what is Codable.
import CoreLocation

final class RecordedTrack: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { return true }

  let name: String
  let locations: [CLLocation]

  init(name: String, locations: [CLLocation]) {
    self.name = name
    self.locations = locations
  }

  required init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name"),
      let points = coder.decodeObject(of: [NSArray.self, CLLocation.self], forKey: "points")
        as? [CLLocation]
    else { return nil }
    self.name = String(describing: name)
    self.locations = points
  }

  func encode(with coder: NSCoder) {
    coder.encode(NSString(string: name), forKey: "name")
    coder.encode(NSArray(array: locations), forKey: "points")
  }

  func write(to file: URL) throws {
    try NSKeyedArchiver.archivedData(withRootObject: self, requiringSecureCoding: true)
      .write(to: file)
  }

  static func read(from file: URL) throws -> RecordedTrack? {
    return try NSKeyedUnarchiver.unarchivedObject(
      ofClass: RecordedTrack.self, from: try Data(contentsOf: file))
  }
}

/// Any location as a value of a Codable type.
struct ArchivedLocation: Codable {
  let location: CLLocation

  init(_ location: CLLocation) { self.location = location }

  init(from decoder: Decoder) throws {
    let data = try decoder.singleValueContainer().decode(Data.self)
    guard
      let location = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data)
    else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "no location"))
    }
    self.location = location
  }

  func encode(to encoder: Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(
      NSKeyedArchiver.archivedData(withRootObject: location, requiringSecureCoding: true))
  }
}

final class TrackRecorder: NSObject, CLLocationManagerDelegate {
  private(set) var locations: [CLLocation] = []
  let manager: CLLocationManager

  init(manager: CLLocationManager = CLLocationManager()) {
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.requestWhenInUseAuthorization()
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    self.locations += locations
  }
}
