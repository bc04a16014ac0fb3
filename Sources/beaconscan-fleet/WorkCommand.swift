import ArgumentParser
import FleetEngine
import FleetSites
import FleetWork
import Logging

/// Takes reports from the engine, and publishes the rooms that they give.
struct WorkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "work",
    abstract: "Computes the rooms of a fleet's beacons, beside any number of other workers.",
    discussion: """
      The engine gives each site to one worker, and to another one when that ends or fails: no \
      report and no change of room is lost. Start one worker for each processor, on as many \
      machines as wanted, all with the same site files. A changed site file is read within ten \
      seconds.

      EXAMPLES
        beaconscan-fleet work --sites /etc/beaconscan-fleet/sites
        beaconscan-fleet work --sites sites --engine rabbit-1,rabbit-2,rabbit-3 \
      --engine-user worker --engine-password-file password
      """)

  @Option(help: ArgumentHelp("The directory of the site files.", valueName: "directory"))
  var sites: String

  @OptionGroup var engine: EngineOptions

  func run() async throws { try await run {} }

  /// Works, and calls a function when the engine has all queues and streams.
  func run(whenReady: @escaping @Sendable () -> Void) async throws {
    let library = SiteLibrary(SiteDirectory(sites))
    for fault in library.faults { FleetError.warn("\(fault)") }
    guard !library.sites.isEmpty else {
      throw FleetError(
        .noInput, "no file in \(sites) is a site file; its name ends in .toml (docs/fleet.md)")
    }
    LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
    let logger = Logger(label: "beaconscan-fleet")
    let configuration = try engine.configuration(forWork: true)
    let worker: ShardWorker<SiteShard>
    do throws(EngineError) {
      worker = try ShardWorker(configuration, context: library, logger: logger)
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
    logger.info("works on \(library.sites.count) sites: \(library.sites.joined(separator: ", "))")
    try await Interrupt.canceling {
      await withDiscardingTaskGroup { tasks in
        tasks.addTask { await Self.refresh(library, logger) }
        tasks.addTask {
          await worker.waitUntilReady()
          whenReady()
        }
        await worker.run()
        tasks.cancelAll()
      }
    }
    let status = worker.status
    logger.info("ends after \(status.reports) reports and \(status.transitions) changes")
  }

  /// Reads changed site files until the task is canceled.
  private static func refresh(_ library: SiteLibrary, _ logger: Logger) async {
    while (try? await Task.sleep(for: .seconds(10))) != nil {
      guard library.refresh() else { continue }
      logger.info("the site files have changed: \(library.sites.joined(separator: ", "))")
      for fault in library.faults { logger.error("\(fault)") }
    }
  }
}
