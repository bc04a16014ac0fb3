import ArgumentParser
import Clocks
import FleetEngine
import FleetReports
import FleetSites
import Fusion
import Glibc
import Logging
import Synchronization

/// Runs a whole fleet on one machine.
struct UpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up",
    abstract: "Runs a fleet on one machine: RabbitMQ, a worker, and the page.",
    discussion: """
      DIRECTORY has the site files in sites, and the data of RabbitMQ in engine; both are made if \
      they are missing. RabbitMQ is a node of this command's own, beside one of the system. The \
      programs and the messages are those of a large fleet.

      EXAMPLES
        beaconscan-fleet up fleet --simulate 30
        beaconscan-fleet up fleet --listen 0.0.0.0:8733 --host fleet.local --token-file token
      """)

  @Argument(help: "The directory of the sites and the data.")
  var directory: String

  @Option(
    help: ArgumentHelp(
      "A simulated site with so many rooms, each with a receiver, 1 to 200.", valueName: "rooms"))
  var simulate: Int?

  @Option(help: ArgumentHelp("The port for receivers, by MQTT.", valueName: "port"))
  var mqttPort: UInt16 = 1883

  @Option(
    help: ArgumentHelp(
      "The port for receivers with TLS; that without is then on the loopback interface only.",
      valueName: "port"))
  var mqttTLSPort: UInt16?

  @Option(
    help: ArgumentHelp(
      "The certificate for receivers, in PEM, with those that sign it below the root.",
      valueName: "file"))
  var mqttCertificate: String?

  @Option(help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"))
  var mqttKey: String?

  @Option(
    help: ArgumentHelp(
      "The port for workers, on the loopback interface; RabbitMQ also uses the two after it.",
      valueName: "port"))
  var enginePort: UInt16 = 7250

  @OptionGroup var page: PageOptions

  @OptionGroup var database: DatabaseOptions

  @OptionGroup var homeAssistant: HomeAssistantOptions

  func validate() throws {
    if let simulate, !(1...200).contains(simulate) {
      throw ValidationError("--simulate must be from 1 to 200 rooms, not \(simulate)")
    }
    guard (1...65_533).contains(enginePort) else {
      throw ValidationError("--engine-port must be from 1 to 65533, not \(enginePort)")
    }
    guard (mqttTLSPort == nil) == (mqttCertificate == nil),
      (mqttTLSPort == nil) == (mqttKey == nil)
    else {
      throw ValidationError(
        "TLS needs all of --mqtt-tls-port, --mqtt-certificate and --mqtt-key")
    }
    _ = try database.configurationIfGiven()
  }

  func run() async throws {
    for path in [directory, "\(directory)/sites"] where unsafe access(path, F_OK) != 0 {
      try Files.makeDirectory(path)
    }
    // A wrong option ends the command before anything is started.
    _ = try homeAssistant.link()
    // RabbitMQ's scripts need whole paths.
    let root = try Files.whole(directory)
    let sites = "\(root)/sites"
    let simulator: LiveSimulator? =
      if let simulate { try Self.simulator(rooms: simulate, sites: sites) } else { nil }
    let logger = Logger(label: "beaconscan-fleet")
    let node = try EngineNode(
      EngineDirectory("\(root)/engine", port: enginePort), mqttPort: mqttPort, tls: try tls(),
      logger: logger)
    let engine = "127.0.0.1:\(enginePort)"
    let work = ["--sites", sites, "--engine", engine]
    let serve = try serve(work)
    let configuration = try EngineOptions.parse(["--engine", engine]).configuration()
    try await Interrupt.canceling {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { await node.run() }
        await node.waitUntilReady()
        let (ready, continuation) = AsyncStream.makeStream(of: Never.self)
        tasks.addTask {
          defer { continuation.finish() }
          try await WorkCommand.parse(work).run { continuation.finish() }
        }
        // What they read and write is there then.
        for await _ in ready {}
        tasks.addTask { try await serve.run() }
        if let simulator {
          tasks.addTask { try await simulator.publish(to: configuration) }
        }
        defer { tasks.cancelAll() }
        try await tasks.next()
      }
    }
  }

  private func tls() throws -> EngineNode.TLS? {
    guard let mqttTLSPort, let mqttCertificate, let mqttKey else { return nil }
    for path in [mqttCertificate, mqttKey] { _ = try Files.bytes(path) }
    return EngineNode.TLS(
      port: mqttTLSPort, certificate: try Files.whole(mqttCertificate),
      key: try Files.whole(mqttKey))
  }

  private func serve(_ arguments: [String]) throws -> ServeFleet {
    var serve = try ServeFleet.parse(arguments)
    serve.page = page
    serve.database = database
    serve.homeAssistant = homeAssistant
    return serve
  }

  /// Makes the file of the simulated site, if there is none.
  private static func simulator(rooms: Int, sites: String) throws -> LiveSimulator {
    let path = "\(sites)/simulated.toml"
    if unsafe access(path, F_OK) != 0 {
      try Files.write(Array(Site(planOf: rooms, name: "simulated").toml.utf8), to: path)
    }
    return LiveSimulator(try Files.site(path))
  }
}

/// A simulated site whose receivers report each second.
private final class LiveSimulator: Sendable {
  private struct State {
    var simulator: SiteSimulator
    var waiting: ArraySlice<ReceiverReport> = []
  }

  private let site: String
  private let state: Mutex<State>
  private let began = WallClockTime.now.second
  /// A start that no receiver had before.
  private let boot = UInt64.random(in: 1...UInt64.max)

  init(_ site: Site) {
    self.site = site.name
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = 3 * site.rooms.count
    configuration.faults = 0.01
    configuration.seed = boot
    state = Mutex(State(simulator: SiteSimulator(site, configuration)))
  }

  func publish(to configuration: EngineConfiguration) async throws {
    do throws(EngineError) {
      try await ReportPublisher(configuration) { self.next() }.run()
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
  }

  private func next() -> ReportPublisher.Next {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.waiting =
          state.simulator.next().reports.map { second in
            var report = ReceiverReport(second, site: site)
            report.boot = boot
            report.time = WallClockTime(second: began + second.second)
            return report
          }[...]
      }
      guard let report = state.waiting.first else { return .pause(0.1) }
      let left = report.time.nanoseconds - WallClockTime.now.nanoseconds
      guard left <= 0 else { return .pause(Double(left) / 1e9) }
      state.waiting.removeFirst()
      return .report(
        routingKey: FleetTopic.routingKey(ofSite: report.site, receiver: report.receiver),
        body: report.json)
    }
  }
}
