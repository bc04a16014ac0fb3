import CSQLite
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Storage

typealias Entry = HistoryStore.Entry
typealias Presence = HistoryStore.Presence

/// The start of 2026, in microseconds.
private let start: Int64 = 1_767_225_600_000_000
private let second: Int64 = 1_000_000

private func entry(
  _ number: Int64, _ kind: String = "enter", region: String? = "lobby", beacon: String? = nil,
  bytes: Int = 0
) -> Entry {
  Entry(
    time: start + number * second, kind: kind, region: region, beacon: beacon,
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
    let store = try HistoryStore(path: scratch["h"])
    #expect(try store.lastID == 0 && store.firstID == nil && store.entries() == [])
    #expect(try store.append(entries, now: start) == [1, 2, 3, 4])
    #expect(try store.append([], now: start) == [])
    let generation = store.generation
    #expect(generation.count == 8 && generation.allSatisfy(\.isHexDigit))
    store.close()
    #expect(refusal { () throws(StorageError) in try store.append(entries) }.contains("closed"))
    let again = try HistoryStore(path: scratch["h"])
    #expect(again.generation == generation && again.warnings.isEmpty)
    let found = try again.entries()
    #expect(found.map(\.id) == [1, 2, 3, 4])
    #expect(found.map { Entry(copying: $0, id: 0) } == entries)
    #expect(try again.lastID == 4 && again.firstID == 1)
    #expect(try again.append([entry(5)], now: start) == [5])
    for name in ["h", "h-wal", "h-shm", "h-lock"] {
      #expect(try scratch.permissions(name) == 0o600)
    }
    #expect(try HistoryStore(path: scratch["other"]).generation != generation)
  }

  @Test func marksOfReceiversStayUntilOthersTakeTheirPlace() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    #expect(try store.marks == [:])
    #expect(try store.append([entry(1)], marks: ["a": 0, "b": 7], now: start) == [1])
    #expect(try store.append([entry(2)], now: start) == [2])
    store.close()
    let again = try HistoryStore(path: scratch["h"])
    #expect(try again.marks == ["a": 0, "b": 7] && again.generation == store.generation)
    // Marks alone.
    #expect(try again.append([], marks: ["b": -3], now: start) == [])
    #expect(try again.marks == ["b": -3] && again.count == 2)
    #expect(try HistoryStore(reading: scratch["h"]).marks == ["b": -3])
  }

  @Test func identifiersOfLostEntriesAreLeftOut() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    #expect(try store.append([entry(1), entry(2)], skipping: 3, now: start) == [4, 5])
    #expect(try store.append([entry(3)], skipping: 10, now: start) == [16])
    #expect(try store.append([entry(4)], now: start) == [17])
    #expect(try store.lastID == 17 && store.firstID == 4)
  }

  @Test func whatIsStoredAlreadyHasItsIdentifier() throws {
    let scratch = try Scratch()
    let entries = [
      entry(1), entry(1, "exit"), entry(1, region: nil), entry(1, region: ""),
      entry(1, beacon: "a"), entry(1, region: "door"), entry(2), entry(1, beacon: ""),
    ]
    do {
      let store = try HistoryStore(path: scratch["h"])
      #expect(try store.append(entries + entries, now: start) == Array(1...8) + Array(1...8))
    }
    let store = try HistoryStore(path: scratch["h"])
    #expect(try store.append(entries.reversed(), now: start) == (1...8).reversed())
    // The payload counts where there is no region: two receivers change at one time.
    var (late, other) = (entries[0], entries[2])
    (late.payload, other.payload) = ([1], [1])
    #expect(try store.append([late, other, other], now: start) == [1, 9, 9])
    #expect(try store.entries().count == 9)
  }

  @Test func queriesSelect() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    let entries = (0..<600).map {
      entry($0, $0 % 2 == 0 ? "enter" : "exit", region: $0 % 3 == 0 ? "door" : "lobby")
    }
    try store.append(entries, now: start)
    func ids(_ query: HistoryStore.Query) throws -> [Int64] {
      let found = try store.entries(query).map(\.id)
      var seen: [Int64] = []
      try store.forEachEntry(query) { seen.append($0.id) }
      #expect(seen == found)
      return found
    }
    #expect(try ids(.init()) == Array(1...600))
    #expect(try ids(.init(after: 597)) == [598, 599, 600])
    #expect(try ids(.init(before: 4)) == [1, 2, 3])
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
    let store = try HistoryStore(path: scratch["h"], limits: .init(maximumBeaconsPerHour: 2))
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
    #expect(try store.addPresence(added, now: start) == 1)
    #expect(try store.addPresence([presence("a", hour, 4000, rssi: -50)], now: start) == 0)
    // A beacon that counts has room where others have none, up to a bound.
    let more = ["d", "e", "f"].map { presence($0, hour, 1, rssi: nil) }
    #expect(try store.addPresence(more, isProtected: { _ in true }, now: start) == 1)
    #expect(store.droppedPresence == 2)
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
    let store = try HistoryStore(path: scratch["h"], limits: .init(maximumAge: 10))
    let presence = (0..<4).map {
      Presence(
        beacon: "a", hour: HistoryHour.containing(start) + $0, seconds: 1, sightings: 1)
    }
    try store.addPresence(presence, now: start)
    try store.append((1...20).map { entry($0) }, now: start)
    #expect(
      try store.trim(now: start + 15 * second) == HistoryStore.Trimmed(entries: 4, presence: 0))
    #expect(try store.firstID == 5)
    #expect(
      try store.trim(now: start + 7300 * second) == HistoryStore.Trimmed(entries: 16, presence: 2))
    #expect(try store.firstID == nil && store.lastID == 20)
    // Identifiers are not used again.
    #expect(try store.append([entry(1)], now: start) == [21])
    // An append removes what is too old, at once after a start and then every ten minutes.
    try store.append([entry(8000)], now: start + 8000 * second)
    #expect(try store.entries().map(\.id) == [22])
    for now in [Int64.min, .max] { _ = try store.trim(now: now) }
  }

  @Test func theFileDoesNotGrowBeyondItsBound() throws {
    let scratch = try Scratch()
    let limits = HistoryStore.Limits(maximumBytes: 1 << 20)
    let store = try HistoryStore(path: scratch["h"], limits: limits)
    var (last, number, largest, largestLog) = (Int64(0), Int64(0), Int64(0), Int64(0))
    for _ in 0..<400 {
      let entries = (1...20).map { entry(number + $0, bytes: Int(number % 1500)) }
      number += 20
      let ids = try store.append(entries, now: start)
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
    // The room is used: nine tenths and less one append.
    #expect(try size(scratch["h"]) > 900_000)
    store.close()
    let smaller = try HistoryStore(
      path: scratch["h"], limits: .init(maximumBytes: 256 << 10))
    try smaller.append([entry(number + 1)], now: start)
    smaller.close()
    #expect(try size(scratch["h"]) <= 256 << 10)
  }

  @Test func strangersDoNotTakeTheRoomOfEvents() throws {
    let scratch = try Scratch()
    let limits = HistoryStore.Limits(maximumBytes: 1 << 20)
    let store = try HistoryStore(path: scratch["h"], limits: limits)
    try store.append((1...500).map { entry($0) }, now: start)
    let hour = HistoryHour.containing(start)
    for number in 0..<60 {
      let presence = (0..<1000).map {
        Presence(
          beacon: "f7826da6-4fa2-4e98-8024-bc5b71e0893e:\(number):\($0)",
          hour: hour + Int64(number), seconds: 1, sightings: 1)
      }
      try store.addPresence(presence, now: start)
    }
    #expect(try store.entries().count == 500)
    let hours = try store.presence().map(\.hour)
    #expect(hours.last == hour + 59 && hours.count > 3000)
    print("\(hours.count) hours of beacons left")
    store.close()
    #expect(try size(scratch["h"]) <= limits.maximumBytes + 200_000)
  }

  @Test func whatIsTooLongIsRefused() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    for long in [
      entry(1, bytes: 1 << 20), entry(1, region: String(repeating: "x", count: 5000)),
    ] {
      #expect(
        refusal { () throws(StorageError) in try store.append([entry(0), long]) }
          .contains("shorten it"))
    }
    #expect(try store.entries().isEmpty)
  }

  // MARK: - Readers

  @Test func readersReadBesideTheWriter() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    let reader = try HistoryStore(reading: scratch["h"])
    #expect(reader.generation == store.generation)
    for number in 1...50 {
      let ids = try store.append([entry(Int64(number))], now: start)
      #expect(try reader.entries().map(\.id) == Array(1...ids[0]))
      #expect(try HistoryStore(reading: scratch["h"]).lastID == ids[0])
    }
    #expect(
      refusal { () throws(StorageError) in try reader.append([entry(1)]) }
        .contains("opened for reading"))
    reader.close()
    #expect(try store.append([entry(51)], now: start) == [51])
    store.close()
    #expect(try HistoryStore(reading: scratch["h"]).entries().count == 51)
  }

  @Test func twoStoresCannotWriteOneFile() throws {
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    let sentence = refusal { () throws(StorageError) in
      _ = try HistoryStore(path: scratch["h"])
    }
    #expect(sentence.contains("process \(getpid()) (") && sentence.contains("stop it first"))
    try store.append([entry(1)], now: start)
    store.close()
    #expect(try HistoryStore(path: scratch["h"]).entries().count == 1)
  }

  @Test func whatIsNoHistoryIsNotTouched() throws {
    let scratch = try Scratch()
    try scratch.write(Array("Buy milk.\n".utf8), "notes.txt")
    try scratch.makeFolder("folder")
    let state = try ServiceStore(.file(scratch["state"]))
    state.close()
    let names = scratch.names
    for (name, what) in [
      ("notes.txt", "it is not a history"), ("state", "SQLite database of another application"),
      ("folder", "not a regular file"),
    ] {
      let writing = refusal { () throws(StorageError) in
        _ = try HistoryStore(path: scratch[name])
      }
      #expect(writing.contains(what) && writing.contains(scratch[name]))
    }
    for (name, what) in [
      ("notes.txt", "it is not a history"), ("folder", "not a regular file"),
      ("state", "SQLite database of another application"), ("missing", "errno 2"),
      ("x/missing", "errno 2"),
    ] {
      let reading = refusal { () throws(StorageError) in
        _ = try HistoryStore(reading: scratch[name])
      }
      #expect(reading.contains(what) && reading.contains(scratch.folder.path))
    }
    #expect(scratch.names == names)
    #expect(try scratch.bytes("notes.txt") == Array("Buy milk.\n".utf8))
  }

  @Test func missingDirectoriesAreMadeOnRequest() throws {
    let scratch = try Scratch()
    #expect(throws: StorageError.self) { try HistoryStore(path: scratch["x/y/h"]) }
    _ = try HistoryStore(path: scratch["x/y/h"], makesDirectory: true)
    #expect(try scratch.permissions("x/y") == 0o700)
  }

  @Test func theDefaultFileIsTheServices() throws {
    let scratch = try Scratch()
    let variables = ["HOME": scratch["home"], "XDG_STATE_HOME": scratch["state"]]
    func file(_ more: [String: String] = [:], writing: Bool = false) throws -> String {
      try StatePath.history(forWriting: writing, system: FilePath(scratch["lib"])) {
        variables.merging(more) { $1 }[$0]
      }.string
    }
    #expect(try file() == scratch["state/beaconscan/history.sqlite"])
    #expect(
      try file(["XDG_STATE_HOME": "state"])
        == scratch["home/.local/state/beaconscan/history.sqlite"])
    #expect(
      try file(["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"], writing: true)
        == "/var/lib/a/history.sqlite")
    try scratch.makeFolder("lib")
    #expect(try file() == scratch["state/beaconscan/history.sqlite"])
    try scratch.write([], "lib/history.sqlite")
    for writing in [false, true] {
      #expect(try file(writing: writing) == scratch["lib/history.sqlite"])
    }
    #expect(throws: StorageError.self) {
      try StatePath.history(forWriting: true, system: "/nowhere") { _ in nil }
    }
  }

  // MARK: - Damage

  @Test(arguments: 0..<40)
  func aDamagedHistoryIsNoTrap(_ seed: UInt64) throws {
    print("seed \(seed)")
    let scratch = try Scratch()
    let store = try HistoryStore(path: scratch["h"])
    try store.append((1...200).map { entry($0, bytes: 300) }, now: start)
    let generation = store.generation
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
    if let reader = try? HistoryStore(reading: scratch["h"]) {
      _ = try? reader.entries()
      _ = try? reader.presence()
    }
    #expect(try scratch.bytes("h") == bytes)
    let again = try HistoryStore(path: scratch["h"])
    let new = (201...240).map { entry($0, bytes: 300) }
    let ids = try again.append(new, now: start)
    #expect(try again.entries(.init(after: ids[0] - 1)).map(\.id) == ids)
    _ = try again.trim(now: start + 100_000_000 * second)
    let isAside = scratch.names.contains("h.damaged-1")
    #expect(
      again.warnings.count == (isAside ? 1 : 0) && (again.generation != generation) == isAside)
    if let warning = again.warnings.first {
      #expect(warning.contains("\(scratch["h.damaged-1"])") && !warning.contains("\n"))
    }
    #expect(seed != 0 || isAside)
    again.close()
    #expect(try HistoryStore(path: scratch["h"]).warnings.isEmpty)
  }

  // MARK: - Disks

  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func aFullDiskIsAnErrorAndLosesNothing() throws {
    let disk = try SmallDisk(size: "2m")
    let scratch = disk.scratch
    do {
      let store = try HistoryStore(path: scratch["h"])
      try store.append([entry(1)], now: start)
      let ballast = unsafe open(scratch["ballast"], O_CREAT | O_WRONLY, 0o600)
      let block = [UInt8](repeating: 1, count: 4096)
      while unsafe write(ballast, block, block.count) > 0 {}
      let large = (2...5).map { entry($0, bytes: 60000) }
      for _ in 0..<3 {
        let sentence = refusal { () throws(StorageError) in try store.append(large, now: start) }
        #expect(sentence.contains("errno 28") && sentence.contains("free some space"))
        _ = try? store.trim(now: start)
        #expect(try store.entries().map(\.id) == [1])
      }
      // Another history cannot be made, and can be later.
      #expect(throws: StorageError.self) { try HistoryStore(path: scratch["other"]) }
      _ = ftruncate(ballast, 0)
      close(ballast)
      #expect(try store.append(large, now: start) == [2, 3, 4, 5])
      let other = try HistoryStore(path: scratch["other"])
      // What is read from a read-only medium after a clean end, and after a power cut.
      try other.append([entry(1)], now: start)
      let copies = try ["other", "other-wal"].map { try scratch.bytes($0) }
      other.close()
      store.close()
      for suffix in ["", "-wal", "-shm"] { unsafe unlink(scratch["other" + suffix]) }
      try scratch.write(copies[0], "other")
      try scratch.write(copies[1], "other-wal")
    }
    try disk.remountReadOnly()
    let sentence = refusal { () throws(StorageError) in _ = try HistoryStore(path: scratch["h"]) }
    #expect(sentence.contains("errno 30 (Read-only file system)"))
    #expect(!scratch.names.contains("h-wal"))
    #expect(try HistoryStore(reading: scratch["h"]).entries().map(\.id) == [1, 2, 3, 4, 5])
    let log = refusal { () throws(StorageError) in _ = try HistoryStore(reading: scratch["other"]) }
    #expect(log.contains("other-wal") && log.contains("copy it"))
  }

  /// After a power cut, the log and its index are there.
  @Test(.enabled(if: SmallDisk.isPossible, "root alone can mount a file system"))
  func theLogIsReadFromAReadOnlyDisk() throws {
    let (scratch, disk) = (try Scratch(), try SmallDisk())
    let store = try HistoryStore(path: scratch["h"])
    try store.append((1...9).map { entry($0) }, now: start)
    for suffix in ["", "-wal", "-shm"] {
      try disk.scratch.write(scratch.bytes("h" + suffix), "h" + suffix)
    }
    try disk.remountReadOnly()
    #expect(try HistoryStore(reading: disk.scratch["h"]).entries().count == 9)
  }
}

extension Entry {
  fileprivate init(copying other: Entry, id: Int64) {
    self = other
    self.id = id
  }
}
