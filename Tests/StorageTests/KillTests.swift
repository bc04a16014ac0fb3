import Foundation
import Storage
import TestSupport
import Testing

/// A store whose user is killed at any moment, or loses its power.
@Suite(.blocking) struct KillTests {
  /// 25 kills; `STORAGE_KILLS=500` for the full run, `STORAGE_SEED` for another one.
  @Test func nothingIsLostOrDoubledOverKills() throws {
    let environment = ProcessInfo.processInfo.environment
    let kills = environment["STORAGE_KILLS"].flatMap(Int.init) ?? 25
    let seed = environment["STORAGE_SEED"].flatMap(UInt64.init) ?? 1
    print("seed \(seed), \(kills) kills")
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    var text = ""
    for life in 1...UInt64(kills) {
      try scratch.write([], "log")
      // A kill loses nothing that was not synced, and most lives are to do more than wait.
      let run = try ChildRun(
        "storage-torture", [scratch["r.sqlite"], scratch["log"], "\(seed * 1000 + life)"],
        syncs: life % 8 == 0 ? nil : "skip", in: scratch)
      // Every fourth is killed while it starts.
      let isEarly = random.next() % 4 == 0
      let length = Int(random.next() % 2000)
      if !isEarly { eventually { hasLogged(moreThan: length, in: scratch) } }
      usleep(UInt32(random.next() % 20000))
      run.kill()
      text += try "begin \(life)\n" + log(scratch) + "K\(position(scratch))\n"
    }
    try scratch.write([], "log")
    let last = try ChildRun(
      "storage-torture", [scratch["r.sqlite"], scratch["log"], "1", "drain"], in: scratch
    ).finish()
    #expect(last.status == 0, "\(last.output)")
    text += try "begin last\n" + log(scratch)

    let found = TortureLog(text)
    #expect(found.wrong.isEmpty, "\(found.wrong.prefix(5))")
    #expect(found.left == 0)
    // The store doubles none that it has a position after (`wrong` has those). What a delegate does outside of the store and
    // the position are two steps in any case, and a kill can hit the deliverer between them.
    #expect(found.doubled.count <= kills)
    #expect(found.calls > kills && found.events > kills, "it did something")
    print(
      "\(kills) kills: \(found.calls) writes, \(found.events) events, "
        + "\(found.deliveries.count) delivered; \(found.doubled.count) of them again, being hit "
        + "between the delivery and its mark")
  }

