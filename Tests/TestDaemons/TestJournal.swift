import Scanning
package import ServiceCore
import Storage

/// A journal that a test appends to, without a core that receives anything.
package final class TestJournal: Sendable {
  private struct Event: ServiceEvent {
    var kind: String
    var region: String?
    var record: [UInt8]
  }

  package let manager: ServiceManager
  package var journal: Journal { manager.journal }

  /// Creates a journal in memory, or one that a file keeps.
  package init(file: String? = nil) {
    var configuration = ServiceManager.Configuration()
    configuration.persistence = file.map { .file($0) } ?? .none
    configuration.history = .init()
    configuration.journalFormat = { event in
      guard let event = event as? Event else { return nil }
      return JournalEntry(
        kind: event.kind, wallClockTime: WallClockTime(nanoseconds: 0), region: event.region,
        record: event.record)
    }
    manager = ServiceManager(configuration)
    journal.load()
  }

  /// Appends an event, and waits until readers are given it.
  package func append(_ record: [UInt8], kind: String = "enter", region: String? = "lobby") {
    journal.append(Event(kind: kind, region: region, record: record))
    journal.finish()
  }
}
