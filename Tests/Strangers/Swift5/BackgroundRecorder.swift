// A thread of its own with a run loop for the locations, away from the screens.
import CoreLocation

final class BackgroundRecorder: NSObject, CLLocationManagerDelegate {
  private let makeManager: () -> CLLocationManager
  private(set) var thread: Thread!
  private let lock = NSLock()
  private var recorded: [CLLocation] = []
  private var foreignCalls = 0

  init(makeManager: @escaping () -> CLLocationManager = CLLocationManager.init) {
    self.makeManager = makeManager
    super.init()
    thread = Thread { [unowned self] in self.main() }
    thread.name = "Locations"
    thread.start()
  }

  var locations: [CLLocation] {
    lock.lock()
    defer { lock.unlock() }
    return recorded
  }

  /// How many calls came on another thread.
  var strayCalls: Int {
    lock.lock()
    defer { lock.unlock() }
    return foreignCalls
  }

  private func main() {
    let manager = makeManager()
    manager.delegate = self
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
    while !Thread.current.isCancelled {
      RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
    }
    manager.stopUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    lock.lock()
    defer { lock.unlock() }
    recorded += locations
    if Thread.current !== thread { foreignCalls += 1 }
  }
}
