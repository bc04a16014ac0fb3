import BeaconTesting
import Dispatch
import Foundation
import Records
import Regions
import Scanning
import TestSupport

@testable import BrokerLink
@testable import KioskService
@testable import ServiceCore
@testable import Storage
@testable import Webhooks

/// A service, its clients and its disk, driven by a seeded scheduler: beacons come and go; regions are added, removed and
/// reloaded; streams come back, a webhook and a broker accept, fail and come back; the disk is slow, full, read-only or
/// broken; and the process is killed, ended or loses its power, at any call that changes a file.
///
/// What is promised:
///
/// - An identifier is never given to two entries, and identifiers rise, over all processes.
/// - After a kill nothing is missing that a reader was given. After a power cut nothing is missing that had been synced,
///   and the entries that are missing are the latest ones.
/// - A stream is given each entry once, in order, or is told that it missed some; and it is told so only where some
///   are gone.
/// - The webhook and the broker are given each entry and exit at least once, in order, and none twice that was confirmed
///   before the process was killed. Where some are gone, a gap is stated.
/// - The entries and exits of a region alternate, over all processes.
/// - The regions, their states, those of each stream, and the topics that the broker retains, are those of the model.
/// - A reload that is refused changes nothing.
struct ServiceSimulation {
  /// What happened in simulations.
  struct Tally: CustomStringConvertible {
    var seeds = 0
    var steps = 0
    var entries = 0
    var kills = 0
    var powerCuts = 0
    var ends = 0
    var faults = 0
    var stalls = 0
    /// Entries that a power cut took, or the end of a process that could not write them.
    var gone = 0
    var told = 0

    static func += (left: inout Tally, right: Tally) {
      left.seeds += right.seeds
      left.steps += right.steps
      left.entries += right.entries
      left.kills += right.kills
      left.powerCuts += right.powerCuts
      left.ends += right.ends
      left.faults += right.faults
      left.stalls += right.stalls
      left.gone += right.gone
      left.told += right.told
    }

    var description: String {
      "\(seeds) seeds, \(steps) steps, \(entries) entries, \(kills) kills, \(powerCuts) power cuts, "
        + "\(ends) ends, \(faults) faults of the disk, \(stalls) syncs that took long, \(gone) entries gone, "
        + "\(told) streams told"
    }
  }

  /// A client of the event stream.
  private struct Stream {
    /// What the client sends when it comes back.
    var last: String
    /// Where its stream is; `nil` while it is not connected.
    var place: KioskHub.Place?
    /// The regions as the client has them: from its latest snapshot, and the events after it.
    var inside: [String: Bool]
    var received: [Int64] = []
    /// What it has still to be given.
    var owed: Set<Int64> = []
    /// Whether something is gone that it had been given, or was owed.
    var mustBeTold = false
    /// Whether it may be told without that: a process cannot know what an earlier one gave.
    var mayBeTold = false
  }

  /// A reader that is given entries and exits one at a time.
  private struct Receiver {
    var received: [Int64] = []
    var owed: Set<Int64> = []
    /// What may be gone, and of that, what must be stated because it was owed.
    var possibleGaps: [ClosedRange<Int64>] = []
    var gaps: [ClosedRange<Int64>] = []
    /// The latest entry that it confirmed, and what the service knew of that when the process ended.
    var confirmed: Int64 = 0

    /// Goes on to what follows a position, and returns what is wrong with the gaps that are stated.
    mutating func pass(_ position: Int64, _ next: JournalReader.Next) -> String? {
      let end = next.entry?.id ?? .max
      func isPassed(_ gap: ClosedRange<Int64>) -> Bool {
        position < gap.upperBound && gap.lowerBound < end
      }
      if next.hasMissed, !possibleGaps.contains(where: isPassed) {
        return "has a gap from \(position) to \(end)"
      }
      let hasGap = gaps.contains(where: isPassed)
      gaps.removeAll(where: isPassed)
      return hasGap && !next.hasMissed ? "has no gap from \(position) to \(end)" : nil
    }

    /// Takes an entry, and returns what is wrong with it.
    mutating func receive(_ id: Int64) -> String? {
      let isAgain = received.contains(id)
      defer {
        received.append(id)
        owed.remove(id)
      }
      if !isAgain, id < received.max() ?? 0 { return "\(id) after \(received.max() ?? 0)" }
      if id <= confirmed { return "\(id) again, which was confirmed" }
      return nil
    }
  }

