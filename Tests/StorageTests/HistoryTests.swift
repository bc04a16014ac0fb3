import CSQLite
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Storage

typealias Entry = StoredEntry
typealias Presence = StoredPresence

/// The start of 2026, in microseconds.
private let start: Int64 = 1_767_225_600_000_000
private let second: Int64 = 1_000_000

private func entry(
  _ number: Int64, _ kind: String = "enter", region: String? = "lobby", beacon: String? = nil,
  bytes: Int = 0
) -> Entry {
  Entry(
    id: 0, time: start + number * second, kind: kind, region: region, beacon: beacon,
    payload: Array("{\"number\":\(number)}".utf8) + [UInt8](repeating: 32, count: bytes),
    dwell: kind == "exit" ? Double(number) : nil)
}

/// The size of a database's file.
private func size(_ path: String) throws -> Int64 { try FilePath(path).stat().size }

/// What a history stores is there again, once.
@Suite(.blocking) struct HistoryTests {
  /// The sentence with which something is refused.
  private func refusal(_ body: () throws(StorageError) -> Void) -> String {
    do throws(StorageError) {
      try body()
      return "nothing was refused"
    } catch {
      return "\(error)"
    }
  }

  @Test func allIsThereAgain() throws {
    let scratch = try Scratch()
    let entries = [
      entry(1), entry(2, "exit", region: "caf\u{E9}\0", beacon: "a:1:2"),
      entry(3, "health", region: nil), entry(4, "state", region: "", bytes: 200_000),
    ]
    let store = try Store(path: scratch["h"])
    #expect(try store.lastID == 0 && store.firstID == nil && store.entries() == [])
    #expect(try store.append(entries) == [1, 2, 3, 4])
    #expect(try store.append([]) == [])
    let generation = store.generation
    #expect(generation.count == 8 && generation.allSatisfy(\.isHexDigit))
    store.close()
    #expect(refusal { () throws(StorageError) in try store.append(entries) }.contains("closed"))
    let again = try Store(path: scratch["h"])
    #expect(again.generation == generation && again.warnings.isEmpty)
    let found = try again.entries()
    #expect(found.map(\.id) == [1, 2, 3, 4])
    #expect(found.map { Entry(copying: $0, id: 0) } == entries)
    #expect(try again.lastID == 4 && again.firstID == 1)
    #expect(try again.append([entry(5)]) == [5])
    for name in ["h", "h-wal", "h-shm", "h-readers", "h-log-1", "h-log-2"] {
      #expect(try scratch.permissions(name) == 0o600)
    }
    #expect(try Store(path: scratch["other"]).generation != generation)
  }

