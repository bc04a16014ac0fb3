// Switches over every enumeration, without a default, and what people give them by extension.
import CoreLocation

extension CLAuthorizationStatus: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notDetermined: return "notDetermined"
    case .restricted: return "restricted"
    case .denied: return "denied"
    case .authorizedAlways: return "authorizedAlways"
    case .authorizedWhenInUse: return "authorizedWhenInUse"
    @unknown default: return "unknown"
    }
  }
  var isAllowed: Bool { return [.authorizedAlways, .authorizedWhenInUse].contains(self) }
}

extension CLProximity: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknown: return "unknown"
    case .immediate: return "immediate"
    case .near: return "near"
    case .far: return "far"
    }
  }
  var sortIndex: Int { return self == .unknown ? Int.max : rawValue }
}

extension CLProximity: Codable {}
extension CLRegionState: CaseIterable {
  public static var allCases: [CLRegionState] { [.unknown, .inside, .outside] }
}

extension CLRegionState {
  var text: String {
    switch self {
    case .unknown: return "unknown"
    case .inside: return "inside"
    case .outside: return "outside"
    }
  }
}

extension CLDeviceOrientation {
  var degrees: Double? {
    switch self {
    case .portrait: return 0
    case .landscapeLeft: return 90
    case .portraitUpsideDown: return 180
    case .landscapeRight: return 270
    case .unknown, .faceUp, .faceDown: return nil
    }
  }
}

extension CLActivityType {
  var name: String {
    switch self {
    case .other: return "other"
    case .automotiveNavigation: return "car"
    case .fitness: return "fitness"
    case .otherNavigation: return "navigation"
    case .airborne: return "air"
    }
  }
}

func accuracyText(_ accuracy: CLAccuracyAuthorization) -> String {
  switch accuracy {
  case .fullAccuracy: return "full"
  case .reducedAccuracy: return "reduced"
  }
}

func rawValues() -> [Int] {
  return [
    Int(CLAuthorizationStatus.authorizedWhenInUse.rawValue), CLProximity.far.rawValue,
    CLRegionState.outside.rawValue, CLActivityType.airborne.rawValue,
    Int(CLDeviceOrientation.faceDown.rawValue), CLAccuracyAuthorization.reducedAccuracy.rawValue,
    CLError.Code.historicalLocationError.rawValue,
  ]
}

let statusFromNumber = CLAuthorizationStatus(rawValue: 3) ?? .notDetermined
