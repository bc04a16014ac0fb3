import Advertising
import BeaconTesting
import CoreLocation
import Scanning
import ServiceCore
import Testing

// The example in the article on testing.

/// Records entries and exits.
final class Door: NSObject, CLLocationManagerDelegate {
  private(set) var events: [String] = []

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    events.append("in: \(region.identifier)")
  }

  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    events.append("out: \(region.identifier)")
  }
}

/// Grants every application authorization.
final class Allowed: AuthorizationProvider {
  func rule(for application: String, scanner: ScannerAvailability) -> AuthorizationRule {
    .granted(.authorizedAlways)
  }
}

@Suite struct DoorTests {
  private let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

  private func services(_ scanner: ScriptedScanner) -> LocationServices {
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Allowed()
    configuration.persistence = .none
    configuration.delegateQueue = DispatchQueue(label: "door")
    return LocationServices(configuration)
  }

  /// The radio is unplugged for longer than a silence that would be an exit.
  @Test func aRadioThatIsUnpluggedIsNoExit() async throws {
    let badge = BeaconFrame(uuid: try #require(ProximityUUID(uuid)), major: 1, minor: 100)
    let scanner = ScriptedScanner()
    scanner.add(badge, rssi: -60, every: 0.1, from: 40, to: 60)
    scanner.report(.removed, "hci0 is gone; plug it in", at: 60)
    scanner.report(.scanning, at: 75)
    scanner.add(badge, rssi: -60, every: 0.1, from: 75, to: 100)
    scanner.finish(at: 200)
    let services = services(scanner)
    let door = Door()
    let manager = CLLocationManager(services: services)
    manager.delegate = door
    let region = CLBeaconRegion(
      uuid: try #require(UUID(uuidString: uuid)), major: 1, minor: 100, identifier: "badge")
    manager.startMonitoring(for: region)
    scanner.clock.advance(by: 200)
    try await services.ended()
    #expect(door.events == ["in: badge", "out: badge"])
  }

  @Test func recordsEntryAndExit() async throws {
    let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    let badge = BeaconFrame(uuid: try #require(ProximityUUID(uuid)), major: 1, minor: 100)
    // Sent ten times a second for a minute, from the 40th second on.
    let scanner = ScriptedScanner()
    scanner.add(badge, rssi: -60, every: 0.1, from: 40, to: 100)
    scanner.finish(at: 200)

    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Allowed()
    configuration.persistence = .none
    configuration.delegateQueue = DispatchQueue(label: "door")
    let services = LocationServices(configuration)

    let door = Door()
    let manager = CLLocationManager(services: services)
    manager.delegate = door
    let region = CLBeaconRegion(
      uuid: try #require(UUID(uuidString: uuid)), major: 1, minor: 100, identifier: "badge")
    manager.startMonitoring(for: region)

    scanner.clock.advance(by: 200)
    try await services.ended()
    #expect(door.events == ["in: badge", "out: badge"])
  }
}
