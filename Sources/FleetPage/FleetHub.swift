import Advertising
import Clocks
import DequeModule
package import FleetPicture
package import FleetSites
import Fusion
import HTTPServing
import Scanning
import Synchronization

/// The state of all sites for the page and the clients of the API.
package final class FleetHub: Sendable {
  /// Reads changes of a site from the history: of one beacon or of all, from a second up to another,
  /// and possibly the last change of each beacon before; the oldest, if there are more than a limit.
  /// It may wait, on a thread of its own.
  package typealias History =
    @Sendable (
      _ site: String, _ beacon: String?, _ from: Int64, _ to: Int64, _ limit: Int
    ) throws -> [RoomChange]
  /// Reads the picture of a floor plan.
  package typealias PlanReader = @Sendable (_ site: String, _ plan: SiteFile.Plan) throws -> [UInt8]

  /// An event for the streams.
  struct Entry: Sendable {
    /// The site; none for all.
    var site: String?
    /// The id of a change; none for an alarm.
    var id: String?
    var kind: String
    var json: [UInt8]
  }

  /// The events that a stream may resume after.
  static let maximumEvents = 10_000
  /// The seconds without a connection to the engine after which an alarm begins. A reader that
  /// changes to another node needs fewer.
  private static let patience = 10.0
  /// The seconds between two looks for silence after which this service itself must have stood still.
  private static let standstill = 20.0

  private struct State {
    var fleet = FleetState()
    var entries = Deque<Entry>()
    /// The number of the first entry.
    var first: UInt64 = 0
    /// The number of pictures of each site.
    var pictures: [String: UInt64] = [:]
    /// The number after the last event of each site, and after that of all sites.
    var ends: [String?: UInt64] = [:]
    var fault: String? = "nothing has been received from the engine yet"
    /// The time since which there is a connection to the engine.
    var connected: MonotonicTime?
    /// The time since which there is none, also as a second since 1970.
    var lost: (since: MonotonicTime, second: Int64)?
    /// The alarm of the connection to the engine.
    var alarm: Alarm?
    /// The time of the last look for silence.
    var looked: MonotonicTime?

    /// Forgets the numbers of sites that are gone. Streams of such a site announce a last picture.
    mutating func forgetNumbers() {
      pictures = pictures.filter { fleet.sites[$0.key] != nil }
      ends = ends.filter { site, _ in site.map { fleet.sites[$0] != nil } ?? true }
    }

    /// Returns the alarm that begins or ends with the connection to the engine.
    mutating func updateAlarm(at now: MonotonicTime) -> [FleetState.Event] {
      let former = alarm
      alarm =
        if let lost, let fault, former != nil || now.seconds(since: lost.since) >= patience {
          former
            ?? Alarm(
              .engineLost, "engine", of: nil, since: Seconds.text(lost.second),
              "This service receives nothing from the engine, so what it shows is old: \(fault)")
        } else {
          nil
        }
      guard (alarm == nil) != (former == nil), let changed = alarm ?? former else { return [] }
      return [.alarm(changed, isActive: alarm != nil)]
    }
  }

  private let state = Mutex(State())
  let waiters = Waiters()
  private let history: HistoryReader?
  /// The most changes of the history for one answer.
  private let maximumChanges: Int
  let plan: PlanReader
  /// Whether the messages are of another time than now. Nothing falls silent then.
  private let isRecorded: Bool

  /// Creates a hub without sites. The history may take so many seconds for an answer.
  package init(
    isRecorded: Bool = false, history: History? = nil, historyTime: Double = 5,
    maximumChanges: Int = 200_000, plan: @escaping PlanReader
  ) {
    self.history = history.map { HistoryReader($0, seconds: historyTime) }
    self.maximumChanges = maximumChanges
    self.isRecorded = isRecorded
    self.plan = plan
  }

  package func set(_ file: SiteFile) {
    state.withLock { $0.fleet.set(file) }
    waiters.wake()
  }

  /// Sets the versions of the configurations that a site's receivers are to have.
  package func set(wanted: [String: String], of site: String) {
    state.withLock { $0.fleet.set(wanted: wanted, of: site) }
  }

  /// Sets the receivers of a site that have neither used nor refused theirs for ten minutes.
  package func set(untaken: Set<String>, of site: String) {
    state.withLock { $0.fleet.set(untaken: untaken, of: site) }
  }

  /// Removes the sites whose files are gone: those that had one and are not among some names.
  package func removeFiles(except names: Set<String>) {
    update { state in
      let former = state.fleet.sites.keys
      let events = state.fleet.removeFiles(except: names)
      // Their pages learn of it as of a picture.
      for site in former where state.fleet.sites[site] == nil {
        state.pictures[site, default: 0] += 1
      }
      return events
    }
  }

  /// Takes a picture or a part of one, as JSON.
  package func receive(picture json: [UInt8]) { receive(picture: json, at: .now) }

  func receive(picture json: [UInt8], at arrival: MonotonicTime) {
    let picture = try? SitePicture(json: json)
    update { state in
      guard let picture else {
        state.fleet.ignore()
        return []
      }
      let events = state.fleet.receive(picture, at: arrival)
      if state.fleet.sites[picture.site] != nil { state.pictures[picture.site, default: 0] += 1 }
      return events
    }
  }

  /// Takes a change, as JSON.
  package func receive(change json: [UInt8]) {
    let (change, now) = (try? RoomChange(json: json), second)
    update { state in
      guard let change else {
        state.fleet.ignore()
        return []
      }
      return state.fleet.receive(change, now: now)
    }
  }

  /// Takes a picture or a change, which has an id.
  package func receive(line json: [UInt8]) {
    if (try? RoomChange(json: json)) != nil {
      receive(change: json)
    } else {
      receive(picture: json)
    }
  }

  /// Sets the reason that nothing is received from the engine, or `nil` while there is a connection.
  package func set(fault: String?) { set(fault: fault, at: .now) }

  func set(fault: String?, at now: MonotonicTime) {
    let second = second ?? 0
    update { state in
      state.fault = fault
      if fault == nil {
        state.connected = state.connected ?? now
        state.lost = nil
      } else {
        state.connected = nil
        state.lost = state.lost ?? (now, second)
      }
      return state.updateAlarm(at: now)
    }
  }

  /// Looks whether the engine, or sites while it is received, are silent. Called every few seconds.
  package func lookForSilence() { lookForSilence(at: .now) }

  func lookForSilence(at now: MonotonicTime) {
    guard let second else { return }
    update { state in
      if now.seconds(since: state.looked ?? now) > Self.standstill, state.connected != nil {
        state.connected = now
      }
      state.looked = now
      state.forgetNumbers()
      let events = state.updateAlarm(at: now)
      guard let connected = state.connected else { return events }
      return events + state.fleet.update(at: now, second, connected: connected)
    }
  }

  /// The time in seconds since 1970, or `nil` for a recording.
  var second: Int64? {
    isRecorded ? nil : WallClockTime.now.nanoseconds / WallClockTime.nanosecondsPerSecond
  }

  private func update(_ body: (inout State) -> [FleetState.Event]) {
    state.withLock { state in
      for event in body(&state) {
        if state.entries.count >= Self.maximumEvents {
          state.entries.removeFirst()
          state.first += 1
        }
        let entry = Entry(event)
        state.entries.append(entry)
        state.ends[entry.site] = state.first + UInt64(state.entries.count)
      }
    }
    waiters.wake()
  }

  // MARK: Streams

  /// A position in the events, and the number of pictures that a stream has announced.
  struct Place: Equatable, Sendable {
    var number: UInt64
    var pictures: UInt64 = 0
  }

  /// The place of a stream that resumes after the event with an id, or `nil` if that is not kept.
  func place(after id: String) -> Place? {
    state.withLock { state in
      state.entries.lastIndex { $0.id == id }.map { Place(number: state.first + UInt64($0) + 1) }
    }
  }

  /// The place before the last events of a site or of all, so many of them.
  func end(before count: Int, of site: String?) -> Place {
    state.withLock { state in
      var (index, left) = (state.entries.endIndex, count)
      while left > 0, index > 0 {
        index -= 1
        if state.entries[index].concerns(site) { left -= 1 }
      }
      return Place(
        number: state.first + UInt64(index),
        pictures: site.map { state.pictures[$0, default: 0] } ?? 0)
    }
  }

  func hasNews(after place: Place, of site: String?) -> Bool {
    state.withLock { state in
      guard let site else { return state.first + UInt64(state.entries.count) != place.number }
      return state.pictures[site, default: 0] != place.pictures
        || state.ends[site] ?? 0 > place.number || state.ends[nil] ?? 0 > place.number
    }
  }

  /// Returns the events after a place, which moves to their end, and whether some are not kept any
  /// more.
  func events(
    after place: inout Place, of site: String?
  ) -> (entries: [Entry], isWhole: Bool, hasPicture: Bool) {
    state.withLock { state in
      let isWhole = place.number >= state.first
      let skipped = Int(clamping: isWhole ? place.number - state.first : 0)
      let entries = state.entries.dropFirst(skipped).filter { $0.concerns(site) }
      place.number = state.first + UInt64(state.entries.count)
      let pictures = site.map { state.pictures[$0, default: 0] } ?? 0
      defer { place.pictures = pictures }
      return (Array(entries), isWhole, pictures != place.pictures)
    }
  }

  // MARK: Answers

  /// The sites of which streams have numbers.
  var numberedSites: Set<String> {
    state.withLock { Set($0.pictures.keys).union($0.ends.keys.compactMap(\.self)) }
  }

  var tally: FleetState.Tally { state.withLock { $0.fleet.tally } }
  var fault: String? { state.withLock { $0.fault } }
  var alarms: [Alarm] { state.withLock { ($0.alarm.map { [$0] } ?? []) + $0.fleet.alarms } }
  /// The alarm of the connection to the engine.
  var engineAlarm: Alarm? { state.withLock { $0.alarm } }
  /// All sites, by their names. The values share their storage with the state.
  var sites: [SiteState] {
    state.withLock { Array($0.fleet.sites.values) }.sorted { $0.name < $1.name }
  }

  /// The file of a site, and its receivers and beacons.
  package struct SitePlaces: Sendable {
    package var file: SiteFile
    /// Whether pictures come.
    package var isCurrent: Bool
    /// The receivers; `nil` until there is a picture, or none has come for a minute.
    package var receivers: [SitePicture.Receiver]?
    /// By their texts.
    package var beacons: [String: SitePicture.Beacon]
  }

  /// The places of all sites that have files, by the names of the sites.
  package var places: [String: SitePlaces] {
    let (sites, isConnected) = state.withLock { ($0.fleet.sites, $0.alarm == nil) }
    return sites.compactMapValues { site in
      site.file.map { file in
        let isCurrent = isConnected && !site.isSilent
        let unknown = isCurrent ? nil : file.site.receivers.map(SitePicture.Receiver.init(missing:))
        return SitePlaces(
          file: file, isCurrent: isCurrent,
          receivers: site.second == nil ? unknown : site.receivers, beacons: site.beacons)
      }
    }
  }

  func site(_ name: String) -> SiteState? { state.withLock { $0.fleet.sites[name] } }

  /// Moves in a time, in order.
  struct Moves: Sendable {
    var moves: [Move]
    /// The second from which all are known, and the one up to which they are.
    var knownFrom: Int64?
    var knownTo: Int64
  }

  /// The moves of a site from a second up to another one: those in memory, and those of the history
  /// if memory does not reach back so far. These begin with the last move of each beacon before.
  func moves(
    in site: SiteState, of beacon: BeaconIdentity? = nil, from: Int64, to: Int64
  ) async throws -> Moves {
    let recent = site.log.moves(from: from, to: to, of: beacon)
    let oldest = site.log.oldest ?? .max
    guard let history, oldest > from else {
      return Moves(moves: recent, knownFrom: site.log.oldest, knownTo: to)
    }
    let changes = try await history.changes(
      site: site.name, beacon: beacon?.description, from: from, to: to, limit: maximumChanges)
    // The limit may have cut the last second. Memory may go on from there.
    let last = changes.last?.second ?? from
    let end = changes.count < maximumChanges || oldest <= last ? to : last
    let found = changes.compactMap(Move.init).filter { beacon == nil || $0.beacon == beacon }
    var moves: [Move] = []
    for move in (found + recent).sorted(by: { ($0.second, $0.beacon) < ($1.second, $1.beacon) })
    where move.second < end {
      // The history may have it too.
      if let last = moves.last, (last.second, last.beacon) == (move.second, move.beacon) {
        continue
      }
      moves.append(move)
    }
    return Moves(moves: moves, knownFrom: from, knownTo: end)
  }
}

extension SitePicture.Receiver {
  /// A receiver that has never reported.
  fileprivate init(missing receiver: Site.Receiver) {
    self.init(
      name: receiver.name, lastReport: nil, isMissing: true, receptionLost: nil, beacons: 0,
      clockDifference: nil)
  }
}

extension FleetHub.Entry {
  private struct AlarmEvent: Encodable {
    var alarm: Alarm
    var isActive: Bool
  }

  /// Whether a stream of a site, or of all, has it.
  fileprivate func concerns(_ site: String?) -> Bool {
    site == nil || self.site == nil || self.site == site
  }

  fileprivate init(_ event: FleetState.Event) {
    switch event {
    case .change(let change):
      self.init(site: change.site, id: change.id, kind: "change", json: change.json)
    case .alarm(let alarm, let isActive):
      self.init(
        site: alarm.site, kind: "alarm",
        json: JSON.encode(AlarmEvent(alarm: alarm, isActive: isActive)))
    }
  }
}
