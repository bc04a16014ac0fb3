import CoreLocation
import Dispatch
import Foundation
import LiveScanning
import ServiceCore
import Synchronization
import Testing

extension InGuest {
  /// A manager in this process, on a real socket.
  @Suite struct ManagerTests {
    private static let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")

    /// The radio rests without demand, works slowly for regions and fully for ranging, as the controller and
    /// btmon saw it.
    @Test func worksAsHardAsTheDemand() throws {
      let uuid = try #require(Self.uuid)
      let air = try VirtualController(
        #"{"plug": "a"}"#, #"{"id": "x", "uuid": "\#(uuid)", "major": 1, "minor": 7, "rssi": -60}"#)
      try Guest.up()
      let capture = "/tmp/manager.btsnoop"
      let btmon = try Child("/usr/bin/btmon", ["-w", capture], output: .file)
      try #require(Guest.wait { Guest.size(of: capture) > 16 }, "it records no adapter")
      let listener = Listener()
      let manager = make(listener)
      sleep(2)
      #expect(!(try air.scan().isOn), "nothing is registered")

      let region = CLBeaconRegion(uuid: uuid, identifier: "lobby")
      manager.startMonitoring(for: region)
      // The first look is at full duty, until the state is determined.
      #expect(
        try Guest.wait {
          let scan = try air.scan()
          return scan.isOn && scan.duty < 0.6
        })
      #expect(Guest.wait { listener.events.contains("inside lobby") }, "\(listener.events)")

      let constraint = CLBeaconIdentityConstraint(uuid: uuid)
      manager.startRangingBeacons(satisfying: constraint)
      #expect(try Guest.wait { try air.scan().duty == 1 })
      #expect(Guest.wait { listener.events.contains("1:7") }, "\(listener.events)")

      manager.stopRangingBeacons(satisfying: constraint)
      #expect(
        try Guest.wait {
          let scan = try air.scan()
          return scan.isOn && scan.duty < 0.6
        })
      manager.stopMonitoring(for: region)
      #expect(try Guest.wait { !(try air.scan().isOn) })
      sleep(2)
      #expect(!(try air.scan().isOn))
      let count = listener.events.count
      sleep(1)
      #expect(listener.events.count == count, "something was delivered without demand")

      func readCapture() throws -> String { try Guest.run("btmon -C 160 -r \(capture)").output }
      func isOffAtTheEnd() throws -> Bool {
        let seen = try readCapture()
        guard let last = seen.range(of: "Scanning: ", options: .backwards) else { return false }
        return seen[last.upperBound...].hasPrefix("Disabled (0x00)")
      }
      #expect(try Guest.wait { try isOffAtTheEnd() })
      btmon.send(SIGINT)
      btmon.finish()
      let seen = try readCapture()
      #expect(seen.contains("Scanning: Enabled (0x01)"))
      #expect(!seen.contains("Filter duplicates: Enabled"))
      try air.stop()
    }

    /// A manager for which nothing is registered wakes its process twice a second at most.
    @Test func nothingRegisteredWakesRarely() throws {
      let air = try VirtualController(#"{"plug": "a"}"#, #"{"id": "x"}"#)
      try Guest.up()
      let manager = make(Listener())
      sleep(2)
      let rate = ProcessUse.wakeUpRate(getpid(), over: 20)
      print("nothing registered: \(rate) wake-ups a second")
      #expect(rate <= 2)
      #expect(manager.monitoredRegions.isEmpty)
      try air.stop()
    }

    /// A fault is reported to the delegate, and nothing else; everything resumes by itself.
    @Test func aFaultIsReportedAndServicesResume() throws {
      let uuid = try #require(Self.uuid)
      let air = try VirtualController(
        #"{"plug": "a"}"#, #"{"id": "x", "uuid": "\#(uuid)", "major": 1, "minor": 7, "rssi": -60}"#)
      try Guest.up()
      let listener = Listener()
      let manager = make(listener)
      manager.startMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "lobby"))
      manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      #expect(Guest.wait { listener.events.contains("1:7") }, "\(listener.events)")
      try Guest.run("hciconfig hci0 down")
      #expect(Guest.wait { listener.events.contains("cannot range 16") })
      #expect(Guest.wait { listener.events.contains("cannot monitor lobby 5") })
      sleep(6)
      let before = listener.events.count
      try Guest.run("hciconfig hci0 up")
      #expect(Guest.wait { listener.events[before...].contains("1:7") })
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

/// Records what a manager delivers.
private final class Listener: CLLocationManagerDelegate, Sendable {
  private let delivered = Mutex<[String]>([])

  var events: [String] { delivered.withLock { $0 } }

  private func record(_ event: String) { delivered.withLock { $0.append(event) } }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    record("\(state == .inside ? "inside" : "outside") \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying constraint: CLBeaconIdentityConstraint
  ) {
    for beacon in beacons where beacon.rssi != 0 { record("\(beacon.major):\(beacon.minor)") }
  }

  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor constraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    record("cannot range \((error as NSError).code)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?, withError error: any Error
  ) {
    record("cannot monitor \(region?.identifier ?? "") \((error as NSError).code)")
  }
}