  private let seed: UInt64
  private var random: SplitMix64
  private let folder: String
  private var disk: SimulatedDisk?
  private var life: ServiceLife
  private(set) var tally = Tally()
  private var wrong: [String] = []

  /// The configuration, and the regions that were added over HTTP.
  private var configured: [String: UInt16] = ["door": 0]
  private var added: [String: UInt16] = [:]
  /// What was added since everything was synced last, with what it was then.
  private var versions: [[String: UInt16]] = [[:]]
  /// The beacons on the air.
  private var present: Set<UInt16> = []
  private var now = MonotonicTime(nanoseconds: 1_767_225_600_000_000_000)

  private var generation = ""
  /// The entries that readers were given, or that were found, by identifier.
  private var entries: [Int64: JournalEntry] = [:]
  /// Every entry that was ever given.
  private var given: [String: [UInt8]] = [:]
  private var highest: Int64 = 0
  /// The highest one when this process began.
  private var base: Int64 = 0
  /// The entries of this process, in order.
  private var shown: [Int64] = []
  /// Up to here everything was synced.
  private var durable: Int64 = 0
  /// The kind of a region's latest event, since it was registered.
  private var kinds: [String: String] = [:]
  /// The latest entry when a region was registered last.
  private var registered: [String: Int64] = [:]
  /// Whether a fault of the disk may have kept something from being written.
  private var isTainted = false
  /// The fault of the disk when an entry of this process was shown.
  private var faults: [Int64: SimulatedDisk.Fault] = [:]
  private var streams: [Stream] = []
  private var webhook = Receiver()
  private var broker = Receiver()
  private var records: [[UInt8]: Int64] = [:]
  private var retained: [String: String] = [:]

