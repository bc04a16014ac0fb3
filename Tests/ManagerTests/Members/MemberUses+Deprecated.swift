import CoreLocation
import Testing

extension MemberUses: OldSpellings {
  @available(*, deprecated)
  var oldSpellings: [Use] {
    var uses: [Use] = []
    func use(_ name: String, _ body: @escaping Body) {
      uses.append(Use(name: name, status: .works, told: [], body: body))
    }
    func never(_ name: String, body: @escaping Body) {
      uses.append(Use(name: name, status: .notOnLinux, told: [], body: body))
    }
    use("authorizationStatus()") { _ in _ = CLLocationManager.authorizationStatus() }
    use("startMonitoring(for:desiredAccuracy:)") {
      $0.manager.startMonitoring(for: $0.region, desiredAccuracy: 10)
    }
    use("startRangingBeacons(in:)") { $0.manager.startRangingBeacons(in: $0.region) }
    use("rangedRegions") { _ = $0.manager.rangedRegions }
    use("stopRangingBeacons(in:)") { $0.manager.stopRangingBeacons(in: $0.region) }
    use("locationServicesEnabled") { _ = $0.manager.locationServicesEnabled }
    use("headingAvailable") { _ = $0.manager.headingAvailable }
    use("regionMonitoringAvailable()") { _ in _ = CLLocationManager.regionMonitoringAvailable() }
    use("regionMonitoringEnabled()") { _ in _ = CLLocationManager.regionMonitoringEnabled() }
    never("purpose") {
      $0.manager.purpose = "to greet you"
      #expect($0.manager.purpose == "to greet you")
    }
    use("deferredLocationUpdatesAvailable()") { _ in
      _ = CLLocationManager.deferredLocationUpdatesAvailable()
    }
    use("allowDeferredLocationUpdates(untilTraveled:timeout:)") {
      $0.manager.allowDeferredLocationUpdates(untilTraveled: 100, timeout: 60)
    }
    use("disallowDeferredLocationUpdates()") { $0.manager.disallowDeferredLocationUpdates() }
    return uses
  }
}
