import FoundationEssentials
import Glibc
package import Logging
import Storage
import Synchronization

/// The decisions about all apps, in one file, which is replaced as a whole and synchronized, so that
/// it holds all decisions up to a moment, whenever the process or the power ends.
package final class DecisionStore: Sendable {
  private struct Entry: Codable {
    let app: AppIdentity
    let decision: Decision
  }

  /// The number of decisions about one user's apps. A further one replaces the user's oldest.
  package static let capacity = 512

  private let path: String
  private let logger: Logger
  private let decisions: Mutex<[AppIdentity: Decision]>
  /// Held while the file is written, which readers do not wait for.
  private let writing = Mutex(())

  /// Reads the file, which need not exist. A damaged one is kept under another name.
  package init(path: String, logger: Logger) {
    self.path = path
    self.logger = logger
    var entries: [Entry] = []
    if let file = FileManager.default.contents(atPath: path) {
      do {
        entries = try JSONDecoder().decode([Entry].self, from: file)
      } catch {
        let copy = "\(path).damaged"
        // The paths outlive the call.
        let isKept = unsafe rename(path, copy) == 0
        logger.error(
          "\(path) does not hold decisions about apps; \(isKept ? "it is now \(copy)" : "it stays")"
        )
      }
    }
    decisions = Mutex(Dictionary(entries.map { ($0.app, $0.decision) }) { $1 })
  }

  package subscript(app: AppIdentity) -> Decision? { decisions.withLock { $0[app] } }

  package var all: [AppIdentity: Decision] { decisions.withLock { $0 } }

  /// Stores a decision, or removes it. After a failure it holds until the process ends.
  package func set(_ decision: Decision?, for app: AppIdentity) {
    decisions.withLock { decisions in
      decisions[app] = decision
      let others = decisions.filter { $0.key.user == app.user && $0.key != app }
      guard decision != nil, others.count >= Self.capacity else { return }
      let oldest = others.min { $0.value.since < $1.value.since }
      if let oldest { decisions[oldest.key] = nil }
    }
    writing.withLock { _ in
      do {
        try write()
      } catch {
        logger.error("the decision about \(app) is not stored: \(error)")
      }
    }
  }

  private func write() throws {
    let entries = all.map { Entry(app: $0, decision: $1) }
      .sorted { ($0.app.identifier, $0.app.user) < ($1.app.identifier, $1.app.user) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try StatePath.replace(path, with: Array(try encoder.encode(entries)))
  }
}
