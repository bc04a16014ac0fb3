import Advertising
import AppTestSupport
import BeaconTesting
import CoreLocation
import Logging
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport
import Testing

// Its own methods can be called on any thread; the tests add nothing to it that changes.
extension CLLocationManager: @unchecked Sendable {}

/// Services on a script, a manager of theirs, and everything that its delegate is told, as text.
final class Scene: Sendable {
  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let lobby = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") ?? UUID()
  static let visitors = CLBeaconIdentityConstraint(uuid: lobby)

  let scanner: ScriptedScanner
  let services: LocationServices
  let manager: CLLocationManager
  let listener = Listener()
  let remarks = Remarks()

  /// Sentences for people.
  final class Remarks: Sendable {
    let all = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test", factory: { _ in Handler(remarks: self) }) }

    private struct Handler: LogHandler {
      let remarks: Remarks
      var metadata: Logger.Metadata = [:]
      var logLevel = Logger.Level.trace

      init(remarks: Remarks) {
        self.remarks = remarks
      }

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        remarks.all.withLock { $0.append("\(event.message)") }
      }
    }
  }

  init(
    scanner: ScriptedScanner = ScriptedScanner(),
    authorization: any AuthorizationProvider = Always(),
    persistence: LocationServices.Persistence = .none,
    change: (inout LocationServices.Configuration) -> Void = { _ in }
  ) {
    self.scanner = scanner
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = authorization
    configuration.persistence = persistence
    configuration.delegateQueue = DispatchQueue(label: "delegate")
    configuration.logger = remarks.logger
    change(&configuration)
    services = LocationServices.tested(configuration)
    manager = CLLocationManager(services: services)
    manager.delegate = listener
  }

  static func frame(_ minor: UInt16, major: UInt16 = 1) -> BeaconFrame {
    BeaconFrame(uuid: uuid, major: major, minor: minor)
  }

  static func region(_ identifier: String, minor: UInt16? = nil) -> CLBeaconRegion {
    guard let minor else { return CLBeaconRegion(uuid: lobby, identifier: identifier) }
    return CLBeaconRegion(uuid: lobby, major: 1, minor: minor, identifier: identifier)
  }

  /// Waits until the delegate has received so many calls.
  func told(_ count: Int) async -> [String] { await listener.lines(count) }
}

/// An administrator who allows everything.
final class Always: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}

/// An administrator who changes his mind.
final class Fickle: AuthorizationProvider {
  let current: Mutex<AuthorizationRule>

  init(_ rule: AuthorizationRule) {
    current = Mutex(rule)
  }

  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    current.withLock { $0 }
  }
}

/// A delegate that writes down what it is told.
final class Listener: CLLocationManagerDelegate, Sendable {
  private let told = Mutex<[String]>([])

  var all: [String] { told.withLock { $0 } }

  func note(_ line: String) { told.withLock { $0.append(line) } }

  /// Waits for so many lines.
  func lines(_ count: Int) async -> [String] {
    await eventually { all.count >= count }
    return all
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    note("status \(manager.authorizationStatus.rawValue)")
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    note("failed \((error as? CLError)?.code.rawValue ?? -1)")
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note("monitors \(region.identifier)")
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    note("cannot monitor \(region?.identifier ?? "") \((error as? CLError)?.code.rawValue ?? -1)")
  }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    note("enter \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    note("exit \(region.identifier)")
  }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    note("state \(region.identifier) \(state.rawValue)")
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    note("range " + beacons.map { "\($0.minor)@\($0.rssi)" }.joined(separator: " "))
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    note("cannot range \((error as? CLError)?.code.rawValue ?? -1)")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    note("fixes " + locations.map { ScriptedLocations.second($0.timestamp) }.joined(separator: " "))
  }
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) { note("paused") }
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) { note("resumed") }
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    note("deferred \((error as? CLError)?.code.rawValue ?? -1)")
  }
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    note(visit.departureDate == .distantFuture ? "arrived" : "departed")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    note("heading \(Int(newHeading.magneticHeading))")
  }
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    note("calibrate?")
    return true
  }
}
