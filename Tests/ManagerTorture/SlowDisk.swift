import BeaconTesting
import CoreLocation
import Foundation
import Regions
import Scanning
import ServiceCore
import Synchronization
import TestSupport

/// Uses managers while a sync of the disk takes 2 s, and longer where that is needed: until all that must not wait for
/// it has come. Tests/TestSupport/Syncs.c holds the syncs of this process while the file "slow" exists.
enum SlowDisk {
  static func run(_ state: String) throws {
    let scanner = ScriptedScanner(isRecorded: false)
    var configuration = LocationServices.Configuration()
    configuration.scanner = scanner
    configuration.authorization = Anyone()
    configuration.persistence = .file(state)
    configuration.monitoring.maximumRegions = 2000
    configuration.delegateQueue = DispatchQueue(label: "delegate")

    // The disk is slow from the first use on, which makes the database.
    hold()
    let clock = ContinuousClock()
    let start = clock.now
    let services = LocationServices(configuration)
    let manager = CLLocationManager(services: services)
    let ranging = CLLocationManager(services: services)
    let (registrar, ranger) = (Counter(), Counter())
    (manager.delegate, ranging.delegate) = (registrar, ranger)
    ranging.startRangingBeacons(satisfying: .init(uuid: region(0).uuid))
    guard manager.monitoredRegions.isEmpty, manager.authorizationStatus == .authorizedAlways else {
      exit(2)
    }
    print("first use took \((clock.now - start) / .microseconds(1)) µs at most")
    let packets = Packets(services, scanner)
    var longest = register(0..<10, with: manager)
    packets.send(100, while: ranger)
    release(services)
    let before = syncs

    hold()
    longest = max(longest, register(10..<1010, with: manager))
    eventually { isSyncing }
    longest = max(longest, register(1010..<1020, with: manager))
    packets.send(1000, while: ranger)
    // What is stored is delivered when the kernel has it.
    guard eventually({ registrar.registered == 1020 && registrar.inside == 1 }), isSyncing else {
      exit(3)
    }
    release(services)
    print("registering took \(longest / .microseconds(1)) µs at most")
    print("packets", packets.sent, packets.received)
    print("registered", registrar.registered, "inside", registrar.inside)
    print("syncs", syncs - before)
    withExtendedLifetime((manager, ranging, registrar, ranger)) {}
  }

  static func region(_ number: UInt16) -> CLBeaconRegion {
    let uuid = UUID(uuidString: "00000000-0000-0001-0000-000000000002") ?? UUID()
    // The last one has the beacon that sends.
    let (major, minor): (UInt16, UInt16) = number == 1019 ? (1, 1) : (7, number)
    return CLBeaconRegion(uuid: uuid, major: major, minor: minor, identifier: "\(number)")
  }

  private static func register(
    _ numbers: Range<UInt16>, with manager: CLLocationManager
  ) -> Duration {
    numbers.map { number in
      ContinuousClock().measure { manager.startMonitoring(for: region(number)) }
    }.max() ?? .zero
  }

  private static func hold() {
    guard FileManager.default.createFile(atPath: "slow", contents: nil) else { exit(6) }
  }

  private static func release(_ services: LocationServices) {
    try? FileManager.default.removeItem(atPath: "slow")
    services.core.flush()
  }

  private static var isSyncing: Bool { FileManager.default.fileExists(atPath: "syncing") }

  private static var syncs: Int { (try? Data(contentsOf: URL(filePath: "syncs")).count) ?? 0 }

  /// What another client receives, while the disk is slow.
  private final class Packets {
    private let scanner: ScriptedScanner
    private let count = Count()
    private(set) var sent = 0
    private var seconds = 0.0
    var received: Int { count.value.load(ordering: .relaxed) }

    private final class Count: Sendable {
      let value = Atomic<Int>(0)
    }

    init(_ services: LocationServices, _ scanner: ScriptedScanner) {
      self.scanner = scanner
      let client = services.core.addClient(in: ClientGroup("packets")) { [count] delivery in
        if case .sightings(let sightings)? = delivery.event as? BeaconEvent {
          count.value.add(sightings.count, ordering: .relaxed)
        }
        delivery.acknowledge()
        delivery.finish()
      }
      do {
        try BeaconClient(client, of: services.beacons).startSightings()
      } catch {
        exit(4)
      }
    }

    /// Sends packets in a second, and waits until the client has received them, and the delegate of a manager that
    /// ranges its reports.
    func send(_ number: Int, while ranger: Counter) {
      let reports = ranger.reports
      for index in 0..<number {
        scanner.add(
          World.frame(1), rssi: -60, at: seconds + 0.1 + 0.9 * Double(index) / Double(number))
      }
      sent += number
      seconds += 2
      let start = ContinuousClock.now
      scanner.clock.advance(by: 2)
      guard eventually({ received == sent && ranger.reports > reports }) else { exit(5) }
      print("\(number) packets took \((.now - start) / .milliseconds(1)) ms")
    }
  }

  private final class Counter: CLLocationManagerDelegate, Sendable {
    private let counts = Mutex((registered: 0, inside: 0, reports: 0))

    var registered: Int { counts.withLock { $0.registered } }
    var inside: Int { counts.withLock { $0.inside } }
    var reports: Int { counts.withLock { $0.reports } }

    func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
      counts.withLock { $0.registered += 1 }
    }

    func locationManager(
      _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
    ) {
      if state == .inside { counts.withLock { $0.inside += 1 } }
    }

    func locationManager(
      _ manager: CLLocationManager, didRange beacons: [CLBeacon],
      satisfying beaconConstraint: CLBeaconIdentityConstraint
    ) {
      counts.withLock { $0.reports += 1 }
    }
  }
}
