package import Advertising
import Dispatch
package import Ranging
package import Scanning
package import Storage
import Synchronization

/// Keeps events and presence in a ``HistoryStore``.
///
/// Where the disk refuses, events wait in memory and are stored with the next one, or a minute later: identifiers stay
/// those that clients know. Of more than ``maximumWaiting`` the oldest are dropped and counted, and their identifiers are
/// given to no other. Presence waits too. A disk that refuses the database itself when the process starts is asked for
/// it again with each event and each minute.
package final class HistoryRecorder: KioskHub.Recorder {
  /// The events that wait for the disk at most.
  static let maximumWaiting = 1000
  /// The seconds after which presence is written.
  private static let presenceInterval: Int64 = 60

  /// The latest identifier of a process that begins without its database: higher than those of any database, so that
  /// those of an earlier process have a place below.
  static let latestWithoutStore: Int64 = 1 << 40

  private let open: @Sendable () throws(StorageError) -> HistoryStore
  /// That of the database with which the process began, whose numbers clients know; one of the process's own where there
  /// was none.
  package let generation: String
  /// Why there was no database at the start, as a sentence.
  package let fault: String?

  private struct State {
    /// The database; `nil` until the disk permits it.
    var store: HistoryStore?
    var latest = HistoryRecorder.latestWithoutStore
    /// What is added to the database's identifiers: a database that is damaged, or was refused at the start, has others
    /// than clients know.
    var offset: Int64 = 0
    var storeGeneration = ""
    var waiting: [HistoryStore.Entry] = []
    /// The events that were dropped and came before those that wait: their identifiers are left out.
    var skipped = 0
    var dropped = 0
    /// Returns the marks of the receivers, with the identifiers that clients know.
    var marks: (@Sendable () -> [String: Int64])?
    /// The marks that the database has; `nil` where that is not known.
    var storedMarks: [String: Int64]?
    var presence = PresenceMeter()
    /// What the disk refused.
    var unwritten: [PresenceMeter.Place: PresenceMeter.Hour] = [:]
    var droppedPresence = 0

    /// The marks that the database does not have yet, with its identifiers; `nil` where it has all.
    var newMarks: [String: Int64]? {
      guard let marks = marks?().mapValues({ $0 - offset }), marks != storedMarks else {
        return nil
      }
      return marks
    }
  }

  private let state: Mutex<State>
  /// Presence is written here: a slow disk does not hold reports up.
  private let queue = DispatchQueue(label: "beaconscan.history", qos: .utility)

  /// Opens the database.
  ///
  /// - Throws: Why it cannot be used, unless the disk refuses: then it is opened later.
  package init(_ open: @escaping @Sendable () throws(StorageError) -> HistoryStore)
    throws(StorageError)
  {
    self.open = open
    var state = State()
    do throws(StorageError) {
      _ = try Self.useStore(&state, open)
      state.latest -= state.offset
      state.offset = 0
      (generation, fault) = (state.storeGeneration, nil)
    } catch {
      guard error.isOfDisk else { throw error }
      (generation, fault) = (KioskHub.randomGeneration(), "\(error)")
    }
    self.state = Mutex(state)
  }

  /// Opens the database where there is none yet, so that its latest identifier is the latest that clients know.
  private static func useStore(
    _ state: inout State, _ open: () throws(StorageError) -> HistoryStore
  ) throws(StorageError) -> HistoryStore {
    if let store = state.store { return store }
    let store = try open()
    state.offset = state.latest - (try store.lastID)
    (state.store, state.storeGeneration) = (store, store.generation)
    return store
  }

  package func record(_ event: KioskHub.NewEvent) throws -> (id: Int64, isNew: Bool) {
    let entry = HistoryStore.Entry(
      time: event.time.microseconds, kind: event.kind, region: event.region,
      beacon: event.beacon?.key, payload: event.data, dwell: event.dwell)
    return try state.withLock { state in
      state.waiting.append(entry)
      if state.waiting.count > Self.maximumWaiting {
        state.waiting.removeFirst()
        state.skipped += 1
        state.dropped += 1
      }
      let latest = state.latest
      let id = try storeWaiting(&state)
      return (id, id > latest)
    }
  }

  /// Stores the events that wait, and how far the receivers are, and returns the identifier of the last event.
  private func storeWaiting(_ state: inout State) throws(StorageError) -> Int64 {
    guard !state.waiting.isEmpty || state.marks != nil else { return state.latest }
    let store = try Self.useStore(&state, open)
    let marks = state.newMarks
    guard !state.waiting.isEmpty || marks != nil else { return state.latest }
    // A recording is older than the clock of this machine.
    let ids = try store.append(
      state.waiting, skipping: state.skipped, marks: marks,
      now: state.waiting.last?.time ?? HistoryStore.now)
    (state.waiting, state.skipped) = ([], 0)
    state.storedMarks = marks ?? state.storedMarks
    if store.generation != state.storeGeneration {
      (state.storeGeneration, state.offset) = (store.generation, state.latest)
      state.storedMarks = nil
    }
    let id = ids.last.map { $0 + state.offset } ?? state.latest
    state.latest = max(state.latest, id)
    return id
  }

  package func events(
    after id: Int64?, since: WallClockTime?, until: WallClockTime?, region: String?,
    limit: Int, leavesNewest: Bool
  ) throws -> [FeedEvent]? {
    let (store, offset) = state.withLock { ($0.store, $0.offset) }
    guard let store else { return nil }
    let query = HistoryStore.Query(
      after: id.map { max(0, $0 - offset) }, since: since?.microseconds, until: until?.microseconds,
      region: region,
      kinds: ["enter", "exit", "state", "health"], limit: limit, leavesNewest: leavesNewest)
    return try store.entries(query).map {
      FeedEvent(id: $0.id + offset, kind: $0.kind, data: $0.payload)
    }
  }

  /// Returns the newest events behind a number of some kinds, at most so many.
  package func events(
    after id: Int64, of kinds: Set<String>, limit: Int
  ) throws(StorageError) -> [FeedEvent] {
    let (store, offset) = state.withLock { ($0.store, $0.offset) }
    let query = HistoryStore.Query(
      after: id - offset, kinds: kinds, limit: limit, leavesNewest: true)
    return try store?.entries(query).map {
      FeedEvent(id: $0.id + offset, kind: $0.kind, data: $0.payload)
    } ?? []
  }

  /// Returns the number of the event up to which each receiver needed none any more when the process before ended, by the
  /// receiver's name, and stores what a function returns of them from now on: with each event and once a minute.
  ///
  /// The function is called under a lock, and must not wait.
  package func followMarks(
    _ marks: @escaping @Sendable () -> [String: Int64]
  ) throws(StorageError) -> [String: Int64] {
    try state.withLock { state throws(StorageError) in
      state.marks = marks
      state.storedMarks = try state.store?.marks
      return (state.storedMarks ?? [:]).mapValues { [offset = state.offset] in $0 + offset }
    }
  }

  package var oldest: Int64? {
    let (store, offset) = state.withLock { ($0.store, $0.offset) }
    return (try? store?.firstID).map { $0 + offset }
  }
  package var latest: Int64 { state.withLock { $0.latest } }

  /// The events that were dropped since the disk refused for too long, and the presence that had no room.
  package var dropped: Int {
    state.withLock { $0.dropped + $0.droppedPresence + Int($0.store?.droppedPresence ?? 0) }
  }

  /// Adds the beacons of a report to the hours' presence, which is written once a minute, with what waits.
  package func receive(
    _ beacons: [RangedBeacon], at time: WallClockTime,
    isProtected: @escaping @Sendable (BeaconIdentity) -> Bool,
    failed: @escaping @Sendable (String?) -> Void
  ) {
    let due: [PresenceMeter.Hour]? = state.withLock { state in
      defer { state.presence.receive(beacons, at: time) }
      guard state.presence.isDue(interval: Self.presenceInterval, at: time) else { return nil }
      let due = state.presence.removeAll()
      let isWaiting =
        !due.isEmpty || !state.waiting.isEmpty || !state.unwritten.isEmpty || state.store == nil
        || state.newMarks != nil
      return isWaiting ? due : nil
    }
    guard let due else { return }
    queue.async { [self] in write(due, isProtected, failed) }
  }

  /// Writes what waits.
  package func flush() {
    let rest = state.withLock { $0.presence.removeAll() }
    queue.sync { write(rest, { _ in true }, { _ in }) }
    state.withLock { $0.store }?.close()
  }

  private func write(
    _ new: [PresenceMeter.Hour], _ isProtected: @Sendable (BeaconIdentity) -> Bool,
    _ failed: (String?) -> Void
  ) {
    let presence = state.withLock { state in
      defer { state.unwritten = [:] }
      return Array(state.unwritten.values) + new
    }
    let protected = Set(presence.lazy.map(\.beacon).filter(isProtected).map(\.key))
    do throws(StorageError) {
      let store = try state.withLock { state throws(StorageError) in
        _ = try storeWaiting(&state)
        return try Self.useStore(&state, open)
      }
      try store.addPresence(
        presence.map(\.presence), isProtected: { protected.contains($0) },
        now: (presence.last?.hour ?? 0) * 3_600_000_000)
      failed(nil)
    } catch {
      keep(presence)
      failed("\(error)")
    }
  }

  /// Keeps presence that the disk refused for the next time.
  private func keep(_ presence: [PresenceMeter.Hour]) {
    state.withLock { state in
      for hour in presence {
        let place = PresenceMeter.Place(beacon: hour.beacon, hour: hour.hour)
        if let old = state.unwritten[place] {
          state.unwritten[place] = old.adding(hour)
        } else if state.unwritten.count < PresenceMeter.maximumBeacons {
          state.unwritten[place] = hour
        } else {
          state.droppedPresence += 1
        }
      }
    }
  }
}

