import FoundationEssentials
import Synchronization
import SystemPackage

/// Regions, their last states and what is still to be told of them, kept in a file over restarts.
///
/// What a call has returned from survives the process's death at any moment, and with `synced` a power
/// failure; a call that was under way is kept whole or not at all. Events that were recorded are
/// ``pending`` after a restart until they are ``delivered(_:)``: none is lost, and one can be told
/// twice only if the process dies between the end of its delivery and that call's one small write. (A
/// power failure also forgets deliveries that no later change followed.)
///
/// All members may be used from any thread. One process has the file at a time. Memory grows with the
/// regions and the events that wait; of these there are at most 16384 or four a region, whichever is
/// more: beyond that, of each region only the last crossing and a later determination stay.
public final class RegionStore: Sendable {
  struct State: ~Copyable {
    let lock: StoreLock
    var journal: Journal
    var contents: Contents
    var remarks: [String]
  }

  /// The file.
  public let path: String
  /// How many bytes of a call that was cut off stood at the file's end when it was opened.
  public let droppedBytes: Int

  let marks: DeliveryMarks
  private let state: Mutex<State>

  /// Opens the store of an application, or makes it: `$XDG_STATE_HOME/corelocation/ID.regions`, in
  /// `$HOME/.local/state` where that variable is not set to an absolute path.
  ///
  /// - Parameters:
  ///   - applicationIdentifier: The application, such as `org.example.kiosk`. In the file's name, what
  ///     is no letter, digit, `-`, `_` or inner `.` becomes `%` and two digits.
  ///   - environment: Where the variables are looked up; `nil` for the process's own.
  ///   - isSynced: Whether each call waits for the disk.
  /// - Throws: ``StoreError``.
  public convenience init(
    applicationIdentifier: String, environment: [String: String]? = nil,
    synced isSynced: Bool = true
  ) throws(StoreError) {
    let path = try StorePath.file(
      for: applicationIdentifier, in: environment ?? ProcessInfo.processInfo.environment)
    try Directory.make(path.removingLastComponent())
    try self.init(path: path.string, synced: isSynced)
  }

  /// Opens the store in a file, or makes it; its directory must exist.
  ///
  /// Beside the file stand `FILE.lock`, `FILE.told` and, for a moment, `FILE.new`.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isSynced: Whether each call waits for the disk.
  /// - Throws: ``StoreError``; not for a damaged file, which is set aside with a remark.
  public init(path: String, synced isSynced: Bool = true) throws(StoreError) {
    let opened = try Opening.open(FilePath(path), isSynced)
    self.path = opened.journal.path.string
    droppedBytes = opened.droppedBytes
    marks = opened.marks
    state = Mutex(
      State(
        lock: opened.lock, journal: opened.journal, contents: opened.contents,
        remarks: opened.remarks))
  }

  /// The regions, by owner and identifier.
  public var regions: [StoredRegion] {
    state.withLock { $0.contents.regions.values.map(\.stored) }.sorted { $0.key < $1.key }
  }

  /// A region.
  ///
  /// - Parameter key: Which region of whom.
  /// - Returns: The region; `nil` if there is none.
  public func region(_ key: StoredRegion.Key) -> StoredRegion? {
    state.withLock { $0.contents.regions[key]?.stored }
  }

  /// What the app was granted, as it was set last.
  public var authorization: String? { state.withLock { $0.contents.authorization } }

  /// Events that were not delivered, by rising serial.
  public var pending: [StoredEvent] {
    state.withLock { state in
      let open = marks.open
      state.contents.forgetEvents(but: open)
      return state.contents.events.map(\.stored)
    }
  }

  /// What was set aside or failed without an error, one sentence each; at most 64, the oldest.
  public var remarks: [String] {
    let failure = marks.failure.map { "\($0) (events may be told again after a restart)" }
    return state.withLock { $0.remarks } + (failure.map { [$0] } ?? [])
  }

  /// Keeps a region, in place of one with the same key. Events of that one stay pending.
  ///
  /// - Parameter region: The region. One that is kept already, all alike, costs nothing.
  /// - Throws: ``StoreError``; then the store is as before.
  public func put(_ region: StoredRegion) throws(StoreError) {
    try put([region])
  }

  /// Keeps regions, all or none; see ``put(_:)-(StoredRegion)``.
  ///
  /// - Parameter regions: The regions.
  /// - Throws: ``StoreError``; then the store is as before.
  public func put(_ regions: [StoredRegion]) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      let fresh = regions.filter { state.contents.regions[$0.key]?.stored != $0 }
      try state.commit(fresh.map { .put($0.storable) }, marks)
    }
  }

  /// Forgets a region, and its events that were not delivered yet.
  ///
  /// - Parameter key: Which region of whom.
  /// - Returns: The region; `nil` if there was none.
  /// - Throws: ``StoreError``; then the store is as before.
  @discardableResult
  public func remove(_ key: StoredRegion.Key) throws(StoreError) -> StoredRegion? {
    try state.withLock { state throws(StoreError) in
      guard let region = state.contents.regions[key]?.stored else { return nil }
      try state.commit([.remove(key)], marks)
      return region
    }
  }

  /// Keeps what the app was granted.
  ///
  /// - Parameter value: In the manager's words; `nil` for not determined.
  /// - Throws: ``StoreError``; then the store is as before.
  public func setAuthorization(_ value: String?) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      guard state.contents.authorization != value else { return }
      try state.commit([.authorization(value)], marks)
    }
  }

  /// Keeps new states together with what is to be told of them: all or nothing.
  ///
  /// Tell the events after this has returned, and call ``delivered(_:)`` after each. Changes of regions
  /// that are not kept (removed meanwhile) are passed over with their events.
  ///
  /// - Parameter changes: The changes, in order.
  /// - Returns: The events among them that are to be told now, in order, with their serials.
  /// - Throws: ``StoreError``; then the store is as before.
  public func record(_ changes: [StoredChange]) throws(StoreError) -> [StoredEvent] {
    try state.withLock { state throws(StoreError) in
      var events: [StoredEvent] = []
      var records: [Record] = []
      var fresh: [StoredRegion.Key: StoredRegion] = [:]
      for change in changes {
        guard var region = fresh[change.key] ?? state.contents.regions[change.key]?.stored else {
          continue
        }
        let before = region
        region.take(change)
        fresh[change.key] = region
        if let transition = change.event {
          let serial = state.contents.issued + UInt64(events.count) + 1
          events.append(StoredEvent(serial: serial, key: change.key, transition: transition))
          records.append(.change(change, serial: serial))
        } else if region != before {
          records.append(.change(change, serial: nil))
        }
      }
      try state.commit(records, marks, issuing: events.map(\.serial))
      return events
    }
  }

  /// An event was delivered: it will not be ``pending`` again.
  ///
  /// Call it as soon as the app's code has returned. It writes 16 bytes and waits for nothing else; a
  /// failure is a remark. Events may be delivered in any order; a second call does nothing.
  ///
  /// - Parameter serial: The event's serial.
  public func delivered(_ serial: UInt64) {
    marks.mark(serial)
  }
}
