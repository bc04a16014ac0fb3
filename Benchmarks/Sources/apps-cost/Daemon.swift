import AppDaemon
import Foundation
import Glibc
import Scanning
import ServiceCore
import Synchronization

/// A daemon of many apps, as `beaconscan serve --apps` is one, and the process of the apps.
final class Daemon {
  /// The KiB that all apps take in this process.
  let memory: Int
  private let air: Air
  private let managers: [AppServices]
  private let apps: Process
  private let lines: FileHandle

  init(_ folder: String, apps count: Int, regions: Int) throws {
    air = Air(regions: regions)
    let shared = BeaconService(ServiceManager(settings(nil)), scanner: air.scanner)
    let locations = LocationService(shared.manager, source: nil)
    var own = BeaconService.Configuration()
    own.rules = try Air.rules()
    let before = Self.resident
    let served = Mutex<[AppServices]>([])
    let listener = try AppServer.listen(at: "\(folder)/apps.sock")
    let configuration = own
    // The identity of an app is that of its program, of which there is one here.
    Thread.detachNewThread {
      while true {
        // The listening socket does not block.
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        unsafe poll(&waiting, 1, -1)
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { continue }
        let connection = AppConnection(descriptor) { _ in
          let number = served.withLock { $0.count }
          let manager = ServiceManager(settings("\(folder)/\(number).sqlite"))
          let services = AppServices(
            manager, BeaconService(manager, sharing: shared, configuration: configuration),
            LocationService(manager, sharing: locations))
          served.withLock { $0.append(services) }
          return services
        }
        connection.start()
      }
    }
    apps = Process()
    apps.executableURL = URL(filePath: CommandLine.arguments[0])
    apps.arguments = ["apps", "\(folder)/apps.sock", "\(count)", "\(regions)"]
    let pipe = Pipe()
    apps.standardOutput = pipe
    lines = pipe.fileHandleForReading
    try apps.run()
    // The apps have registered their regions.
    _ = try lines.read(upToCount: 1)
    managers = served.withLock { $0 }
    for services in managers { services.manager.flush() }
    air.join()
    memory = Self.resident - before
  }

  deinit { apps.terminate() }

  func measure(rounds: Int) throws -> Costs {
    var costs = Costs()
    let count = managers.count
    let size = count * MemoryLayout<UInt64>.size
    let before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    for round in 0..<rounds {
      let began = air.begin(round)
      var received = Data()
      while received.count < size, let part = try lines.read(upToCount: size - received.count) {
        received += part
      }
      // The bytes outlive the call.
      costs.latencies += unsafe received.withUnsafeBytes { bytes in
        unsafe Array(bytes.bindMemory(to: UInt64.self)).map { $0 > began ? $0 - began : 0 }
      }
      usleep(20_000)
    }
    let after = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    costs.round = Double((after - before) / UInt64(rounds)) / 1000
    costs.latencies.sort()
    apps.terminate()
    costs.sighting = air.stay { for services in managers { services.manager.flush() } }
    return costs
  }

  /// The KiB of this process in memory.
  private static var resident: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }
}

/// A manager with the regions of one app, in its own process.
final class Alone {
  private let air: Air
  private let client: ServiceClient
  private let beacons: BeaconService
  private let entries: Entries

  init(_ folder: String, regions: Int) throws {
    air = Air(regions: regions)
    var own = BeaconService.Configuration()
    own.rules = try Air.rules()
    let manager = ServiceManager(settings("\(folder)/alone.sqlite"))
    beacons = BeaconService(manager, scanner: air.scanner, configuration: own)
    entries = Entries(apps: 1) { _ in }
    client = manager.addClient(pacesRecordings: false, receive: entries.receiver(0))
    let client = BeaconClient(client, of: beacons)
    for number in 0..<regions { try client.register(Air.region(number)) }
    manager.flush()
  }

  func measure(rounds: Int) -> Costs {
    var costs = Costs()
    let before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    for round in 0..<rounds {
      _ = air.begin(round)
      while entries.rounds <= round { usleep(50) }
      usleep(20_000)
    }
    let after = nanoseconds(CLOCK_PROCESS_CPUTIME_ID)
    costs.round = Double((after - before) / UInt64(rounds)) / 1000
    costs.sighting = air.stay { beacons.manager.flush() }
    client.remove()
    return costs
  }
}
