import Advertising
import CaptureFiles
import Scanning
import SystemPackage
import TestSupport
import Testing

/// Replaying one capture or several, merged by time.
@Suite struct CaptureReplayTests {
  /// What a replay gave to its end.
  private struct Replayed {
    var sightings: [Sighting] = []
    var error: CaptureError?
    var replay: CaptureReplay

    init(_ files: [TemporaryFile]) throws {
      replay = try CaptureReplay(paths: files.map(\.path))
      var latest = MonotonicTime(nanoseconds: .min)
      do throws(CaptureError) {
        while true {
          let progress = try replay.nextBatch()
          sightings += replay.sightings
          #expect(replay.time >= latest)
          #expect(replay.sightings.allSatisfy { $0.time <= replay.time })
          latest = replay.time
          if progress == .end { break }
        }
      } catch {
        self.error = error
      }
    }
  }

  private func file(_ times: [Int64], first: UInt16, cut: Int = 0) throws -> TemporaryFile {
    let records = times.enumerated().flatMap { index, time in
      BTSnoopFile.record(Adverts.h4(first &+ UInt16(index)), microseconds: time)
    }
    return try TemporaryFile(Array((BTSnoopFile.header() + records).dropLast(cut)))
  }

  @Test func two() throws {
    let files = [try file([10, 30, 50], first: 0), try file([20, 30, 40, 60], first: 100)]
    let replayed = try Replayed(files)
    #expect(replayed.error == nil)
    #expect(replayed.sightings.map(\.beacon.minor) == [0, 100, 1, 101, 102, 2, 103])
    #expect(replayed.replay.counts.sightings == 7)
    #expect(replayed.replay.firstTime?.nanoseconds == 10_000)
    #expect(replayed.replay.time.nanoseconds == 60_000)
    #expect(replayed.replay.statuses.map(\.counts.packets) == [3, 4])
  }

  /// Any number of files with any times: the merge is what sorting gives, and loses nothing.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func several(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var files: [TemporaryFile] = []
    var expected: [(time: Int64, minor: UInt16)] = []
    for number in 0..<(1 + seed % 5) {
      let count = [0, 1, 3000, 500].randomElement(using: &random) ?? 0
      let times = (0..<count).map { _ in Int64(random.next() % 5_000_000) }.sorted()
      let first = UInt16(number) * 5000
      files.append(try file(times, first: first))
      for (index, time) in times.enumerated() { expected.append((time, first + UInt16(index))) }
    }
    let replayed = try Replayed(files)
    #expect(replayed.error == nil, "seed \(seed)")
    let times = replayed.sightings.map(\.time.nanoseconds)
    let isSorted = times == expected.map { $0.time * 1000 }.sorted()
    #expect(isSorted, "seed \(seed)")
    let isComplete =
      replayed.sightings.map(\.beacon.minor).sorted() == expected.map(\.minor).sorted()
    #expect(isComplete, "seed \(seed)")
  }

  /// A damaged file among others: everything whole is given, then its error.
  @Test func oneIsCut() throws {
    let files = [
      try file([10, 20, 30], first: 0, cut: 5), try file([15, 25, 35, 45], first: 100),
    ]
    let replayed = try Replayed(files)
    #expect(replayed.sightings.map(\.beacon.minor) == [0, 100, 1, 101, 102, 103])
    #expect(replayed.error?.file == files[0].path)
    guard case .cutShort? = replayed.error?.problem else {
      Issue.record("\(String(describing: replayed.error))")
      return
    }
  }

  @Test func oneCutAlone() throws {
    let replayed = try Replayed([try file(Array(0..<5000), first: 0, cut: 1)])
    #expect(replayed.sightings.count == 4999)
    #expect(replayed.error != nil)
  }

  /// Replays that are given up early end without trouble.
  @Test func givenUp() throws {
    let long = try file(Array(0..<20_000), first: 0)
    for _ in 0..<20 {
      let replay = try CaptureReplay(paths: [long.path])
      for _ in 0..<600 where replay.sightings.isEmpty { _ = try replay.nextBatch() }
      #expect(!replay.sightings.isEmpty)
    }
  }

  @Test func missing() throws {
    let whole = try file([1], first: 0)
    #expect(
      throws: CaptureError(file: "/nonexistent", problem: .cannotOpen(.noSuchFileOrDirectory))
    ) {
      try CaptureReplay(paths: [whole.path, "/nonexistent"])
    }
  }
}
