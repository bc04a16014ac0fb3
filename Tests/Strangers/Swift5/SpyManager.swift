// Subclasses of the manager that count, and let the real one work.
import CoreLocation

public class SpyManager: CLLocationManager {
  public private(set) var calls: [String] = []

  public override func startUpdatingLocation() {
    calls.append("start")
    super.startUpdatingLocation()
  }

  public override func stopUpdatingLocation() {
    calls.append("stop")
    super.stopUpdatingLocation()
  }

  public override var distanceFilter: CLLocationDistance {
    didSet { calls.append("filter \(Int(distanceFilter))") }
  }
}

/// A manager that is its own delegate, and starts by itself.
public final class AutomaticManager: SpyManager, CLLocationManagerDelegate {
  public static let shared = AutomaticManager()

  public private(set) var received: [CLLocation] = []
  public var onUpdate: ((AutomaticManager) -> Void)?

  public override init() {
    super.init()
    delegate = self
    desiredAccuracy = kCLLocationAccuracyBest
    distanceFilter = 10
    requestWhenInUseAuthorization()
  }

  public override var delegate: CLLocationManagerDelegate? {
    didSet { if delegate != nil { startUpdatingLocation() } }
  }

  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    received.append(contentsOf: locations)
    onUpdate?(self)
  }
}
