import DBusMessages
import Foundation
import Scanning
import Synchronization
package import TestSupport

extension Daemon {
  /// A process that GeoClue takes for an app in a Flatpak: it asks the agent about these alone, and accepts no agent of them.
  package struct SandboxedApp {
    package var identifier: String
    package var process: Int32

    package init(_ identifier: String, process: Int32) {
      (self.identifier, self.process) = (identifier, process)
    }
  }

  /// Starts a GeoClue on a bus of the test's own, whose receiver is an ``NMEAServer`` at `nmea` in the directory. Lines are added
  /// to its configuration, and a process is shown to it as an app in a sandbox, where this process may mount a file over the
  /// system's (``canMount``).
  package static func geoclue(
    on bus: BusDaemon, in scratch: Scratch, adding lines: String? = nil, app: SandboxedApp? = nil
  ) throws -> Daemon {
    // It retries Wi-Fi and avahi, which are not on this bus.
    var command = ["/usr/libexec/geoclue", "-t", "0", "-u", scratch["nmea"]]
    func mount(_ text: String, at path: String, _ name: String) throws {
      try scratch.write(Array(text.utf8), name)
      let script = "mount --bind \"$0\" \(path) && exec \"$@\""
      command = ["/usr/bin/unshare", "-m", "sh", "-c", script, scratch[name]] + command
    }
    if let lines {
      let configuration = try String(contentsOfFile: configurationPath, encoding: .utf8)
      try mount("\(configuration)\n\(lines)\n", at: configurationPath, "geoclue.conf")
    }
    if let app {
      let scope = "/user.slice/app-flatpak-\(app.identifier)-1.scope"
      try mount(
        "1:name=systemd:\(scope)\n0::\(scope)\n", at: "/proc/\(app.process)/cgroup", "cgroup")
    }
    let daemon = try Daemon(
      command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address], log: scratch["geoclue.log"])
    let observer = try BusConnection(.address(bus.address))
    let isThere = try eventually { try observer.owner(of: "org.freedesktop.GeoClue2") != nil }
    guard isThere else { throw NoDaemon(program: "/usr/libexec/geoclue") }
    return daemon
  }

  private static let configurationPath = "/etc/geoclue/geoclue.conf"

  /// Whether this process may mount files in a namespace of its own.
  package static let canMount: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = ["-m", "mount", "--bind", "/tmp", "/tmp"]
    process.standardError = FileHandle.nullDevice
    guard let started = try? StartedProcess(process) else { return false }
    started.wait()
    return started.status == 0
  }()
}

/// GeoClue's agent of this user, which registers itself with each GeoClue that comes.
package final class GeoClueAgent: Sendable {
  private let level: Mutex<UInt32>
  private let changed: Mutex<Bool>
  private let refuses: Bool
  private let questions = Mutex(0)

  /// Creates an agent that permits a level to all apps, or that refuses each app which it is asked about.
  package init(_ address: String, level: UInt32 = 8, refuses: Bool = false) throws {
    self.level = Mutex(level)
    self.refuses = refuses
    changed = Mutex(false)
    let bus = Unchecked(value: try BusConnection(.address(address)))
    try bus.value.addMatch(.owner(of: Self.service))
    try Self.register(bus.value)
    Thread.detachNewThread { [self] in
      // Where the bus has ended, so has the agent.
      try? run(bus.value)
    }
  }

  /// Used by one thread at a time: handed over at the start.
  struct Unchecked: @unchecked Sendable {
    let value: BusConnection
  }

  private static let service = "org.freedesktop.GeoClue2"
  private static let interface = "org.freedesktop.GeoClue2.Agent"
  private static let path = "/org/freedesktop/GeoClue2/Agent"

  /// How often it was asked whether an app may have the location.
  package var authorizations: Int { questions.withLock { $0 } }

  /// Changes the level that is permitted.
  package func setLevel(_ value: UInt32) {
    level.withLock { $0 = value }
    changed.withLock { $0 = true }
  }

  private static func register(_ bus: BusConnection) throws {
    var call = BusMessage(
      call: "AddAgent", of: "org.freedesktop.GeoClue2.Manager",
      at: "/org/freedesktop/GeoClue2/Manager",
      to: service, body: [.string("geoclue-demo-agent")])
    call.startsService = false
    try bus.send(call)
  }

  private var properties: BusValue {
    .properties(["MaxAccuracyLevel": .uint32(level.withLock { $0 })])
  }

  private func run(_ bus: BusConnection) throws {
    while true {
      for message in try bus.receive(waitingAtMost: 20_000_000) {
        if let change = message.ownerChange, change.owner != nil { try Self.register(bus) }
        switch message.member {
        case "AuthorizeApp" where message.kind == .call:
          let level = level.withLock { $0 }
          questions.withLock { $0 += 1 }
          try bus.reply(
            to: message, with: [.boolean(level > 0 && !refuses), .uint32(refuses ? 0 : level)])
        case "GetAll" where message.kind == .call: try bus.reply(to: message, with: [properties])
        case "Get" where message.kind == .call:
          try bus.reply(to: message, with: [.variant(.uint32(level.withLock { $0 }))])
        default: break
        }
      }
      let isChanged = changed.withLock { changed in
        defer { changed = false }
        return changed
      }
      guard isChanged else { continue }
      try bus.send(
        BusMessage(
          signal: "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: Self.path,
          .string(Self.interface), properties, .strings([])))
    }
  }
}

/// A receiver that sends NMEA sentences to whoever connects to its socket.
package final class NMEAServer: Sendable {
  private let state = Mutex((epochs: 0, isConnected: false))

  /// The number of epochs that were sent, or begun.
  package var epochs: Int { state.withLock { $0.epochs } }
  package var isConnected: Bool { state.withLock { $0.isConnected } }

  /// Creates a receiver of a place that moves north, with an epoch each 50 ms.
  package convenience init(at path: String) throws {
    try self.init(at: path) { number in
      usleep(50_000)
      return Self.moving(number)
    }
  }

  /// Creates a receiver that sends the sentences of each epoch, from 1 on; `nil` where the next epoch is not due.
  package init(at path: String, sentences: @escaping @Sendable (Int) -> [String]?) throws {
    let server = FakeServer.Unchecked(value: try FakeServer(at: path))
    Thread.detachNewThread { [weak self] in
      let server = server.value
      while self != nil {
        guard server.acceptIfAny() else {
          usleep(10_000)
          continue
        }
        self?.state.withLock { $0.isConnected = true }
        // The client sends nothing but the end of its connection.
        while let epochs = self?.epochs, server.receive() != "" {
          guard let texts = sentences(epochs + 1) else {
            usleep(5000)
            continue
          }
          self?.state.withLock { $0.epochs += 1 }
          guard server.send(texts.map(nmeaLine).joined()) else { break }
        }
        self?.state.withLock { $0.isConnected = false }
        server.hangUp()
      }
    }
  }

  /// GeoClue takes the date from today and the time from the sentence.
  private static func moving(_ number: Int) -> [String] {
    let clock = WallClockTime.now.description
    let date = clock.dropFirst(2).prefix(8).split(separator: "-").reversed().joined()
    let time = clock.dropFirst(11).prefix(8).replacing(":", with: "") + ".00"
    let north = String("0000\(number % 10_000)".suffix(4))
    return [
      "GPGGA,\(time),3723.\(north),N,12202.2690,W,1,08,0.9,30.0,M,-25.0,M,,",
      "GPRMC,\(time),A,3723.\(north),N,12202.2690,W,10.0,030.00,\(date),013.0,E,A",
    ]
  }
}
