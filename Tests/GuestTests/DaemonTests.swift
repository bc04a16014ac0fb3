import CoreLocation
import Dispatch
import Foundation
import Synchronization
import Testing

extension InGuest {
  /// `serve` as the daemon of apps, on a real adapter.
  @Suite struct DaemonTests {
    private static let folder = "/dev/shm/apps"
    private static let uuid = UUID(uuidString: FaultTests.region)

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

      func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
        record("status \(manager.authorizationStatus.rawValue)")
      }
    }

    private func app(_ listener: Listener) -> CLLocationManager {
      var configuration = LocationServices.Configuration()
      configuration.daemon = .required
      configuration.delegateQueue = DispatchQueue(label: "listener")
      let manager = CLLocationManager(services: LocationServices(configuration))
      manager.delegate = listener
      return manager
    }

    private func permit(_ value: String) throws {
      try Guest.run("install -d /etc/corelocation")
      try #"{"*": "\#(value)", "beaconscan": "always"}"#.write(
        toFile: "/etc/corelocation/authorization.json", atomically: true, encoding: .utf8)
    }

    /// Stops a program for a while, in which an app and the page get their events, and continues it.
    private func checkAStop(of program: Child, _ app: Listener, _ page: Child) throws {
      func reports(_ output: String) -> Int { output.split(separator: "event: range").count }
      program.send(SIGSTOP)
      let shown = program.output
      let before = (app: app.events.count, page: reports(page.output))
      sleep(Guest.isLong ? 60 : 5)
      #expect(Guest.wait { app.events.count >= before.app + (Guest.isLong ? 30 : 3) })
      #expect(Guest.wait { reports(page.output) >= before.page + (Guest.isLong ? 30 : 3) })
      #expect(program.output == shown, "a stopped program writes")
      program.send(SIGCONT)
      #expect(Guest.wait { program.output.count > shown.count })
    }

    /// One app ranges, another one monitors, one in C ranges, a page is open: the controller has one
    /// scan, which ends with the last demand. An app that is stopped disturbs nobody. A permission
    /// that is withdrawn ends an app's part at once.
    @Test func appsAndAPageShareOneScan() throws {
      let uuid = try #require(Self.uuid)
      let air = try VirtualController(#"{"plug": "a"}"#, FaultTests.beacon)
      try Guest.up()
      try Guest.run("rm -rf \(Self.folder); mkdir -p \(Self.folder)")
      try permit("always")
      defer { try? FileManager.default.removeItem(atPath: "/etc/corelocation") }
      let socket = "\(Self.folder)/apps.sock"
      let service = try Child(
        Guest.beaconscan,
        [
          "serve", "--config", "/dev/null", "--backend", "hci", "--adapter", "hci0",
          "--apps", socket, "--apps-state", "\(Self.folder)/state", "--listen", "127.0.0.1:8733",
        ], output: .file)
      try #require(
        Guest.wait { FileManager.default.fileExists(atPath: socket) || !service.isRunning },
        "\(service.error)")
      // The texts outlive the calls.
      unsafe setenv("BEACONSCAN_SOCKET", socket, 1)
      defer { unsafe unsetenv("BEACONSCAN_SOCKET") }
      let (one, other) = (Listener(), Listener())
      let (ranging, monitoring) = (app(one), app(other))
      sleep(2)
      #expect(!(try air.scan().isOn), "nobody asked for anything")

      monitoring.startMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "lobby"))
      #expect(Guest.wait { other.events.contains("inside lobby") }, "\(other.events)")
      #expect(try Guest.wait { try air.scan().isOn && air.scan().duty < 0.6 })
      ranging.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      #expect(Guest.wait { one.events.contains("1:2") }, "\(one.events) \(service.error)")
      let page = try Child(
        "/usr/bin/curl", ["-sN", "http://127.0.0.1:8733/api/v1/events"], output: .file)
      #expect(Guest.wait { page.output.contains("event: range") }, "\(service.error)")
      #expect(try air.scan().duty == 1)
      let scans = try air.entries("scan").count
      let program = try Child(
        Guest.root.appending(path: ".build/guest/built/kiosk").path,
        ["--events", "range", "uuid=\(uuid)", "daemon=required"], output: .file)
      #expect(
        Guest.wait { program.output.contains(#""type":"range""#) },
        "\(program.error) \(service.error)")
      // The kernel was asked for nothing more.
      let later = try air.entries("scan").dropFirst(scans)
      #expect(later.isEmpty, "\(later.map { "\($0.time) \($0.fields)" })")
      try checkAStop(of: program, one, page)
      program.send(SIGTERM)
      _ = program.finish()
      // Ranging is a manager's own; regions are those of the app, which both managers belong to.
      #expect(!other.events.contains("1:2"))
      let sockets = try Guest.run(
        "grep -c . /proc/net/hci || true; ls /proc/\(service.id)/fd | wc -l")
      print("sockets and descriptors of the service: \(sockets.lines)")

      // The page and the ranging app end; the region's slow scan stays.
      page.send(SIGTERM)
      _ = page.finish()
      ranging.stopRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      #expect(try Guest.wait { try air.scan().isOn && air.scan().duty < 0.6 })
      monitoring.stopMonitoring(for: CLBeaconRegion(uuid: uuid, identifier: "lobby"))
      #expect(try Guest.wait { try !air.scan().isOn })

      // What is withdrawn ends within seconds, without a request of the app.
      ranging.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: uuid))
      #expect(try Guest.wait { try air.scan().isOn })
      try permit("denied")
      #expect(try Guest.wait { try !air.scan().isOn }, "\(service.error)")
      #expect(Guest.wait { one.events.contains("status 2") }, "\(one.events)")
      service.send(SIGTERM)
      #expect(service.finish() == 0, "\(service.error)")
      try air.stop()
    }
  }
}
