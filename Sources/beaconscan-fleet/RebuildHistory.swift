import ArgumentParser
import FleetEngine
import FleetHistory

/// Builds the history again from the engine's transitions.
struct RebuildHistory: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild",
    abstract: "Builds the history in a database again from the engine's transitions.",
    discussion: """
      The engine keeps the transitions of a week. The changes of each site since its first one are \
      replaced in one transaction, at the end; older ones stay. Until then, and after an interrupt, \
      the database has the history of before. beaconscan-fleet serve may run meanwhile.

      EXAMPLES
        beaconscan-fleet rebuild --database postgresql:///fleet --engine rabbit.local
      """)

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var engine: EngineOptions

  func run() async throws {
    let (database, engine) = try (database.configuration(), engine.configuration())
    let rebuild: HistoryRebuild
    do throws(EngineError) {
      rebuild = try HistoryRebuild(database, engine: engine)
    } catch {
      throw FleetError(.unavailable, "\(error)")
    }
    do {
      try await Interrupt.canceling {
        try await withThrowingTaskGroup { group in
          group.addTask { try await rebuild.run() }
          group.addTask {
            while true {
              try await Task.sleep(for: .seconds(5))
              let progress = rebuild.progress
              FleetError.warn(
                "\(progress.read) transitions; offset \(progress.offset ?? 0) of "
                  + "\(progress.newest ?? 0)")
            }
          }
          defer { group.cancelAll() }
          try await group.next()
        }
      }
    } catch let error as DatabaseError {
      throw error.kind == .canceled
        ? FleetError(.interrupted, "interrupted; the history is as it was before")
        : FleetError(error)
    } catch is CancellationError {
      throw FleetError(.interrupted, "interrupted; the history is as it was before")
    }
    let progress = rebuild.progress
    print("\(progress.read - progress.skipped) changes, \(progress.skipped) entries left out")
  }
}
