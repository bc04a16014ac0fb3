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
    var (seconds, perhaps, highest, repeats) = (0.0, 0.0, Int64(0), 0)
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
      if !isEarly { try eventually { try lines(scratch).joined().utf8.count > 1 + length } }
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
            if let before = ids[token] {
              #expect(before == id, "\(token) has another identifier")
              repeats += 1
            } else {
              ids[token] = id
            }
          }
        }
      }
    }
    let store = try HistoryStore(reading: scratch["h"])
    #expect(store.generation == generation && store.warnings.isEmpty)
    let found = try store.entries()
    #expect(found.map(\.id) == Array(1...Int64(found.count)), "identifiers have no gaps")
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
    #expect(ids.count > Int(kills) && repeats > 0, "it did something")
    print(
      "\(kills) kills: \(ids.count) entries, \(repeats) delivered again, \(underWay.count) calls hit"
    )
  }

  /// The disk has what syncs made durable and nothing else: each entry that an append returned is there.
  @Test func aPowerCutLosesNoEntry() throws {
    var (length, entries) = (2000, 0)
    // As long as it takes for some appends on a busy machine.
    while entries < 30, length < 200_000 {
      let scratch = try Scratch()
      for folder in ["disk", "copy", "after"] { try scratch.makeFolder(folder) }
      try scratch.write([], "log")
      let run = try ChildRun(
        "storage-torture", [scratch["disk/h"], scratch["log"], "1", "history"], syncs: "copy",
        in: scratch)
      try eventually { try lines(scratch).joined().utf8.count > length }
      run.kill()
      let names = (try? scratch.bytes("copy/names")) ?? []
      for line in String(decoding: names, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        // A file that has a name and was not synced has no bytes.
        try scratch.write((try? scratch.bytes("copy/\(words[0])")) ?? [], "after/\(words[1])")
      }
      let store = try HistoryStore(path: scratch["after/h"])
      #expect(store.warnings.isEmpty)
      let stored = Set(try store.entries().map(\.id))
      for line in try lines(scratch) where line.hasPrefix("A ") {
        let numbers = line.split(separator: " ").dropFirst().compactMap { Int64($0) }
        for index in stride(from: 1, to: numbers.count, by: 2) {
          #expect(stored.contains(numbers[index]))
          entries += 1
        }
      }
      print("power cut after \(entries) entries")
      length *= 3
    }
    #expect(entries >= 30)
  }

  /// The whole lines of a run's log.
  private func lines(_ scratch: Scratch) throws -> [String] {
    try scratch.bytes("log").split(separator: UInt8(ascii: "\n")).compactMap { line in
      let rest = line.suffix(from: line.lastIndex(of: 0).map { $0 + 1 } ?? line.startIndex)
      guard rest.first == UInt8(ascii: "#") else { return nil }
      return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
  }
}
