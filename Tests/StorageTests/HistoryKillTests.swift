import Foundation
import Storage
import TestSupport
import Testing

/// A history whose writer is killed at any moment.
@Suite(.blocking) struct HistoryKillTests {
  /// 20 kills; `BEACONSCAN_HISTORY_ROUNDS=200` for the full run, `STORAGE_SEED` for another one.
  @Test func noEntryIsLostOrDoubledOverKills() throws {
    let environment = ProcessInfo.processInfo.environment
    let kills = environment["BEACONSCAN_HISTORY_ROUNDS"].flatMap(UInt64.init) ?? 20
    let seed = environment["STORAGE_SEED"].flatMap(UInt64.init) ?? 1
    print("seed \(seed), \(kills) kills")
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    // What appends returned; and the entries and seconds of calls that did not return.
    var ids: [Int64: Int64] = [:]
    var underWay: [Set<Int64>] = []
    var (seconds, perhaps, highest) = (0.0, 0.0, Int64(0))
    var generation: String?
    for life in 1...max(1, kills) {
      try scratch.write([], "log")
      // A kill loses nothing that was not synced, and most lives are to do more than wait.
      let run = try ChildRun(
        "storage-torture", [scratch["h"], scratch["log"], "\(seed * 1000 + life)", "history"],
        syncs: life % 8 == 0 ? nil : "skip", in: scratch)
      // Every fourth is killed while it starts.
      let isEarly = random.next() % 4 == 0
      let length = Int(random.next() % 5000)
      if !isEarly { eventually { hasLogged(moreThan: length, in: scratch) } }
      usleep(UInt32(random.next() % 20000))
      run.kill()
      #expect(run.remainingOutput.isEmpty)
      for words in try lines(scratch).map({ $0.split(separator: " ").map(String.init) }) {
        let numbers = words.dropFirst().compactMap { Int64($0) }
        switch words[0] {
        case "S":
          #expect(generation ?? words[1] == words[1])
          generation = words[1]
        case "h": perhaps += Double(numbers[0])
        case "H":
          seconds += Double(numbers[0])
          perhaps -= Double(numbers[0])
        case "a": underWay.append(Set(numbers))
        default:
          underWay.removeLast()
          for index in stride(from: 0, to: numbers.count, by: 2) {
            let (token, id) = (numbers[index], numbers[index + 1])
            #expect(ids.updateValue(id, forKey: token) == nil)
          }
        }
      }
    }
    // What the last life did not store is in the log: the next life stores it.
    let last = try Store(
      .file(scratch["h"]), limits: .init(maximumAge: .max, maximumBytes: 1 << 40))
    #expect(last.generation == generation && last.warnings.isEmpty)
    #expect(last.lostThrough == 0)
    #expect(last.close() == nil)
    let store = try StoreReader(scratch["h"])
    let found = try store.entries()
    var tokens: [Int64: Int64] = [:]
    for entry in found {
      let text = String(decoding: entry.payload, as: UTF8.self)
      let token = Int64(text.prefix { $0 != " " }) ?? 0
      #expect(tokens.updateValue(entry.id, forKey: token) == nil, "\(token) is doubled")
      #expect(
        entry.dwell == Double(token) && entry.payload.count == "\(token) ".count + Int(token % 700))
      highest = max(highest, entry.id)
    }
    let lost = ids.filter { tokens[$0.key] != $0.value }
    #expect(lost.isEmpty, "\(lost.count) are lost, such as \(lost.prefix(3))")
    for call in underWay {
      let new = call.subtracting(ids.keys)
      let stored = new.filter { tokens[$0] != nil }
      #expect(stored.isEmpty || stored.count == new.count, "half an append: \(call)")
    }
    let known = Set(ids.keys).union(underWay.joined())
    #expect(tokens.keys.allSatisfy(known.contains))
    let sum = try store.presence().reduce(0) { $0 + $1.seconds }
    #expect(sum >= seconds && sum <= seconds + perhaps)
    #expect(ids.count > Int(kills), "it did something")
    print(
      "\(kills) kills: \(ids.count) entries, \(underWay.count) calls hit"
    )
  }

  /// The disk has what syncs made durable and nothing else: of the entries that readers were given, the latest may be
  /// gone, none before one that is there, and no identifier is given again.
  @Test func aPowerCutTakesTheLatestAlone() throws {
    var (length, entries) = (2000, 0)
    // As long as it takes for some transactions on a busy machine.
    while entries < 30, length < 200_000 {
      let scratch = try Scratch()
      for folder in ["disk", "copy", "after"] { try scratch.makeFolder(folder) }
      try scratch.write([], "log")
      let run = try ChildRun(
        "storage-torture", [scratch["disk/h"], scratch["log"], "1", "history"], syncs: "copy",
        in: scratch)
      eventually { hasLogged(moreThan: length, in: scratch) }
      run.kill()
      let names = (try? scratch.bytes("copy/names")) ?? []
      for line in String(decoding: names, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        // A file that has a name and was not synced has no bytes.
        try scratch.write((try? scratch.bytes("copy/\(words[0])")) ?? [], "after/\(words[1])")
      }
      // A database that was lost whole is replaced by one whose identifiers are of another generation.
      guard let database = try? scratch.bytes("after/h"), !database.isEmpty else {
        length *= 3
        continue
      }
      let store = try Store(.file(scratch["after/h"]), limits: .init(maximumAge: .max))
      #expect(store.warnings.isEmpty)
      store.flush()
      let stored = try store.reader()?.entries().map(\.id) ?? []
      #expect(stored == Array(1...Int64(max(1, stored.count))).prefix(stored.count).map { $0 })
      let given = try lines(scratch).filter { $0.hasPrefix("A ") }.flatMap { line in
        let numbers = line.split(separator: " ").dropFirst().compactMap { Int64($0) }
        return stride(from: 1, to: numbers.count, by: 2).map { numbers[$0] }
      }
      // Whoever was given one that is gone is told so, and a new one has another identifier.
      if let last = given.last, last > stored.last ?? 0 { #expect(store.lostThrough >= last) }
      #expect(store.nextID() > given.last ?? 0)
      entries += stored.count
      print("power cut: \(given.count) entries were given, \(stored.count) are stored")
      length *= 3
    }
    #expect(entries >= 30)
  }

  /// The whole lines of a run's log.
  private func lines(_ scratch: Scratch) throws -> [String] {
    wholeLines(of: try scratch.bytes("log"))
  }
}
