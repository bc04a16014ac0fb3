// A log of where one was, in the background and with little energy: a line of JSON each.
import CoreLocation

struct StoredLocation: Codable, Equatable {
  let latitude: Double
  let longitude: Double
  let altitude: Double?
  let accuracy: Double
  let speed: Double?
  let date: Date

  init(_ location: CLLocation) {
    latitude = location.coordinate.latitude
    longitude = location.coordinate.longitude
    altitude = location.verticalAccuracy > 0 ? location.altitude : nil
    accuracy = location.horizontalAccuracy
    speed = location.speed >= 0 ? location.speed : nil
    date = location.timestamp
  }

  var location: CLLocation {
    return CLLocation(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
      altitude: altitude ?? 0, horizontalAccuracy: accuracy,
      verticalAccuracy: altitude == nil ? -1 : 10, course: -1, speed: speed ?? -1,
      timestamp: date)
  }
}

final class SignificantLogger: NSObject, CLLocationManagerDelegate {
  private let manager: CLLocationManager
  private let file: URL

  init(file: URL, manager: CLLocationManager = CLLocationManager()) {
    self.file = file
    self.manager = manager
    super.init()
    manager.delegate = self
    manager.distanceFilter = 5
  }

  func start() {
    switch manager.authorizationStatus {
    case .authorizedAlways: manager.startMonitoringSignificantLocationChanges()
    default: manager.requestAlwaysAuthorization()
    }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    if manager.authorizationStatus == .authorizedAlways { start() }
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    var text = (try? Data(contentsOf: file)) ?? Data()
    for location in locations {
      guard let line = try? encoder.encode(StoredLocation(location)) else { continue }
      text.append(line)
      text.append(UInt8(ascii: "\n"))
    }
    try? text.write(to: file, options: .atomic)
  }

  func read() throws -> [StoredLocation] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let text = try String(contentsOf: file, encoding: .utf8)
    return try text.split(separator: "\n").map {
      try decoder.decode(StoredLocation.self, from: Data($0.utf8))
    }
  }
}