  init(seed: UInt64, in folder: String) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    self.folder = folder
    tally.seeds = 1
    let witness = ServiceLife.Witness()
    // Two of three have no disk, and are faster.
    let hasDisk = random.next() % 3 == 0
    let disk =
      hasDisk
      ? try SimulatedDisk("\(folder)/\(seed)-0", seed: random.next()) { witness.end() } : nil
    self.disk = disk
    life = try Self.start(disk, configured, witness)
    generation = life.journal.generation
    follow()
  }

  private static func start(
    _ disk: SimulatedDisk?, _ configured: [String: UInt16], _ witness: ServiceLife.Witness
  ) throws -> ServiceLife {
    guard let disk else { return try ServiceLife(file: nil, configured, witness) { _ in } }
    disk.setGate(.closed)
    return try ServiceLife(file: "\(disk.folder)/s", configured, witness) { store in
      if let store { _ = disk.settle(store.writer) }
    }
  }

  /// Runs to the end, and returns what is wrong.
  mutating func run() async throws -> [String] {
    for _ in 0..<(4 + random.next() % 11) {
      tally.steps += 1
      try await step()
      try restartIfEnded()
      guard wrong.isEmpty else { break }
    }
    if wrong.isEmpty { try await settle() }
    end()
    return wrong
  }

  private mutating func step() async throws {
    let name = "r\(random.next() % 4)"
    switch random.next() % (disk == nil ? 18 : 26) {
    case 0...1: await add(name)
    case 2: await remove(name)
    case 3...7: passTime()
    case 8: changeReceiver()
    case 9: reload(isRefused: random.next() % 4 == 0)
    case 10: connect()
    case 11...12: readStreams()
    case 13...14: attempt()
    case 15...16: publish()
    case 17: interruptBroker()
    case 18...19: runStore(until: .open)
    case 20: runStore(until: .atSync)
    case 21: changeFault()
    case 22...24:
      // Sooner or later, at a call or after a step.
      let end = random.next() % 3 == 0 ? SimulatedDisk.End.powerCut : .kill
      if random.next() % 4 == 0 {
        disk?.endNow(end)
      } else {
        disk?.end(end, after: Int(random.next() % 24))
      }
      isPowerCut = end == .powerCut
    default: try endCleanly()
    }
  }

  /// Whether the end that was chosen is a power cut.
  private var isPowerCut = false

  // MARK: What happens

  private mutating func add(_ name: String) async {
    let minor = UInt16(random.next() % 3)
    let request = RegionRequest(.beacons(KioskScene.constraint(minor)), rules: [])
    let before = added
    let isConfigured = configured[name] != nil
    do throws(RegionRefusal) {
      let isNew = try await life.control.set(name, request)
      if isConfigured || isNew != (before[name] == nil) { wrong.append("\(name) was added again") }
      added[name] = minor
    } catch {
      if !isConfigured { wrong.append("\(name) was refused: \(error)") }
    }
    if before[name] != added[name] { begin(name) }
    changed(from: before)
  }

  private mutating func remove(_ name: String) async {
    let before = added
    do throws(RegionRefusal) {
      try await life.control.remove(name)
      if added.removeValue(forKey: name) == nil { wrong.append("\(name) was there") }
    } catch {
      if added[name] != nil { wrong.append("\(name) was not removed: \(error)") }
    }
    if before[name] != nil { begin(name) }
    changed(from: before)
  }

  /// Has a region that was registered or removed begin outside.
  private mutating func begin(_ name: String) {
    kinds[name] = nil
    registered[name] = highest
  }

  private mutating func changed(from before: [String: UInt16]) {
    life.journal.finish()
    if added != before { versions.append(added) }
    follow()
  }

  private mutating func reload(isRefused: Bool) {
    var regions = ["door": UInt16(0)]
    for name in ["c0", "c1", "r0"] where random.next() % 2 == 0 {
      regions[name] = UInt16(random.next() % 3)
    }
    var configuration = ServiceLife.configuration(regions)
    let before = life.hub.regions.map(\.name)
    let known = life.added
    if isRefused {
      configuration.regions.append(
        BeaconRegion(
          identifier: String(repeating: "x", count: 5000), constraint: KioskScene.constraint(0)))
    }
    life.journal.queue.suspend()
    do throws(RegionRefusal) {
      defer { life.journal.queue.resume() }
      _ = try life.control.configure(configuration)
      if isRefused { wrong.append("a reload was accepted") }
      for (name, minor) in regions where added[name] != nil || configured[name] != minor {
        begin(name)
      }
      for name in configured.keys where regions[name] == nil { begin(name) }
      configured = regions
    } catch {
      if !isRefused { wrong.append("a reload was refused: \(error)") }
      life.journal.finish()
      if life.hub.regions.map(\.name) != before || life.added != known {
        wrong.append("a reload that was refused changed the regions")
      }
    }
    let old = added
    for name in configured.keys { added[name] = nil }
    changed(from: old)
  }

  /// Has a second pass, in which some beacons are received.
  private mutating func passTime(toggles: Bool = true) {
    for minor in UInt16(0)..<3 where toggles && random.next() % 3 == 0 {
      if present.remove(minor) == nil { present.insert(minor) }
    }
    var sightings: [Sighting] = []
    let began = now
    for quarter in 1...4 {
      for minor in present.sorted() {
        let moment = began.advanced(bySeconds: Double(quarter) / 4)
        sightings.append(KioskScene.frame(minor).sighting(at: moment, rssi: -60))
      }
    }
    now = began.advanced(bySeconds: 1)
    // What comes together is written together, however fast the threads are.
    life.journal.queue.suspend()
    life.scanner.give(sightings, from: began, to: now)
    life.journal.queue.resume()
    life.journal.finish()
    follow()
  }

  private mutating func changeReceiver() {
    now = now.advanced(bySeconds: 1)
    life.journal.append(
      BeaconEvent.health(
        ScannerHealth(.scanning, at: now, isReceptionLost: false, sentence: "on"),
        at: now.wallClockTime(.zero)))
    life.journal.finish()
    follow()
  }

  /// Takes what the hub was given, as the service's link to a broker does, and compares it.
  private mutating func follow() {
    for change in life.witness.take() {
      guard case .entry(let entry) = change else { continue }
      shown.append(entry.id)
      take(entry)
      if let line = entry.line {
        if kinds[line.region] ?? "exit" == entry.kind {
          wrong.append("\(line.region): \(entry.kind) (\(entry.id)) again")
        }
        kinds[line.region] = line.state == .inside ? "enter" : "exit"
        life.publisher.update(region: line, entry.record)
      } else if entry.event is RegionsChanged {
        life.publisher.setRegions(
          life.hub.regions.map { BrokerRegion($0.name, state: $0.state, beacons: $0.beacons) })
      }
    }
  }

  /// Notes an entry that readers are to be given.
  private mutating func take(_ entry: JournalEntry) {
    let key = life.journal.text(of: entry.id)
    if let other = given[key] {
      wrong.append(
        "\(key) was given to two entries: \(other == entry.record ? "the same" : "others")")
    }
    if entry.id <= highest { wrong.append("\(entry.id) after \(highest)") }
    highest = max(highest, entry.id)
    given[key] = entry.record
    entries[entry.id] = entry
    records[entry.record] = entry.id
    tally.entries += 1
    faults[entry.id] = disk?.fault
    if entry.kind != "regions" {
      for index in streams.indices { streams[index].owed.insert(entry.id) }
    }
    if ["enter", "exit"].contains(entry.kind) {
      webhook.owed.insert(entry.id)
      broker.owed.insert(entry.id)
    }
  }

  // MARK: Streams

  private var snapshotStates: [String: Bool] {
    Dictionary(uniqueKeysWithValues: life.hub.regions.map { ($0.name, $0.state == .inside) })
  }

  private mutating func connect() {
    guard streams.count >= 3 else {
      let place = life.hub.place
      streams.append(
        Stream(
          last: life.journal.text(of: place.position), place: place, inside: snapshotStates))
      return
    }
    let index = Int(random.next() % 3)
    if streams[index].place == nil { resume(index) } else { streams[index].place = nil }
  }

  /// Has a client come back: it is given what it missed, and then the snapshot.
  private mutating func resume(_ index: Int) {
    let place = life.hub.place
    let (events, isWhole) = life.hub.missed(after: streams[index].last, through: place.position)
    if !isWhole { tell(index) }
    for entry in events where entry.kind != "regions" { receive(entry, index) }
    if streams[index].mustBeTold {
      wrong.append("stream \(index) was not told what is gone")
      streams[index].mustBeTold = false
    }
    streams[index].mayBeTold = false
    setSnapshot(index, place)
  }

  /// Gives a client the snapshot.
  private mutating func setSnapshot(_ index: Int, _ place: KioskHub.Place) {
    streams[index].place = place
    streams[index].last = life.journal.text(of: place.position)
    streams[index].inside = snapshotStates
  }

  /// Has a client be told that it missed something.
  private mutating func tell(_ index: Int) {
    tally.told += 1
    if !streams[index].mustBeTold, !streams[index].mayBeTold {
      wrong.append("stream \(index) was told that it missed something after \(streams[index].last)")
    }
    (streams[index].mustBeTold, streams[index].mayBeTold) = (false, false)
    streams[index].owed = []
  }

  private mutating func receive(_ entry: JournalEntry, _ index: Int) {
    if entry.id <= streams[index].received.last ?? 0 {
      wrong.append(
        "stream \(index) was given \(entry.id) after \(streams[index].received.last ?? 0)")
    }
    if given[life.journal.text(of: entry.id)] != entry.record {
      wrong.append("stream \(index) was given another entry \(entry.id)")
    }
    streams[index].received.append(entry.id)
    streams[index].owed.remove(entry.id)
    streams[index].last = life.journal.text(of: entry.id)
    if let region = entry.region { streams[index].inside[region] = Self.kind(of: entry) == "enter" }
  }

  private mutating func readStreams() {
    for index in streams.indices { read(index) }
  }

  private mutating func read(_ index: Int) {
    guard var place = streams[index].place else { return }
    let batch = life.journal.read(after: place.position)
    if batch.hasMissed {
      tell(index)
      return setSnapshot(index, life.hub.place)
    }
    let end = life.hub.place.position
    for entry in batch.entries.prefix(while: { $0.id <= end }) {
      if entry.kind == "regions" {
        // The newest list counts, and the events after it lead there again.
        streams[index].inside = snapshotStates
        streams[index].last = life.journal.text(of: entry.id)
      } else {
        receive(entry, index)
      }
    }
    place.position = max(place.position, min(batch.position, end))
    streams[index].place = place
  }

  // MARK: The webhook and the broker

  /// Tries to deliver the next event.
  private mutating func attempt() {
    now = now.advanced(bySeconds: 100)
    guard life.schedule.due(at: now) == now else { return }
    let next = life.webhook.next(after: life.schedule.position)
    webhook.pass(life.schedule.position, next).map { wrong.append("the webhook \($0)") }
    guard let entry = next.entry else { return life.schedule.skip(to: next.position) }
    life.schedule.begin(entry.id, after: next.position, hasGap: next.hasMissed)
    if random.next() % 3 == 0 {
      _ = life.schedule.end(.failed(retryAfter: 0), at: now, factor: 1)
    } else {
      if let problem = webhook.receive(entry.id) { wrong.append("the webhook has \(problem)") }
      guard let position = life.schedule.end(.delivered, at: now, factor: 1) else { return }
      life.webhook.mark(position)
      if disk?.image == nil { webhook.confirmed = position }
    }
  }

  /// Publishes for a while.
  private mutating func publish() {
    for _ in 0..<(1 + random.next() % 6) {
      if let message = life.publisher.outbox.next() {
        life.flying.append(message)
      } else if life.publisher.outbox.takesEvent {
        let next = life.mqtt.next(after: life.publisher.outbox.position)
        broker.pass(life.publisher.outbox.position, next).map { wrong.append("the broker \($0)") }
        guard let entry = next.entry else {
          life.publisher.outbox.skip(to: next.position)
          continue
        }
        life.publisher.publish(entry)
      }
      // The broker has a message, and its acknowledgment comes later, or never.
      if !life.flying.isEmpty, random.next() % 2 == 0 { acknowledge() }
    }
  }

  private mutating func acknowledge(isReliable: Bool = false) {
    let message = life.flying.removeFirst()
    if message.isRetained {
      retained[message.topic] = String(decoding: message.payload, as: UTF8.self)
    } else if let id = records[message.payload], let problem = broker.receive(id) {
      wrong.append("the broker has \(problem)")
    }
    // The connection may be lost before the acknowledgment arrives.
    if !isReliable, random.next() % 8 == 0 { return interruptBroker() }
    life.publisher.outbox.acknowledge(message.token)
    let position = life.publisher.outbox.acknowledged
    life.mqtt.mark(position)
    if disk?.image == nil { broker.confirmed = max(broker.confirmed, position) }
  }

  private mutating func interruptBroker() {
    life.flying = []
    life.publisher.outbox.end()
    if random.next() % 2 == 0 { life.publisher.begin() }
  }

  // MARK: The disk

  private mutating func runStore(until gate: SimulatedDisk.Gate) {
    guard let disk, let store = life.store else { return }
    // What failed is tried again, as after some seconds.
    store.write([]) { _ in }
    let isDone = disk.run(store.writer, until: gate)
    if !isDone { tally.stalls += 1 }
    guard isDone, disk.fault == nil, disk.image == nil, store.failure == nil else { return }
    (isTainted, faults) = (false, [:])
    (durable, versions) = (highest, [added])
  }

  private mutating func changeFault() {
    guard let disk else { return }
    if disk.fault == nil {
      disk.fault = SimulatedDisk.Fault.allCases[Int(random.next() % 3)]
      isTainted = true
      tally.faults += 1
    } else {
      disk.fault = nil
    }
  }

  /// Ends the process as SIGTERM does, and starts another one; now and then after the machine was started again.
  private mutating func endCleanly() throws {
    guard let disk, let store = life.store, disk.image == nil else { return }
    disk.free(store.writer)
    let sentence = life.manager.close()
    // It may have been killed meanwhile.
    guard disk.image == nil else { return }
    isPowerCut = false
    if disk.fault == nil, let sentence { wrong.append("not all was stored: \(sentence)") }
    // Where the disk fails, a clean end is not recorded.
    if sentence == nil { isTainted = disk.fault != nil }
    tally.ends += 1
    disk.endNow(.kill)
    try restart(hasNewBoot: random.next() % 2 == 0)
  }

  private mutating func restartIfEnded() throws {
    guard let disk, disk.image != nil else { return }
    if isPowerCut { tally.powerCuts += 1 } else { tally.kills += 1 }
    try restart(hasNewBoot: isPowerCut)
  }

  private func stopLife() {
    if let disk, let store = life.store {
      disk.close()
      // A queue that is suspended cannot end.
      disk.free(store.writer)
    }
    life.scanner.end()
  }

  private mutating func restart(hasNewBoot: Bool) throws {
    guard let old = disk, var image = old.image else { return }
    // What was shown after the end never happened.
    let atEnd = life.witness.shownAtEnd
    let unreal = Set(shown.dropFirst(atEnd))
    stopLife()
    old.remove()
    if hasNewBoot, var file = image["s-readers"], file.count >= 32 {
      file[24] &+= 1
      image["s-readers"] = file
    }
    let witness = ServiceLife.Witness()
    let new = try SimulatedDisk(
      "\(folder)/\(seed)-\(tally.kills + tally.powerCuts + tally.ends)", image, seed: random.next()
    ) { witness.end() }
    disk = new
    life = try Self.start(new, configured, witness)
    try compare(without: unreal)
    shown = []
    follow()
  }

  /// Compares what a new process found with what the one before had given.
  private mutating func compare(without unreal: Set<Int64>) throws {
    for id in unreal { forget(id) }
    highest = shown.filter { !unreal.contains($0) }.max() ?? base
    let isLossy = isPowerCut || isTainted
    let found = try life.journal.entries(matching: EntryQuery())
    let isSame = life.journal.generation == generation
    if !isSame {
      if !isLossy || durable > 0 { wrong.append("another generation") }
      generation = life.journal.generation
      highest = 0
      (webhook, broker) = (Receiver(), Receiver())
    }
    let before = entries
    if !isSame { entries = [:] }
    let new = shownSoFar()
    let stored = Set(found.map(\.id)).subtracting(new)
    // Those of another generation are others.
    let gone = Set(before.keys).subtracting(isSame ? stored : [])
    tally.gone += gone.count
    for entry in found where stored.contains(entry.id) {
      if isSame, let known = entries[entry.id] {
        if known.record != entry.record { wrong.append("entry \(entry.id) has changed") }
      } else {
        // It was written, and readers were not given it.
        given[life.journal.text(of: entry.id)] = nil
        take(entry)
      }
    }
    if !isLossy, !gone.isEmpty { wrong.append("\(gone.sorted()) are missing after a kill") }
    if gone.contains(where: { $0 <= durable }) {
      wrong.append("\(gone.sorted()) are missing, and all up to \(durable) was synced")
    }
    if isPowerCut, !isTainted, isSame, let last = stored.max(), gone.contains(where: { $0 < last })
    {
      wrong.append("\(gone.sorted()) are missing, and \(last) is there")
    }
    // A power cut before the first transaction leaves a database that was ended well.
    // One whose disk refused everything could not record that something is missing.
    let last = shown.last { !unreal.contains($0) }.flatMap { faults[$0] }
    let isKnown = (last ?? .full) == .full && (!isPowerCut || durable > 0)
    for index in streams.indices {
      streams[index].place = nil
      streams[index].mayBeTold = streams[index].mayBeTold || isLossy
      let lacks = isKnown && !gone.isDisjoint(with: streams[index].owed)
      if lacks || !gone.isDisjoint(with: streams[index].received) {
        streams[index].mustBeTold = true
      }
      streams[index].owed.subtract(gone)
    }
    let first = (stored.max() ?? 0) + 1
    let gap = first...max(first, gone.max() ?? 0, (new.min() ?? 0) - 1)
    for receiver in [\Self.webhook, \.broker] {
      let isGap = isKnown && !gone.isDisjoint(with: self[keyPath: receiver].owed)
      if isGap { self[keyPath: receiver].gaps.append(gap) }
      if isLossy { self[keyPath: receiver].possibleGaps.append(gap) }
      self[keyPath: receiver].owed.subtract(gone)
      // A position is as old as the latest transaction.
      if isLossy { self[keyPath: receiver].confirmed = 0 }
    }
    for id in gone where isSame { entries[id] = nil }
    compareRegions(isLossy)
    (isTainted, faults) = (false, [:])
    (durable, versions, base) = (0, versions + [added], highest)
  }

  /// The entries that the new process has given already.
  private func shownSoFar() -> Set<Int64> {
    Set(life.journal.read(after: 0).entries.filter { $0.event != nil }.map(\.id))
  }

  private mutating func forget(_ id: Int64) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    given["\(generation)-\(id)"] = nil
    records[entry.record] = nil
    for index in streams.indices { streams[index].owed.remove(id) }
    webhook.owed.remove(id)
    broker.owed.remove(id)
    tally.entries -= 1
  }

  private mutating func compareRegions(_ isLossy: Bool) {
    let found = life.added
    let expected = versions.suffix(isLossy ? versions.count : 2).map { version in
      version.filter { configured[$0.key] == nil }
    }
    if !expected.contains(found) { wrong.append("\(found) were added, of \(expected)") }
    added = found
    // What is known of each region is what its latest event says.
    for region in life.hub.regions {
      let state = region.state == .inside ? "enter" : "exit"
      let since = registered[region.name] ?? 0
      let latest = entries.values.filter { $0.region == region.name && $0.id > since }
        .max { $0.id < $1.id }
      if !isLossy, let latest, Self.kind(of: latest) != state {
        wrong.append("\(region.name) is \(region.state), and its latest event \(latest.kind)")
      }
      kinds[region.name] = state
    }
    let names = Set(life.hub.regions.map(\.name))
    for name in kinds.keys where !names.contains(name) { kinds[name] = nil }
  }

  /// The kind of event that leads to the state of an entry.
  private static func kind(of entry: JournalEntry) -> String {
    guard entry.kind == "state" else { return entry.kind }
    let isInside = String(decoding: entry.record, as: UTF8.self).contains("\"inside\"")
    return isInside ? "enter" : "exit"
  }

  // MARK: The end

  private mutating func end() {
    stopLife()
    disk?.remove()
  }

  /// Lets everybody come to the end, and compares.
  private mutating func settle() async throws {
    if disk?.fault != nil { changeFault() }
    // What failed is tried again.
    changeReceiver()
    runStore(until: .open)
    try restartIfEnded()
    for _ in 0..<2 { passTime(toggles: false) }
    if disk?.image != nil {
      try restartIfEnded()
      for _ in 0..<2 { passTime(toggles: false) }
    }
    guard wrong.isEmpty else { return }
    for index in streams.indices {
      if streams[index].place == nil { resume(index) } else { read(index) }
    }
    compareStates()
    settleReceivers()
  }

  private mutating func compareStates() {
    let all = configured.merging(added) { configured, _ in configured }
    let model = all.mapValues { present.contains($0) }
    if snapshotStates != model { wrong.append("the hub has \(snapshotStates), not \(model)") }
    for (index, stream) in streams.enumerated() {
      if !stream.owed.isEmpty { wrong.append("stream \(index) lacks \(stream.owed.sorted())") }
      let known = stream.inside.filter { model[$0.key] != nil && $0.value != model[$0.key] }
      if !known.isEmpty { wrong.append("stream \(index) has wrong states: \(known)") }
    }
    life.publisher.begin()
    for _ in 0..<10_000 {
      publish()
      while !life.flying.isEmpty { acknowledge(isReliable: true) }
      if !life.publisher.outbox.isConnected { life.publisher.begin() }
      if life.publisher.outbox.isEmpty, life.publisher.outbox.position >= life.journal.latest {
        break
      }
    }
    let states = retained.filter {
      $0.key.hasSuffix("/state") && $0.key.contains("/regions/") && !$0.value.isEmpty
    }
    let topics = Dictionary(
      uniqueKeysWithValues: model.map {
        (life.publisher.topics.region($0.key).state, $0.value ? "inside" : "outside")
      })
    // What an earlier process published and this one does not know, the broker shows it: discovery removes that.
    let wrongTopics = topics.filter { states[$0.key] != $0.value }
    if !wrongTopics.isEmpty { wrong.append("the broker has \(states), not \(topics)") }
  }

  private mutating func settleReceivers() {
    var attempts = 0
    while attempts < 10_000, !webhook.owed.isEmpty || life.schedule.position < life.journal.latest {
      attempt()
      attempts += 1
    }
    for (name, receiver) in [("webhook", webhook), ("broker", broker)] {
      if !receiver.owed.isEmpty { wrong.append("the \(name) lacks \(receiver.owed.sorted())") }
      if !receiver.gaps.isEmpty { wrong.append("the \(name) has no gaps \(receiver.gaps)") }
    }
  }
}