  @Test func queriesSelect() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"])
    let entries = (0..<600).map {
      entry($0, $0 % 2 == 0 ? "enter" : "exit", region: $0 % 3 == 0 ? "door" : "lobby")
    }
    try store.append(entries)
    func ids(_ query: EntryQuery) throws -> [Int64] {
      let found = try store.entries(query).map(\.id)
      var seen: [Int64] = []
      try store.forEachEntry(query) { seen.append($0.id) }
      #expect(seen == found)
      return found
    }
    #expect(try ids(.init()) == Array(1...600))
    #expect(try ids(.init(after: 597)) == [598, 599, 600])
    #expect(try ids(.init(through: 3)) == [1, 2, 3])
    #expect(try ids(.init(after: 5, limit: 3)) == [6, 7, 8])
    #expect(try ids(.init(after: 5, limit: 300)) == Array(6...305))
    #expect(try ids(.init(limit: 0)) == [])
    #expect(try ids(.init(limit: 3, leavesNewest: true)) == [598, 599, 600])
    #expect(
      try ids(.init(since: start + 10 * second, until: start + 12 * second)) == [11, 12])
    #expect(try ids(.init(region: "door", limit: 3)) == [1, 4, 7])
    #expect(try ids(.init(region: "door", kinds: ["exit"], limit: 2)) == [4, 10])
    #expect(try ids(.init(kinds: ["exit", "state"], limit: 2)) == [2, 4])
    #expect(try ids(.init(kinds: [])) == [])
    #expect(try ids(.init(region: "' OR 1 --")) == [])
  }

  @Test func presenceAddsUp() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"], limits: .init(maximumBeaconsPerHour: 2))
    let hour = HistoryHour.containing(start)
    func presence(_ beacon: String, _ hour: Int64, _ seconds: Double, rssi: Double?) -> Presence {
      Presence(
        beacon: beacon, hour: hour, seconds: seconds, sightings: 10, samples: rssi == nil ? 0 : 8,
        meanRSSI: rssi, bestRSSI: rssi.map { Int64($0) })
    }
    let added = [
      presence("a", hour, 60, rssi: -70), presence("b", hour, 60, rssi: nil),
      presence("c", hour, 60, rssi: -60), presence("c", hour + 1, 60, rssi: -60),
    ]
    try store.addPresence(added)
    try store.addPresence([presence("a", hour, 4000, rssi: -50)])
    // A beacon that counts has room where others have none, up to a bound.
    let more = ["d", "e", "f"].map { presence($0, hour, 1, rssi: nil) }
    try store.addPresence(more, isProtected: true)
    var a = presence("a", hour, 3600, rssi: -60)
    (a.sightings, a.samples, a.bestRSSI) = (20, 16, -50)
    #expect(
      try store.presence()
        == [a, presence("b", hour, 60, rssi: nil)] + more.dropLast()
        + [presence("c", hour + 1, 60, rssi: -60)])
    #expect(try store.presence(beacon: "c").map(\.hour) == [hour + 1])
    #expect(try store.presence(until: start + 3600 * second).allSatisfy { $0.hour == hour })
    #expect(try store.presence(since: start + 3600 * second).map(\.beacon) == ["c"])
    #expect(try store.presence(since: start, until: start).isEmpty)
  }

  // MARK: - Bounds

  @Test func whatIsTooOldGoes() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"], limits: .init(maximumAge: 10))
    let presence = (0..<4).map {
      Presence(
        beacon: "a", hour: HistoryHour.containing(start) + $0, seconds: 1, sightings: 1)
    }
    try store.addPresence(presence)
    try store.append((1...20).map { entry($0) })
    // The latest time that was stored counts.
    #expect(try store.firstID == 10 && store.presence().count == 2)
    // An append removes what is too old, at once after a start and then every ten minutes.
    try store.append([entry(40)])
    #expect(try store.firstID == 10)
    try store.append([entry(8000)])
    #expect(try store.entries().map(\.id) == [22])
    store.close()
    let database = try Database(FilePath(scratch["h"]))
    func ids() throws -> [Int64] { try StoreReader(scratch["h"]).entries().map(\.id) }
    let limits = Store.Limits(maximumAge: 10)
    for now in [Int64.min, start + 8005 * second] {
      try database.trimAge(limits, now)
      #expect(try ids() == [22])
    }
    try database.trimAge(limits, .max)
    #expect(try ids() == [])
    // Identifiers are not used again.
    #expect(try Store(path: scratch["h"]).append([entry(1)]) == [23])
  }

  @Test func theFileDoesNotGrowBeyondItsBound() throws {
    let scratch = try Scratch()
    let limits = Store.Limits(maximumBytes: 1 << 20)
    let store = try Store(path: scratch["h"], limits: limits)
    let visit = Presence(
      beacon: "visitor", hour: HistoryHour.containing(start), seconds: 1, sightings: 1)
    try store.addPresence([visit])
    var (last, number, largest, largestLog) = (Int64(0), Int64(0), Int64(0), Int64(0))
    for _ in 0..<400 {
      let entries = (1...20).map { entry(number + $0, bytes: Int(number % 1500)) }
      number += 20
      let ids = try store.append(entries)
      #expect(ids == Array(last + 1...last + 20))
      last = ids.last ?? 0
      #expect(try store.entries(.init(after: last - 20)).count == 20)
      largest = max(largest, try size(scratch["h"]))
      largestLog = max(largestLog, try size(scratch["h-wal"]))
    }
    print("of \(number) entries, \(try store.entries().count) left; \(largest), log \(largestLog)")
    #expect(largest <= limits.maximumBytes + 100_000)
    #expect(largestLog <= 3 << 20)
    let first = try #require(try store.firstID)
    #expect(try store.entries().map(\.id) == Array(first...last))
    // Beacons that take less than half of the room leave it to no event.
    #expect(try store.presence().count == 1)
    // The room is used: nine tenths and less one append.
    #expect(try size(scratch["h"]) > 900_000)
    store.close()
    let smaller = try Store(
      path: scratch["h"], limits: .init(maximumBytes: 256 << 10))
    try smaller.append([entry(number + 1)])
    smaller.close()
    #expect(try size(scratch["h"]) <= 256 << 10)
  }

  @Test func strangersDoNotTakeTheRoomOfEvents() throws {
    let scratch = try Scratch()
    let limits = Store.Limits(maximumBytes: 1 << 20)
    let store = try Store(path: scratch["h"], limits: limits)
    try store.append((1...500).map { entry($0) })
    let hour = HistoryHour.containing(start)
    for number in 0..<60 {
      let presence = (0..<1000).map {
        Presence(
          beacon: "f7826da6-4fa2-4e98-8024-bc5b71e0893e:\(number):\($0)",
          hour: hour + Int64(number), seconds: 1, sightings: 1)
      }
      try store.addPresence(presence)
    }
    #expect(try store.entries().count == 500)
    let hours = try store.presence().map(\.hour)
    #expect(hours.last == hour + 59 && hours.count > 3000)
    print("\(hours.count) hours of beacons left")
    store.close()
    #expect(try size(scratch["h"]) <= limits.maximumBytes + 200_000)
  }

  @Test func whatIsTooLongIsRefusedAlone() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"])
    for long in [
      entry(1, bytes: 1 << 20), entry(1, region: String(repeating: "x", count: 1 << 20 + 1)),
    ] {
      #expect(
        refusal { () throws(StorageError) in try store.append([entry(0), long, entry(2)]) }
          .contains("shorten it"))
    }
    // Its identifier is a gap, and the others are stored.
    #expect(try store.entries().map(\.id) == [1, 3, 4, 6])
    #expect(store.lostThrough == 5)
    #expect(store.firstGap(after: 1) == 2 && store.firstGap(after: 2) == 5)
    #expect(store.firstGap(after: 4) == 5 && store.firstGap(after: 5) == nil)
  }

  // MARK: - Readers

  @Test func readersReadBesideTheWriter() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"])
    store.flush()
    let reader = try StoreReader(scratch["h"])
    for number in 1...50 {
      let ids = try store.append([entry(Int64(number))])
      #expect(try reader.entries().map(\.id) == Array(1...ids[0]))
      #expect(try StoreReader(scratch["h"]).lastID == ids[0])
    }
    #expect(try store.append([entry(51)]) == [51])
    store.close()
    #expect(try StoreReader(scratch["h"]).entries().count == 51)
  }

  @Test func twoStoresCannotWriteOneFile() throws {
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"])
    let sentence = refusal { () throws(StorageError) in
      _ = try Store(path: scratch["h"])
    }
    #expect(sentence.contains("process \(getpid()) (") && sentence.contains("stop it first"))
    try store.append([entry(1)])
    store.close()
    #expect(try Store(path: scratch["h"]).entries().count == 1)
  }

  @Test func whatIsNoHistoryIsNotTouched() throws {
    let scratch = try Scratch()
    try scratch.write(Array("Buy milk.\n".utf8), "notes.txt")
    try scratch.makeFolder("folder")
    let names = scratch.names
    for (name, what) in [
      ("notes.txt", "it is not a"), ("folder", "not a regular file"),
    ] {
      let writing = refusal { () throws(StorageError) in _ = try Store(path: scratch[name]) }
      #expect(writing.contains(what) && writing.contains(scratch[name]))
    }
    for (name, what) in [
      ("notes.txt", "it is not a history"), ("folder", "not a regular file"),
      ("missing", "cannot open it (No such file"), ("x/missing", "cannot open it (No such file"),
    ] {
      let reading = refusal { () throws(StorageError) in _ = try StoreReader(scratch[name]) }
      #expect(reading.contains(what) && reading.contains(scratch.folder.path))
    }
    #expect(scratch.names == names)
    #expect(try scratch.bytes("notes.txt") == Array("Buy milk.\n".utf8))
  }

  @Test func theDefaultFileIsTheServices() throws {
    let scratch = try Scratch()
    let variables = ["HOME": scratch["home"], "XDG_STATE_HOME": scratch["state"]]
    func file(_ more: [String: String] = [:]) throws -> String {
      try StatePath.history(system: FilePath(scratch["lib"])) {
        variables.merging(more) { $1 }[$0]
      }.string
    }
    #expect(try file() == scratch["state/beaconscan/history.sqlite"])
    #expect(
      try file(["XDG_STATE_HOME": "state"])
        == scratch["home/.local/state/beaconscan/history.sqlite"])
    #expect(
      try file(["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"]) == "/var/lib/a/history.sqlite")
    try scratch.makeFolder("lib")
    #expect(try file() == scratch["state/beaconscan/history.sqlite"])
    try scratch.write([], "lib/history.sqlite")
    #expect(try file() == scratch["lib/history.sqlite"])
    #expect(throws: StorageError.self) {
      try StatePath.history(system: "/nowhere") { _ in nil }
    }
  }

  // MARK: - Damage

  @Test(arguments: 0..<40)
  func aDamagedHistoryIsNoTrap(_ seed: UInt64) throws {
    print("seed \(seed)")
    let scratch = try Scratch()
    let store = try Store(path: scratch["h"])
    try store.append((1...200).map { entry($0, bytes: 300) })
    store.close()
    var bytes = try scratch.bytes("h")
    var random = SplitMix64(seed: seed)
    if seed == 0 {
      // All but the header's page.
      bytes.replaceSubrange(4096..., with: random.bytes(bytes.count - 4096))
    } else {
      for _ in 0..<(1 + random.next() % 8) {
        let start = 100 + Int(random.next() % UInt64(bytes.count - 200))
        bytes.replaceSubrange(start..<start + 64, with: random.bytes(64))
      }
    }
    try scratch.write(bytes, "h")
    // A reader reads it or refuses it, and changes nothing.
    if let reader = try? StoreReader(scratch["h"]) {
      _ = try? reader.entries()
      _ = try? reader.presence()
    }
    #expect(try scratch.bytes("h") == bytes)
    let again = try Store(path: scratch["h"])
    let new = (201...240).map { entry($0, bytes: 300) }
    let ids = try again.append(new)
    // What cannot be read is refused.
    if let found = try? again.entries(.init(after: ids[0] - 1)) { #expect(found.map(\.id) == ids) }
    // The entry makes all others too old.
    _ = try? again.append([entry(100_000_000)])
    let isAside = scratch.names.contains("h.damaged-1")
    #expect(again.warnings.count == (isAside ? 1 : 0))
    if let warning = again.warnings.first {
      #expect(warning.contains("\(scratch["h.damaged-1"])") && !warning.contains("\n"))
    }
    #expect(seed != 0 || isAside)
    again.close()
    #expect(try Store(path: scratch["h"]).warnings.count <= 1)
  }

  // MARK: - Disks

  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func aFullDiskIsAnErrorAndLosesNothing() throws {
    let disk = try SmallDisk(size: "2m")
    let scratch = disk.scratch
    do {
      let store = try Store(path: scratch["h"])
      try store.append([entry(1)])
      let ballast = unsafe open(scratch["ballast"], O_CREAT | O_WRONLY, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while unsafe write(ballast, block, block.count) > 0 {}
      let large = (2...5).map { entry($0, bytes: 60000) }
      let sentence = refusal { () throws(StorageError) in try store.append(large) }
      #expect(sentence.contains("(No space left") && sentence.contains("free some space"))
      #expect(try store.entries().map(\.id) == [1])
      _ = ftruncate(ballast, 0)
      close(ballast)
      // What waited is stored, under the identifiers that it was given.
      #expect(try store.entries().map(\.id) == [1, 2, 3, 4, 5])
      #expect(store.lostThrough == 0)
      let other = try Store(path: scratch["other"])
      // What is read from a read-only medium after a clean end, and after a power cut.
      try other.append([entry(1)])
      let copies = try ["other", "other-wal"].map { try scratch.bytes($0) }
      other.close()
      store.close()
      for suffix in ["", "-wal", "-shm"] { unsafe unlink(scratch["other" + suffix]) }
      try scratch.write(copies[0], "other")
      try scratch.write(copies[1], "other-wal")
    }
    try disk.remountReadOnly()
    let sentence = refusal { () throws(StorageError) in _ = try Store(path: scratch["h"]) }
    #expect(sentence.contains("(Read-only file system)"))
    #expect(!scratch.names.contains("h-wal"))
    #expect(try StoreReader(scratch["h"]).entries().map(\.id) == [1, 2, 3, 4, 5])
    let log = refusal { () throws(StorageError) in _ = try StoreReader(scratch["other"]) }
    #expect(log.contains("other-wal") && log.contains("copy it"))
  }

  /// After a power cut, the log and its index are there.
  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func theLogIsReadFromAReadOnlyDisk() throws {
    let (scratch, disk) = (try Scratch(), try SmallDisk())
    let store = try Store(path: scratch["h"])
    try store.append((1...9).map { entry($0) })
    for suffix in ["", "-wal", "-shm"] {
      try disk.scratch.write(scratch.bytes("h" + suffix), "h" + suffix)
    }
    try disk.remountReadOnly()
    #expect(try StoreReader(disk.scratch["h"]).entries().count == 9)
  }
}

extension Entry {
  fileprivate init(copying other: Entry, id: Int64) {
    self = other
    self.id = id
  }
}

extension Store {
  /// Opens a store that keeps a history.
  convenience init(path: String, limits: Limits = Limits()) throws(StorageError) {
    try self.init(.file(path), limits: limits)
  }

  /// Stores entries under new identifiers, which it returns.
  @discardableResult
  fileprivate func append(_ entries: [StoredEntry]) throws(StorageError) -> [Int64] {
    let new = entries.map { entry in
      var entry = entry
      entry.id = nextID()
      return entry
    }
    try writeAndWait(new.map { .add($0) })
    return new.map(\.id)
  }

  fileprivate func addPresence(
    _ presence: [StoredPresence], isProtected: Bool = false
  ) throws(StorageError) {
    try writeAndWait(
      presence.map { one in
        var one = one
        one.isProtected = isProtected
        return .addPresence(one)
      })
  }

  fileprivate func entries(_ query: EntryQuery = EntryQuery()) throws -> [StoredEntry] {
    flush()
    return try reader()?.entries(query) ?? []
  }

  fileprivate func forEachEntry(
    _ query: EntryQuery, _ body: (StoredEntry) -> Void
  ) throws { try reader()?.forEachEntry(query, body) }

  fileprivate func presence(
    since: Int64? = nil, until: Int64? = nil, beacon: String? = nil
  ) throws(StorageError) -> [StoredPresence] {
    try reader()?.presence(since: since, until: until, beacon: beacon) ?? []
  }

  fileprivate var firstID: Int64? { get throws { try entries(EntryQuery(limit: 1)).first?.id } }
}
