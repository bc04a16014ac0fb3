import Foundation
import RegionStorage
import TestSupport
import Testing

/// A store whose user is killed at any moment.
@Suite struct KillTests {
  /// 25 kills; `REGION_STORE_KILLS=500` for the full run, `REGION_STORE_SEED` for another one.
  @Test func nothingIsLostOrDoubledOverKills() throws {
    let environment = ProcessInfo.processInfo.environment
    let kills = environment["REGION_STORE_KILLS"].flatMap(Int.init) ?? 25
    let seed = environment["REGION_STORE_SEED"].flatMap(UInt64.init) ?? 1
    print("seed \(seed), \(kills) kills")
    var random = SplitMix64(seed: seed)
    let scratch = try Scratch()
    try scratch.write([], "log")
    let log = try FileHandle(forUpdating: scratch.folder.appending(path: "log"))
    for life in 1...UInt64(kills) {
      try log.seekToEnd()
      try log.write(contentsOf: Data("begin \(life)\n".utf8))
      let start = try log.offset()
      let run = try TortureRun(scratch["r.regions"], scratch["log"], "\(seed * 1000 + life)")
      // Every fourth is killed while it starts.
      let isEarly = random.next() % 4 == 0
      let written = random.next() % 4000
      if !isEarly { try eventually { try log.seekToEnd() > start + written } }
      usleep(UInt32(random.next() % 8000))
      run.kill()
    }
    try log.seekToEnd()
    try log.write(contentsOf: Data("begin last\n".utf8))
    let last = try TortureRun(scratch["r.regions"], scratch["log"], "1", "drain").finish()
    #expect(last.status == 0)

    let told = TortureLog(String(decoding: try scratch.bytes("log"), as: UTF8.self))
    #expect(told.wrong.isEmpty, "\(told.wrong.prefix(5))")
    #expect(told.left == 0)
    // Two deliverers may each be hit once a kill, between the delivery and the end of its mark.
    #expect(told.doubled.count <= 2 * kills)
    #expect(told.calls > kills && told.events > kills, "it did something")
    print(
      "\(kills) kills: \(told.calls) calls, \(told.events) events, \(told.deliveries.count) delivered; "
        + "\(told.doubled.count) of them again, being hit between the delivery and its mark")
  }

  /// The reader of the log sees what is wrong.
  @Test(arguments: [
    ("begin 1\nS\np a 1\nP a 1\nbegin 2\nS", false, "a lost region"),
    ("begin 1\nS\np a 1\nbegin 2\nS", true, "a region under way"),
    ("begin 1\nS\np a 1\nbegin 2\ns a 1 0\nS", true, "a region under way, there"),
    ("begin 1\nS\np a 1\nP a 1\nr a\nR a\nbegin 2\ns a 1 0\nS", false, "a region come back"),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nbegin 2\ns a 1 7\nS", false, "a lost event"
    ),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nd 7 1\nm 7\nbegin 2\ns a 1 7\nq 7 1\nS", false,
      "a doubled event"
    ),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7\nC a 7 1\nd 7 1\nbegin 2\ns a 1 7\nq 7 1\nS\nd 7 1\nm 7",
      true, "an event whose mark was not made"
    ),
    (
      "begin 1\nS\np a 1\nP a 1\nc a 7 a 8\nbegin 2\ns a 1 7\nq 7 1\nS", false, "half a call"
    ),
  ])
  func theLogsReaderSees(log: String, isRight: Bool, what: String) {
    #expect(TortureLog(log).wrong.isEmpty == isRight, "\(what)")
  }

  @Test func aFullDiskIsAnErrorAndLosesNothing() throws {
    let scratch = try Scratch()
    let run = try TortureRun(scratch["r.regions"], scratch["log"], "1", "full").finish()
    #expect(run.status == 0)
    let words = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(words.count == 2 && words[1] == 3)
    let store = try unsynced(scratch["r.regions"])
    #expect(store.regions.count == words.first)
    #expect(store.remarks.isEmpty && store.droppedBytes == 0)
  }
}
