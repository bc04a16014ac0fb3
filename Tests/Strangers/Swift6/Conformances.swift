// Conformances to what Apple's types lack, marked retroactive as newer compilers ask.
import CoreLocation

extension CLLocationManager: @unchecked @retroactive Sendable {}
extension CLBeacon: @unchecked @retroactive Sendable {}
extension CLRegion: @unchecked @retroactive Sendable {}

extension CLLocationCoordinate2D: @retroactive Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    left.latitude == right.latitude && left.longitude == right.longitude
  }
}
extension CLLocationCoordinate2D: @retroactive Hashable {
  public func hash(into hasher: inout Hasher) {
    hasher.combine(latitude)
    hasher.combine(longitude)
  }
}
extension CLLocationCoordinate2D: @retroactive Codable {
  public init(from decoder: any Decoder) throws {
    var numbers = try decoder.unkeyedContainer()
    self.init(latitude: try numbers.decode(Double.self), longitude: try numbers.decode(Double.self))
  }
  public func encode(to encoder: any Encoder) throws {
    var numbers = encoder.unkeyedContainer()
    try numbers.encode(latitude)
    try numbers.encode(longitude)
  }
}

extension CLAuthorizationStatus: @retroactive CustomStringConvertible {
  public var description: String {
    switch self {
    case .notDetermined: "Not determined"
    case .authorizedWhenInUse: "When in use"
    case .restricted: "Restricted"
    case .denied: "Denied"
    case .authorizedAlways: "Always"
    @unknown default: "Unknown"
    }
  }
}

extension CLProximity: @retroactive CaseIterable, @retroactive Comparable {
  public static let allCases: [CLProximity] = [.immediate, .near, .far, .unknown]
  public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  private var rank: Int {
    switch self {
    case .immediate: 0
    case .near: 1
    case .far: 2
    case .unknown: 3
    }
  }
}

extension CLError.Code: @retroactive CaseIterable {
  public static var allCases: [CLError.Code] { (0...19).compactMap(CLError.Code.init(rawValue:)) }
}

extension CLBeacon: @retroactive Identifiable {
  public var id: String { "\(uuid)/\(major)/\(minor)" }
}

struct Pin: Codable, Hashable, Sendable {
  var coordinate: CLLocationCoordinate2D
  var name = "pin"
}