/// Adds up for how long each beacon was received in each hour.
struct PresenceMeter: Sendable {
  /// What one ``Hour`` is about.
  struct Place: Hashable, Sendable {
    var beacon: BeaconIdentity
    var hour: Int64
  }

  /// A beacon in an hour.
  struct Hour: Sendable {
    var beacon: BeaconIdentity
    var hour: Int64
    var seconds = 0.0
    var sightings: Int64 = 0
    var samples: Int64 = 0
    var sumRSSI = 0.0
    var bestRSSI: Int64?

    var presence: HistoryStore.Presence {
      HistoryStore.Presence(
        beacon: beacon.key, hour: hour, seconds: seconds, sightings: sightings, samples: samples,
        meanRSSI: samples > 0 ? sumRSSI / Double(samples) : nil, bestRSSI: bestRSSI)
    }

    /// Returns this and what was received later in the same hour.
    func adding(_ later: Hour) -> Hour {
      var sum = self
      sum.seconds += later.seconds
      sum.sightings += later.sightings
      sum.samples += later.samples
      sum.sumRSSI += later.sumRSSI
      sum.bestRSSI = [bestRSSI, later.bestRSSI].compactMap { $0 }.max()
      return sum
    }
  }

  /// The beacons of which presence waits at most.
  static let maximumBeacons = 4096
  /// Of a longer time between two reports, only this counts.
  private static let longestGap = 5.0

