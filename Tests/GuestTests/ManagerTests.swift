import CoreLocation
import Dispatch
import Foundation
import HCISockets
import ServiceCore
import Synchronization
import Testing

extension InGuest {
  /// A manager in this process, on a real socket.
  @Suite struct ManagerTests {
    private static let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")

    /// The radio rests when nobody listens, works slowly for regions and fully for ranging: as the
    /// controller and btmon saw it.
    @Test func worksAsHardAsIsAsked() throws {
      let uuid = try #require(Self.uuid)
      let air = try VirtualController(
        #"{"plug": "a"}"#, #"{"id": "x", "uuid": "\#(uuid)", "major": 1, "minor": 7, "rssi": -60}"#)
      try Guest.up()
      let capture = "/tmp/manager.btsnoop"
      let btmon = try Child("/usr/bin/btmon", ["-w", capture], output: .file)
      sleep(1)
      let listener = Listener()
      let manager = make(listener)
      sleep(2)
      #expect(!(try air.scan().isOn), "nothing is registered")

      let region = CLBeaconRegion(uuid: uuid, identifier: "lobby")
      manager.startMonitoring(for: region)
      #expect(try Guest.wait(5) { try air.scan().isOn })
      #expect(try air.scan().duty < 0.6)
      #expect(Guest.wait(5) { listener.events.contains("inside lobby") }, "\(listener.events)")

      let constraint = CLBeaconIdentityConstraint(uuid: uuid)
      manager.startRangingBeacons(satisfying: constraint)
      #expect(try Guest.wait(5) { try air.scan().duty == 1 })
      #expect(Guest.wait(5) { listener.events.contains("1:7") }, "\(listener.events)")

      manager.stopRangingBeacons(satisfying: constraint)
      #expect(
        try Guest.wait(5) {
          let scan = try air.scan()
          return scan.isOn && scan.duty < 0.6
        })
      manager.stopMonitoring(for: region)
      #expect(try Guest.wait(5) { !(try air.scan().isOn) })
      sleep(2)
      #expect(!(try air.scan().isOn))
      let count = listener.events.count
      sleep(1)
      #expect(listener.events.count == count, "it was told something while nothing was asked for")

      btmon.send(SIGINT)
      btmon.finish(limit: 10)
      let seen = try Guest.run("btmon -C 160 -r \(capture)").output
      let last = try #require(seen.range(of: "Scanning: ", options: .backwards))
      #expect(seen[last.upperBound...].hasPrefix("Disabled (0x00)"))
      #expect(seen.contains("Scanning: Enabled (0x01)"))
      #expect(!seen.contains("Filter duplicates: Enabled"))
      try air.stop()
    }

    /// A delegate is told of a fault, and of nothing else, and all goes on by itself.
    @Test func aFaultIsToldAndMended() throws {
      let uuid = try #require(Self.uuid)
      let air = try VirtualController(
        #"{"plug": "a"}"#, #"{"id": "x", "uuid": "\#(uuid)", "major": 1, "minor": 7, "rssi": -60}"#)
      try Guest.up()
      let listener = Listener()
      let manager = make(listener)
      manager.startMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "lobby"))
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      #expect(Guest.wait(8) { listener.events.contains("1:7") }, "\(listener.events)")
      try Guest.run("hciconfig hci0 down")
      #expect(Guest.wait(3) { listener.events.contains("cannot range 16") })
      #expect(listener.events.contains("cannot monitor lobby 5"))
      sleep(6)
      let before = listener.events.count
      try Guest.run("hciconfig hci0 up")
      #expect(Guest.wait(4) { listener.events[before...].contains("1:7") })
      #expect(!listener.events.contains("outside lobby"), "\(listener.events)")
      try air.stop()
    }

    private func make(_ listener: Listener) -> CLLocationManager {
      var configuration = LocationServices.Configuration()
      configuration.scanner = HCIScanner()
      configuration.persistence = .none
      configuration.delegateQueue = DispatchQueue(label: "listener")
      let manager = CLLocationManager(services: LocationServices(configuration))
      manager.delegate = listener
      manager.requestAlwaysAuthorization()
      return manager
    }
  }
}

/// Writes down what a manager tells.
private final class Listener: CLLocationManagerDelegate, Sendable {
  private let told = Mutex<[String]>([])

  var events: [String] { told.withLock { $0 } }

  private func note(_ event: String) { told.withLock { $0.append(event) } }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    note("\(state == .inside ? "inside" : "outside") \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    for beacon in beacons where beacon.rssi != 0 { note("\(beacon.major):\(beacon.minor)") }
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    note("cannot range \((error as NSError).code)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    note("cannot monitor \(region?.identifier ?? "") \((error as NSError).code)")
  }
}
