import Clocks
import DequeModule
import FleetEngine
import FleetPicture
import FleetReports
import Synchronization

/// The entries between the thread that reads a stream and the thread that writes them. A full queue
/// makes the reader wait.
final class EntryQueue: Sendable {
  private struct State {
    var entries: Deque<StreamEntry> = []
    var bytes = 0
    var isClosed = false
  }

  private static let mostEntries = 2000
  private static let mostBytes = 4 << 20

  private let state = Mutex(State())
  private let hasRoom = WakeSignal()

  /// Adds an entry when there is room. A closed queue drops it.
  func put(_ entry: StreamEntry) {
    while true {
      let isDone = state.withLock { state in
        if state.isClosed { return true }
        guard state.entries.count < Self.mostEntries, state.bytes < Self.mostBytes else {
          return false
        }
        state.entries.append(entry)
        state.bytes += entry.body.count
        return true
      }
      if isDone { return }
      hasRoom.wait(nanoseconds: 1_000_000_000)
    }
  }

  /// Takes the oldest entries.
  func take(_ limit: Int) -> [StreamEntry] {
    let entries = state.withLock { state in
      let entries = Array(state.entries.prefix(limit))
      state.entries.removeFirst(entries.count)
      state.bytes -= entries.reduce(0) { $0 + $1.body.count }
      return entries
    }
    if !entries.isEmpty { hasRoom.send() }
    return entries
  }

  func close() {
    state.withLock { $0.isClosed = true }
    hasRoom.send()
  }
}

extension RoomChange {
  /// Reads the change of an entry, or returns `nil` if the database could not store it or it does
  /// not have the entry's id.
  init?(_ entry: StreamEntry) {
    // A decoder may accept bytes that are not UTF-8.
    guard String(validating: entry.body, as: UTF8.self) != nil,
      let change = try? RoomChange(json: entry.body), let second = change.second,
      change.id == entry.id, change.id == "\(change.site)/\(change.beacon)/\(second)",
      change.id.utf8.count <= 255, FleetTopic.isName(change.site),
      Self.seconds.contains(second), 0...1 ~= change.probability,
      0...1 ~= change.runnerUpProbability
    else { return nil }
    let texts = [change.beacon, change.former, change.room, change.runnerUp] + change.missing
    guard texts.allSatisfy({ $0?.utf8.contains(0) != true }) else { return nil }
    self = change
  }
}
