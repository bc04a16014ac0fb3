import ArgumentParser
import Clocks
import FleetEngine
import FleetPicture
import Synchronization

/// Shows what the engine has, and the state of each site.
struct ShowStatus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the workers, the reports that wait, and each site with its receivers.",
    discussion: """
      It asks the engine, and needs neither the page nor the site files. A site is shown if a worker \
      has published its picture within --within seconds. The exit status is 69 if no worker runs, no \
      site is shown, or a site has a problem.

      EXAMPLES
        beaconscan-fleet status
        beaconscan-fleet status --engine rabbit-1,rabbit-2,rabbit-3 --engine-user worker \\
          --engine-password-file password
      """)

  @Option(
    help: ArgumentHelp("The age of the oldest picture, 5 to 3600 seconds.", valueName: "seconds"))
  var within = 60

  @OptionGroup var engine: EngineOptions

  func validate() throws {
    guard (5...3600).contains(within) else {
      throw ValidationError("--within must be from 5 to 3600 seconds, not \(within)")
    }
  }

  func run() async throws {
    let configuration = try engine.configuration()
    let load: EngineLoad?
    var pictures: [SitePicture] = []
    do {
      load = try EngineLoad.read(configuration)
      if load != nil { pictures = try await Self.pictures(configuration, seconds: within) }
    } catch let error as EngineError {
      throw FleetError(.unavailable, "\(error)")
    }
    guard let load else {
      throw FleetError(
        .unavailable, "no worker has ever run with this engine: start beaconscan-fleet work")
    }
    let now = WallClockTime.now.nanoseconds / 1_000_000_000
    let waiting = load.waiting.reduce(0) { $0 + $1.reports }
    print(
      "\(load.node): \(load.workers) worker\(load.workers == 1 ? "" : "s"), waiting reports: \(waiting)"
    )
    var faults = load.workers == 0 ? ["no worker runs"] : []
    var rows = [["site", "receivers", "beacons", "in rooms", "age", "problems"]]
    for picture in pictures {
      let problems = picture.problems
      faults += problems.map { "\(picture.site): \($0)" }
      let missing = picture.receivers.count(where: \.isMissing)
      let beacons = picture.beacons.count
      let second = try? PastOptions.second(picture.time, "time", now: now)
      rows.append([
        picture.site, "\(picture.receivers.count - missing) of \(picture.receivers.count)",
        "\(beacons)", "\(picture.beacons.count { $0.room != nil })",
        second.map { "\(max(0, now - $0)) s" } ?? "",
        problems.joined(separator: "; "),
      ])
    }
    if pictures.isEmpty {
      print("no site has a picture of the last \(within) s")
      faults.append("no picture")
    } else {
      Table.print(rows)
    }
    guard faults.isEmpty else { throw ExitCode(FleetError.Status.unavailable.rawValue) }
  }

  /// The seconds within which the engine must answer.
  private static let patience = 20.0

  /// Returns the newest picture of each site, with the beacons of all its parts.
  private static func pictures(
    _ configuration: EngineConfiguration, seconds: Int
  ) async throws -> [SitePicture] {
    let search = Task {
      try await StreamReader.newestOffset(
        of: StreamReader.pictures, configuration, logger: .ofCommand)
    }
    let limit = Task {
      if (try? await Task.sleep(for: .seconds(patience))) != nil { search.cancel() }
    }
    defer { limit.cancel() }
    guard let newest = try await search.value else { return [] }
    let since = WallClockTime.now.nanoseconds / 1_000_000_000 - Int64(seconds)
    let sites = Mutex<[String: [Int: SitePicture]]>([:])
    let isDone = Mutex(false)
    let reader = try StreamReader(
      configuration, stream: StreamReader.pictures, from: .time(UInt64(clamping: since)),
      logger: .ofCommand
    ) { entry in
      if let picture = try? SitePicture(json: entry.body) {
        sites.withLock { sites in
          let isSame = sites[picture.site]?.values.first?.time == picture.time
          if !isSame { sites[picture.site] = [:] }
          sites[picture.site]?[picture.part] = picture
        }
      }
      if entry.offset >= newest { isDone.withLock { $0 = true } }
    }
    await withTaskGroup { group in
      group.addTask { await reader.run() }
      let began = MonotonicTime.now
      // The newest one may be older than the time, and is not read then.
      while !isDone.withLock(\.self), MonotonicTime.now.seconds(since: began) < 10 {
        guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { break }
      }
      group.cancelAll()
    }
    return sites.withLock { sites in
      sites.values.compactMap { parts in
        var picture = parts.values.first
        picture?.beacons = parts.values.flatMap(\.beacons)
        return picture
      }
    }.sorted { $0.site < $1.site }
  }
}

extension SitePicture {
  /// The faults of the site and its receivers.
  fileprivate var problems: [String] {
    var problems = fault.map { [$0] } ?? []
    let missing = receivers.filter(\.isMissing).map(\.name)
    if !missing.isEmpty { problems.append("missing: \(missing.joined(separator: ", "))") }
    for receiver in receivers {
      if let reason = receiver.receptionLost { problems.append("\(receiver.name): \(reason)") }
      if let reason = receiver.refusal { problems.append("\(receiver.name): \(reason)") }
    }
    if !strangers.isEmpty {
      problems.append("not in the site file: \(strangers.joined(separator: ", "))")
    }
    return problems
  }
}
