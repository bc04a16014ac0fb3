// A run: distance, pace and splits, from the locations that are good enough.
import CoreLocation

public class RunTracker: NSObject, CLLocationManagerDelegate {
  public struct Split {
    public let number: Int
    public let seconds: TimeInterval
  }

  public private(set) var distance: CLLocationDistance = 0
  public private(set) var splits = [Split]()
  public private(set) var route = [CLLocation]()
  public private(set) var rejected = 0
  public private(set) var fastest: CLLocationSpeed = 0
  public var onFinish: ((RunTracker) -> Void)?

  private let manager: CLLocationManager
  private let goal: CLLocationDistance
  private var splitStart: Date?

  public init(manager: CLLocationManager = CLLocationManager(), goal: CLLocationDistance) {
    self.manager = manager
    self.goal = goal
    super.init()
    manager.delegate = self
    manager.activityType = .fitness
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = kCLDistanceFilterNone
    manager.requestWhenInUseAuthorization()
  }

  public func start() {
    manager.startUpdatingLocation()
  }

  public var duration: TimeInterval {
    guard let first = route.first, let last = route.last else { return 0 }
    return last.timestamp.timeIntervalSince(first.timestamp)
  }

  /// Minutes for a kilometre.
  public var pace: Double {
    return distance > 0 ? duration / 60 / (distance / 1000) : 0
  }

  public func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    for location in locations {
      guard location.horizontalAccuracy >= 0, location.horizontalAccuracy < 20 else {
        rejected += 1
        continue
      }
      if let last = route.last {
        let step = location.distance(from: last)
        let seconds = location.timestamp.timeIntervalSince(last.timestamp)
        guard seconds > 0 else { continue }
        distance += step
        fastest = max(fastest, step / seconds)
      }
      route.append(location)
      if splitStart == nil { splitStart = location.timestamp }
      if Int(distance / 1000) > splits.count {
        let seconds = location.timestamp.timeIntervalSince(splitStart!)
        splits.append(Split(number: splits.count + 1, seconds: seconds))
        splitStart = location.timestamp
      }
      if distance >= goal {
        manager.stopUpdatingLocation()
        onFinish?(self)
        return
      }
    }
  }
}
