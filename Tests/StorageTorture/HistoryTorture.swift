import Glibc
import Storage
import TestSupport

/// Appends to a history until it is killed, and records what it does, a line each.
///
/// Where the disk may fail, it ends by itself when the file `end` exists, and goes on whatever is refused:
///
///     S GENERATION         opened
///     g TOKEN ID …         entries are going to be appended under these identifiers
///     A TOKEN ID …         they were, and survive the process; M TOKEN ID … where they are in memory alone
///     X                    closed, and everything is stored
///
/// Otherwise:
///
///     S GENERATION         opened
///     a TOKEN …            entries are going to be appended; A TOKEN ID … when they were
///     h SECONDS            presence is going to be added; H SECONDS when it was
///
enum HistoryTorture {
  /// Not before 2026, in microseconds.
  static let start: Int64 = 1_767_225_600_000_000

  static func live(_ path: String, _ log: LogFile, _ seed: UInt64) throws(StorageError) {
    var random = SplitMix64(seed: seed)
    // Nothing is removed, so that what is missing was lost.
    let store = try Store(.file(path), limits: .init(maximumAge: .max, maximumBytes: 1 << 40))
    try store.writeAndWait([])
    guard store.warnings.isEmpty else {
      print(store.warnings)
      exit(2)
    }
    log.write("S \(store.generation)")
    let reader = try StoreReader(path)
    var token = Int64(seed) * 100_000
    while true {
      if random.next() % 8 == 0 {
        let seconds = Int(random.next() % 9) + 1
        log.write("h \(seconds)")
        let presence = StoredPresence(
          beacon: "a:\(random.next() % 9):1", hour: HistoryHour.containing(start) + token,
          seconds: Double(seconds), sightings: 1)
        guard store.write([.addPresence(presence)]) else { exit(3) }
        log.write("H \(seconds)")
        continue
      }
      var tokens: [Int64] = []
      // Now and then more than fits into one page.
      for _ in 0..<(random.next() % 16 == 0 ? 30 : Int(random.next() % 3) + 1) {
        token += 1
        tokens.append(token)
      }
      log.write("a" + tokens.map { " \($0)" }.joined())
      let entries = tokens.map { entry($0, store.nextID()) }
      guard store.write(entries.map { .add($0) }) else { exit(3) }
      log.write("A" + zip(tokens, entries).map { " \($0) \($1.id)" }.joined())
      // A reader holds a lock of its own while the process is killed.
      if random.next() % 16 == 0 { _ = try reader.entries(.init(limit: 5, leavesNewest: true)) }
    }
  }

  static func live(withFaults path: String, _ log: LogFile, _ seed: UInt64) throws(StorageError) {
    var random = SplitMix64(seed: seed)
    let store = try Store(.file(path), limits: .init(maximumAge: .max, maximumBytes: 1 << 40))
    log.write("S \(store.generation)")
    var token = Int64(seed) * 100_000
    while unsafe access("end", F_OK) != 0 {
      let entries = (0..<Int64(random.next() % 3) + 1).map { entry(token + $0 + 1, store.nextID()) }
      let names = entries.enumerated().map { " \(token + Int64($0) + 1) \($1.id)" }.joined()
      token += Int64(entries.count)
      log.write("g" + names)
      log.write((store.write(entries.map { .add($0) }) ? "A" : "M") + names)
      // What failed is tried again at once where somebody waits for it.
      if random.next() % 32 == 0 { store.flush() }
      usleep(UInt32(random.next() % 400))
    }
    if store.close() == nil { log.write("X") }
  }

  static func entry(_ token: Int64, _ id: Int64) -> StoredEntry {
    let payload = Array("\(token) ".utf8) + [UInt8](repeating: 46, count: Int(token % 700))
    return StoredEntry(
      id: id, time: start + token, kind: token % 2 == 0 ? "enter" : "health",
      region: token % 2 == 0 ? "lobby" : nil, payload: payload, dwell: Double(token))
  }
}
