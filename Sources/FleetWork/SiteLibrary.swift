package import Clocks
package import FleetSites
import Fusion
import Synchronization

/// The sites of a worker, which all its shards share.
package final class SiteLibrary: Sendable {
  struct Entry: Sendable {
    var model: SiteModel
    /// The hash of the site's file.
    var revision: UInt64
  }

  private struct State {
    var directory: SiteDirectory
    /// The sites whose reports have come.
    var entries: [String: Entry] = [:]
    /// The sites whose files are missing, since when.
    var missing: [String: MonotonicTime] = [:]
  }

  /// The seconds for which the state of a site is kept whose file is missing.
  private static let patience = 3600.0

  private let state: Mutex<State>
  private let start: MonotonicTime
  let now: @Sendable () -> MonotonicTime

  package init(
    _ directory: SiteDirectory, now: @escaping @Sendable () -> MonotonicTime = { .now }
  ) {
    state = Mutex(State(directory: directory))
    start = now()
    self.now = now
  }

  /// The names of the sites, and the files that cannot be used.
  package var sites: [String] { state.withLock { $0.directory.sites.keys.sorted() } }
  package var faults: [SiteDirectory.Fault] { state.withLock { $0.directory.faults } }
  var directory: String { state.withLock { $0.directory.path } }

  /// Reads files that have changed, and returns whether a site or a fault has.
  @discardableResult
  package func refresh() -> Bool {
    state.withLock { state in
      let former = state.directory.sites.keys
      guard state.directory.refresh() else { return false }
      state.missing = state.missing.filter { state.directory.sites[$0.key] == nil }
      for name in former where state.directory.sites[name] == nil { state.missing[name] = now() }
      state.entries = state.entries.filter { name, entry in
        state.directory.revisions[name] == entry.revision
      }
      return true
    }
  }

  /// Returns whether the file of a site, which has none, may come back.
  func expects(_ site: String) -> Bool {
    let since = state.withLock { $0.missing[site] } ?? start
    return now().seconds(since: since) < Self.patience
  }

  func revision(of site: String) -> UInt64? { state.withLock { $0.directory.revisions[site] } }

  /// The model of a site, or `nil` if no file has it.
  func entry(of name: String) -> Entry? {
    let found = state.withLock { state -> (entry: Entry?, site: Site?, revision: UInt64) in
      (state.entries[name], state.directory.sites[name], state.directory.revisions[name] ?? 0)
    }
    if let entry = found.entry { return entry }
    guard let site = found.site else { return nil }
    // It takes long for a large site.
    let entry = Entry(model: SiteModel(site), revision: found.revision)
    state.withLock { state in
      if state.directory.revisions[name] == entry.revision { state.entries[name] = entry }
    }
    return entry
  }
}