  private var hours: [BeaconIdentity: Hour] = [:]
  private var latest: WallClockTime?
  private var written: WallClockTime?

  mutating func receive(_ beacons: [RangedBeacon], at time: WallClockTime) {
    let hour = time.nanoseconds / (3600 * WallClockTime.nanosecondsPerSecond)
    let gap = latest.map { min(Self.longestGap, max(0, time.seconds(since: $0))) } ?? 1
    latest = time
    if written == nil { written = time }
    for beacon in beacons where beacon.sightings > 0 {
      guard hours[beacon.beacon] != nil || hours.count < Self.maximumBeacons else { continue }
      var line = hours[beacon.beacon] ?? Hour(beacon: beacon.beacon, hour: hour)
      // The minute in which an hour ends belongs to the hour in which it began.
      line.seconds += gap
      line.sightings += Int64(beacon.sightings)
      if let rssi = beacon.rssi {
        line.samples += Int64(beacon.sightings)
        line.sumRSSI += Double(rssi * beacon.sightings)
        line.bestRSSI = max(line.bestRSSI ?? Int64(rssi), Int64(rssi))
      }
      hours[beacon.beacon] = line
    }
  }

  /// Returns whether it is time to write.
  func isDue(interval: Int64, at time: WallClockTime) -> Bool {
    written.map { abs(time.seconds(since: $0)) >= Double(interval) } ?? false
  }

  /// Removes and returns everything.
  mutating func removeAll() -> [Hour] {
    written = latest
    defer { hours = [:] }
    return Array(hours.values)
  }
}

extension BeaconIdentity {
  /// The beacon as `UUID:MAJOR:MINOR`.
  var key: String { "\(uuid):\(major):\(minor)" }
}

extension WallClockTime {
  /// Microseconds since 1970.
  var microseconds: Int64 { nanoseconds / 1000 }
}
