import Advertising
import CaptureFiles
import Scanning
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Replaying one capture or several, merged by time.
@Suite struct ReplayScannerTests {
  /// What a replay gave to its end.
  private struct Replayed {
    var sightings: [Sighting] = []
    var error: CaptureError?
    var replay: ReplayScanner
    var progress = ScanProgress()

    init(_ files: [TemporaryFile]) throws {
      replay = try ReplayScanner(paths: files.map(\.path))
      var batch: [Sighting] = []
      do {
        while !progress.isOver {
          let before = progress.reached
          progress = try replay.receive(for: .ranging, until: nil, into: &batch)
          sightings += batch
          if let before { #expect(try #require(progress.reached) >= before) }
          for sighting in batch { #expect(try #require(progress.reached) >= sighting.time) }
        }
      } catch let error as CaptureError {
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
    #expect(replayed.progress.began?.nanoseconds == 10_000)
    #expect(replayed.progress.reached?.nanoseconds == 60_000)
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

  /// Each recording is a receiver of its own; the first keeps its adapters' numbers.
  @Test func adaptersOfSeveral() throws {
    func file(_ adapter: UInt16, first: UInt16) throws -> TemporaryFile {
      try TemporaryFile(
        BTSnoopFile.header(datalink: 2001)
          + BTSnoopFile.record(
            Adverts.event(first), microseconds: 1, flags: UInt32(adapter) << 16 | 3))
    }
    let files = [try file(0, first: 0), try file(0, first: 1), try file(2, first: 2)]
    let replayed = try Replayed(files)
    #expect(replayed.sightings.sorted { $0.beacon < $1.beacon }.map(\.adapter) == [0, 100, 202])
    #expect(try Replayed([file(7, first: 0)]).sightings.map(\.adapter) == [7])
    let tapped = Mutex<[UInt16]>([])
    let replay = try ReplayScanner(paths: files.map(\.path), offsets: [100: 3, 2: 9]) {
      _, _, _, adapter in tapped.withLock { $0.append(adapter) }
    }
    var batch: [Sighting] = []
    while try !replay.receive(for: .ranging, until: nil, into: &batch).isOver {}
    #expect(batch.map(\.rssi) == [-64, -67, -64])
    #expect(tapped.withLock { $0.sorted() } == [0, 100, 202])
  }

  /// The clock of one recording was set back: what each call gives has the distance to wall-clock time
  /// of the recording that it comes from.
  @Test func clockSetBackInOneOfTwo() throws {
    let hour: Int64 = 3_600_000_000
    let times = [hour, hour + 1000, 5000, 7000]
    let other = [hour + 500, hour + 2000, hour + 6000]
    let files = [try file(times, first: 0), try file(other, first: 100)]
    let replay = try ReplayScanner(paths: files.map(\.path))
    var batch: [Sighting] = []
    var minors: [UInt16] = []
    var isOver = false
    while !isOver {
      let progress = try replay.receive(for: .ranging, until: nil, into: &batch)
      for sighting in batch {
        #expect(sighting.time.wallClockTime(progress.wallClockOffset) == sighting.wallTime)
      }
      minors += batch.map(\.beacon.minor)
      isOver = progress.isOver
    }
    #expect(minors == [0, 100, 1, 2, 101, 3, 102])
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
      let replay = try ReplayScanner(paths: [long.path])
      var sightings: [Sighting] = []
      _ = try replay.receive(for: .ranging, until: nil, into: &sightings)
      #expect(!sightings.isEmpty)
    }
  }

  @Test func missing() throws {
    let whole = try file([1], first: 0)
    #expect(
      throws: CaptureError(file: "/nonexistent", problem: .cannotOpen(.noSuchFileOrDirectory))
    ) {
      try ReplayScanner(paths: [whole.path, "/nonexistent"])
    }
  }
}
