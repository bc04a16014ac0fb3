import ArgumentParser
import BrokerLink
import Clocks
import Dispatch
import FleetEngine
import FleetHistory
import FleetPage
import FleetSites
import HTTPServing
import Synchronization
import SystemPackage

/// Serves the picture of all sites: a page and an API.
struct ServeFleet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serves a page and an API with all sites, their rooms, receivers and beacons.",
    discussion: """
      It reads what the workers publish to the engine, and the site files of a folder. With \
      --replay, it reads pictures and changes from a file instead, a JSON object a line.

      EXAMPLES
        beaconscan-fleet serve --sites sites
        beaconscan-fleet serve --sites sites --listen 0.0.0.0:8733 --token-file token \\
          --host fleet.local
      """)

  @OptionGroup var engine: EngineOptions

  @OptionGroup var database: DatabaseOptions

  @Option(help: ArgumentHelp("The days for which the database keeps changes.", valueName: "days"))
  var keep = 400

  @Option(help: ArgumentHelp("The folder of the site files.", valueName: "folder"))
  var sites: String

  @OptionGroup var page: PageOptions

  @OptionGroup var homeAssistant: HomeAssistantOptions

  @Option(
    help: ArgumentHelp(
      "A file of pictures and changes in place of the engine; - is standard input.",
      valueName: "file"))
  var replay: String?

  func validate() throws {
    guard 1...36_500 ~= keep else {
      throw ValidationError("--keep must be from 1 to 36500 days, not \(keep)")
    }
  }

  func run() async throws {
    let folder = SiteFolder(sites)
    let database = try database.configurationIfGiven()
    let hub = FleetHub(
      isRecorded: replay != nil, history: database.map(Self.history), plan: folder.picture)
    folder.read(to: hub)
    let counts = RequestCounts()
    let server = HTTPServer(FleetRoutes(hub, counts: counts), rules: try page.rules, counts: counts)
    let addresses = try page.addresses
    let homeAssistant = try homeAssistant.link()
    let readers = try replay == nil ? readers(to: hub) : []
    let writer = try replay == nil ? database.map(writer) : nil
    let sender =
      try replay == nil
      ? ConfigurationSender(engine.configuration(), folder: "\(sites)/receivers") : nil
    if let replay { try PictureReplay(replay).start(to: hub) }
    homeAssistant?.start()
    defer { homeAssistant?.stop() }
    do {
      try await Interrupt.canceling {
        try await withThrowingTaskGroup { tasks in
          tasks.addTask {
            try await server.run(on: addresses) { ports in
              for (address, port) in zip(addresses, ports) { Self.report(address, port) }
            }
          }
          for reader in readers { tasks.addTask { await reader.run() } }
          if let writer { tasks.addTask { await writer.run() } }
          if let sender { tasks.addTask { try await sender.run() } }
          tasks.addTask { try await Self.watch(hub, readers, folder, homeAssistant, sender) }
          defer { tasks.cancelAll() }
          try await tasks.next()
          await server.endStreams()
        }
      }
    } catch let error as ServiceFailure {
      throw FleetError(.unavailable, error.description)
    } catch let error as EngineError {
      throw FleetError(.unavailable, "\(error)")
    } catch is CancellationError {}
  }

  /// Looks for changes that no message announces: of the connection, the site files and time.
  private static func watch(
    _ hub: FleetHub, _ readers: [StreamReader], _ folder: SiteFolder,
    _ homeAssistant: Broker<RoomPublisher>?, _ sender: ConfigurationSender?
  ) async throws {
    while true {
      let fault = readers.map(\.status).first { $0.node == nil }
      hub.set(fault: fault.map { $0.lastError ?? "there is no connection to the engine yet" })
      hub.lookForSilence()
      folder.read(to: hub)
      homeAssistant?.update(from: hub)
      sender?.update(from: hub)
      try await Task.sleep(for: .seconds(2))
    }
  }

  /// Reads changes from a database. Each query ends after five seconds, as answers of the page do.
  private static func history(_ database: DatabaseConfiguration) -> FleetHub.History {
    var configuration = database
    configuration.answerTime = 5
    let store = DatabaseChangeStore(configuration)
    return { site, beacon, from, to, limit in
      try store.changes(site: site, beacon: beacon, from: from, to: to, limit: limit)
    }
  }

  private func writer(_ database: DatabaseConfiguration) throws -> HistoryWriter {
    let configuration = try engine.configuration()
    do throws(EngineError) {
      return try HistoryWriter(database, engine: configuration, keep: keep)
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
  }

  /// Readers of the pictures of now, and of the changes of the last day. The hub takes a change once,
  /// also if it has a lower second than those before it because a clock was set back.
  private func readers(to hub: FleetHub) throws -> [StreamReader] {
    let configuration = try engine.configuration()
    let now = UInt64(clamping: WallClockTime.now.nanoseconds / 1_000_000_000)
    do throws(EngineError) {
      return [
        try StreamReader(
          configuration, stream: StreamReader.pictures, from: .time(now - min(now, 60))
        ) { hub.receive(picture: $0.body) },
        try StreamReader(
          configuration, stream: StreamReader.transitionsStream,
          from: .time(now - min(now, 86_400))
        ) { hub.receive(change: $0.body) },
      ]
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
  }

  private static func report(_ address: HTTPServer.Address, _ port: Int?) {
    switch address {
    case .host(let host, _):
      let name = host.contains(":") ? "[\(host)]" : host
      FleetError.warn("serving on http://\(name):\(port ?? 0)/")
    case .unix(let path): FleetError.warn("serving on \(path)")
    case .inherited: break
    }
  }
}

/// The site files of a folder, and the pictures of their plans.
private final class SiteFolder: Sendable {
  /// The largest picture, in bytes.
  private static let maximumPicture = 16 << 20

  private let path: String
  private let directory: Mutex<SiteDirectory>
  private let hasRead = Atomic(false)

  init(_ path: String) {
    self.path = path
    directory = Mutex(SiteDirectory(path))
    report(directory.withLock { $0.faults })
  }

  /// Gives the hub the files that are new or have changed, and takes away those that are gone.
  func read(to hub: FleetHub) {
    let files = directory.withLock { directory -> [String: String]? in
      if directory.refresh() {
        report(directory.faults)
      } else if hasRead.exchange(true, ordering: .relaxed) {
        return nil
      }
      return directory.files
    }
    guard let files else { return }
    hub.removeFiles(except: Set(files.keys))
    for path in files.values {
      // A file that has an error now stays as it was.
      guard let bytes = try? Files.bytes(path), let file = try? SiteFile(parsing: bytes) else {
        continue
      }
      hub.set(file)
    }
  }

  private func report(_ faults: [SiteDirectory.Fault]) {
    for fault in faults { FleetError.warn("\(fault)") }
  }

  @Sendable func picture(of site: String, _ plan: SiteFile.Plan) throws -> [UInt8] {
    let bytes = try Files.bytes("\(path)/\(plan.image)")
    guard bytes.count <= Self.maximumPicture else {
      throw FleetError(.badData, "\(plan.image) has more than 16 MiB")
    }
    return bytes
  }
}

/// Recorded pictures and changes, a JSON object a line.
private struct PictureReplay {
  private let file: FileDescriptor

  init(_ path: String) throws {
    do {
      file = path == "-" ? .standardInput : try FileDescriptor.open(FilePath(path), .readOnly)
    } catch let error as Errno {
      throw FleetError(.noInput, "cannot read \(path): \(error)")
    }
  }

  /// Reads on a thread of its own, as a pipe may have nothing for long.
  func start(to hub: FleetHub) {
    DispatchQueue(label: "replay").async {
      var waiting: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 1 << 16)
      while let count = try? unsafe part.withUnsafeMutableBytes({ try unsafe file.read(into: $0) }),
        count > 0
      {
        waiting += part[..<count]
        guard let end = waiting.lastIndex(of: UInt8(ascii: "\n")) else { continue }
        for line in waiting[..<end].split(separator: UInt8(ascii: "\n")) {
          hub.receive(line: Array(line))
        }
        waiting.removeFirst(end + 1)
      }
    }
  }
}