  /// The position of the group, which a kill leaves as it is.
  private func position(_ scratch: Scratch) -> String {
    let bytes = (try? scratch.bytes("r.sqlite-readers")) ?? []
    let numbers = stride(from: 32, to: bytes.count - 7, by: 8).map { start in
      bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    // The torture has one reader, whose position follows its name.
    return numbers.count > 1 && numbers[0] != 0 ? " \(numbers[1])" : ""
  }

  /// The whole lines of a run's log. The kill cut others off: those lack their `#`, or their end, in which
  /// case another thread's line follows the zeros.
  private func log(_ scratch: Scratch) throws -> String {
    wholeLines(of: try scratch.bytes("log")).map { $0 + "\n" }.joined()
  }

  /// The reader of the log notices what is wrong.
  @Test(arguments: [
    ("begin 1\nS\np a 1\nP a 1\nbegin 2\nS", false, "a lost registration"),
    ("begin 1\nS\np a 1\nbegin 2\nS", true, "a registration under way"),
    ("begin 1\nS\np a 1\nbegin 2\ns a 1 0\nS", true, "a registration under way, stored"),
    ("begin 1\nS\np a 1\nP a 1\nr a\nR a\nbegin 2\ns a 1 0\nS", false, "a registration again"),
    ("begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nbegin 2\ns a 1 7\nS", false, "a lost event"),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nd 7 1\nm 7\nbegin 2\ns a 1 7\nq 7 1\nS", false,
      "a doubled event"
    ),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nd 7 1\nbegin 2\ns a 1 7\nq 7 1\nS\nd 7 1\nm 7",
      true, "an event whose mark was not made"
    ),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nd 7 1\nK 1\nbegin 2\ns a 1 7\nq 7 1\nS", false,
      "a doubled event whose mark was made"
    ),
    ("begin 1\nS\np a 1\nP a 1\nc a 7 a 8\nbegin 2\ns a 1 7\nq 7 1\nS", false, "half a write"),
  ])
  func theLogsReaderNotices(log: String, isRight: Bool, what: String) {
    #expect(TortureLog(log).wrong.isEmpty == isRight, "\(what)")
  }

  /// The disk has what syncs made durable and nothing else: each event of a completed write is there.
  @Test func aPowerCutLosesNoCompletedWrite() throws {
    var (milliseconds, completedWrites) = (100, 0)
    // As long as it takes for some writes on a busy machine.
    while milliseconds < 1000 || completedWrites <= 3 && milliseconds < 120_000 {
      let scratch = try Scratch()
      for folder in ["disk", "copy", "after"] { try scratch.makeFolder(folder) }
      let run = try ChildRun(
        "storage-torture", [scratch["disk/s"], scratch["log"], "1", "power"], syncs: "copy",
        in: scratch)
      usleep(UInt32(milliseconds) * 1000)
      run.kill()
      let completed = run.remainingOutput.split(separator: "\n").compactMap { Int64($0) }
      let names = (try? scratch.bytes("copy/names")) ?? []
      for line in String(decoding: names, as: UTF8.self).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        // A file that has a name and was not synced has no bytes.
        try scratch.write((try? scratch.bytes("copy/\(words[0])")) ?? [], "after/\(words[1])")
      }
      let store = try Store(.file(scratch["after/s"]))
      #expect(store.undelivered.map(\.id).starts(with: completed))
      #expect(store.undelivered.count <= completed.count + 1)
      print("power cut after \(milliseconds) ms: \(completed.count) events")
      completedWrites = completed.count
      milliseconds *= 3
    }
    #expect(completedWrites > 3)
  }

  @Test func aDiskThatTakesTwoSecondsDelaysNoCaller() throws {
    let scratch = try Scratch()
    let run = try ChildRun(
      "storage-torture", [scratch["s"], scratch["log"], "1", "slow"], syncs: "slow", in: scratch
    )
    .finish()
    #expect(run.status == 0, "\(run.output)")
    let numbers = run.output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    try #require(numbers.count == 4, "\(run.output)")
    print("while a sync takes 2 s: write \(numbers[0]) µs at most, markDelivered \(numbers[1]) µs")
    #expect(numbers[0] < 1_000_000 && numbers[1] < 1_000_000)
    #expect(numbers[2] == 1, "the sync still ran after all calls")
    // The one that ran, and one for all 1,000 registrations.
    #expect(numbers[3] <= 4)
    let store = try Store(.file(scratch["s"]))
    #expect(store.registrations.count == 1000 && store.undelivered.isEmpty)
    #expect(store.authorization == "always")
  }

  @Test func aKillDuringASlowSyncDoublesNoDeliveredEvent() throws {
    let scratch = try Scratch()
    let run = try ChildRun(
      "storage-torture", [scratch["s"], scratch["log"], "1", "dies"], syncs: "slow", in: scratch
    )
    .finish()
    #expect(run.status == 128 + 9, "\(run.output)")
    #expect(try Store(.file(scratch["s"])).undelivered.isEmpty)
  }

  @Test func aFileThatCannotGrowIsAnErrorAndLosesNothing() throws {
    let scratch = try Scratch()
    let run = try ChildRun(
      "storage-torture", [scratch["s"], scratch["log"], "1", "full"], in: scratch
    ).finish()
    #expect(run.status == 0, "\(run.output)")
    let numbers = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(numbers.count == 2 && numbers[1] == 3)
    let store = try Store(.file(scratch["s"]))
    #expect(store.registrations.count == numbers.first)
    #expect(store.warnings.isEmpty)
  }
}
