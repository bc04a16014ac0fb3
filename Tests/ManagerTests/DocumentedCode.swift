import Advertising
import BeaconTesting
import CaptureFiles
import CoreLocation
import Regions
import Scanning
import ServiceCore
import Testing

// Code of the documents, compiled here; DocumentedCodeTests looks for each block in it.

enum DocumentedCode {
  static func bootstrap(_ recording: String) throws {
    var configuration = LocationServices.Configuration()
    configuration.scanner = try ReplayScanner(paths: [recording], speed: .max)
    configuration.persistence = .none
    LocationServices.bootstrap(configuration)
  }

  static func kiosk() {
    var configuration = LocationServices.Configuration()
    configuration.applicationIdentifier = "com.example.kiosk"
    LocationServices.bootstrap(configuration)
  }

  static func provider(_ configuration: inout LocationServices.Configuration) {
    configuration.authorization = OpeningHours(8..<18)
  }

  static func queue(_ manager: CLLocationManager) {
    manager.delegateQueue = DispatchQueue(label: "beacons")
  }

  static func rules(_ manager: CLLocationManager, _ uuid: UUID) throws {
    let door = CLBeaconRegion(uuid: uuid, major: 1, identifier: "door")
    // Entered at -70 dBm after three seconds; left at -76 dBm, or ten seconds after the last packet.
    door.rules = try RegionRules(
      exitTimeout: .fixed(seconds: 10), signal: SignalGate(enter: -70, exit: -76), dwell: 3)
    manager.startMonitoring(for: door)
  }

  static func monitor(_ uuid: UUID) async throws {
    let monitor = await CLMonitor("kiosk")
    let visitor = CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1, minor: 100)
    await monitor.add(visitor, identifier: "visitor", assuming: .unsatisfied)
    for try await event in await monitor.events {
      print(event.identifier, event.state == .satisfied ? "is here" : "has gone")
    }
  }

  static func core(scanner: any Scanning.Scanner, uuid: ProximityUUID) async throws {
    let manager = ServiceManager()
    let beacons = BeaconService(manager, scanner: scanner)
    let client = beacons.addClient()
    manager.requestAuthorization(.authorizedAlways)
    try client.startRanging(RangingRequest(BeaconConstraint(uuid: uuid)))
    for try await event in client.events {
      if case .ranging(let report) = event { print(report.beacons) }
    }
  }

  static func health(show: (String) -> Void) async {
    for await health in LocationServices.shared.health {
      show(health.condition == .scanning ? "" : health.sentence)
    }
  }
}

enum InheritedConformance {
  class Base: NSObject, CLLocationManagerDelegate {}
  class Kiosk: Base {
    // This method is never called.
    func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {}
  }
}
