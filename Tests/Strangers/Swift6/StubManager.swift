// Test doubles in Swift 6 mode, with mutable state and isolation.
import CoreLocation

final class StubManager: CLLocationManager, @unchecked Sendable {
  var stubbedStatus: CLAuthorizationStatus = .authorizedAlways
  var ranged: [CLBeaconIdentityConstraint] = []
  nonisolated(unsafe) static var ranging = true

  override var authorizationStatus: CLAuthorizationStatus { stubbedStatus }
  override class func isRangingAvailable() -> Bool { ranging }
  override func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.append(constraint)
    delegate?.locationManager?(self, didRange: [StubBeacon()], satisfying: constraint)
  }
  override func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    ranged.removeAll { $0 == constraint }
  }
  override var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { Set(ranged) }
}

final class CountingManager: CLLocationManager {
  var starts = 0
  var handler: (() -> Void)?
  override func startMonitoring(for region: CLRegion) {
    starts += 1
    handler?()
    delegate?.locationManager(self, didStartMonitoringFor: region)
  }
}

@MainActor
final class MainManager: CLLocationManager {
  var stops = 0
  nonisolated override func stopMonitoring(for region: CLRegion) {
    Task { @MainActor in stops += 1 }
  }
}

final class StubBeacon: CLBeacon {
  var stubbedMajor = 7
  override var uuid: UUID { UUID(uuidString: "00000000-0000-0000-0000-000000000001")! }
  override var major: NSNumber { .init(value: stubbedMajor) }
  override var minor: NSNumber { 8 }
  override var proximity: CLProximity { .immediate }
}

final class StubRegion: CLBeaconRegion {
  var asked = 0
  override var identifier: String { "stub" }
  override var notifyOnExit: Bool {
    get { false }
    set { asked += 1 }
  }
}

final class StubVisit: CLVisit {
  let stubbedArrival: Date
  init(arrival: Date) {
    stubbedArrival = arrival
    super.init()
  }
  required init?(coder: NSCoder) { nil }
  override var arrivalDate: Date { stubbedArrival }
}
