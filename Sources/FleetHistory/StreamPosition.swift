import FleetEngine
import Logging

/// The place in a stream up to which it has been read.
struct StreamPosition: Hashable, Sendable {
  /// The offset of the next entry.
  var next: UInt64
  /// The id of the entry before it; `nil` if a former version has not stored it.
  var lastID: String?

  init(next: UInt64, lastID: String?) {
    self.next = next
    self.lastID = lastID
  }

  init(after entry: StreamEntry) {
    // A database cannot store the byte 0.
    self.init(next: entry.offset + 1, lastID: entry.id.utf8.contains(0) ? nil : entry.id)
  }

  /// Returns whether a stream has been read up to here. That of an engine that was set up anew counts
  /// from 0 again, and is shorter, or has another entry there.
  func isOf(_ stream: String, of engine: EngineConfiguration, _ logger: Logger) async -> Bool {
    guard next > 0 else { return true }
    let newest = try? await StreamReader.newestOffset(
      of: stream, engine, enough: next - 1, logger: logger)
    guard let newest, newest >= next - 1 else { return false }
    guard let lastID else { return true }
    let entry = try? await StreamReader.entry(from: next - 1, of: stream, engine, logger: logger)
    // What is older than the stream's age is not there any more.
    return entry?.offset != next - 1 || entry?.id == lastID
  }
}
