import CaptureFiles
import Clocks
import Sources
import TestSupport
import Testing

/// What captures and tracks have in common when they are played back, against a model: seeded recordings of which reads bring
/// anything from nothing to several inputs, pause in between as pipes do, and fail.
@Suite(.timeLimit(.minutes(10))) struct PlaybackTests {
  /// Something of a recording: when, in which one, and its wall-clock time.
  struct Item: Hashable, Sendable {
    var time: MonotonicTime
    var recording: Int
    var wallClockTime: WallClockTime
  }

  struct State: SourceHealth {
    var time = MonotonicTime(nanoseconds: 0)
    var isFault: Bool { false }
    var sentence = ""
    var availability: ScannerAvailability { .available }
    func isRepetition(of other: Self) -> Bool { true }
  }

  struct Damage: Error, Equatable { let recording: Int }

  /// A recording whose reads are given.
  final class Script: Recording {
    typealias Health = State

    enum Read {
      case items([Item], WallClockOffset)
      case nothing
      case damage(Damage)
    }

    var inputs: [Item] = []
    var next = 0
    private var reads: [Read]
    private(set) var firstTime: MonotonicTime?
    private(set) var time = MonotonicTime(nanoseconds: .min)
    private(set) var wallClockOffset = WallClockOffset.zero
    private(set) var waits = 0

    init(_ reads: [Read]) { self.reads = reads.reversed() }

    func read() throws -> ReadingProgress {
      switch reads.popLast() {
      case nil: return .end
      case .nothing: return .caughtUp
      case .damage(let damage): throw damage
      case .items(let items, let offset):
        inputs += items
        wallClockOffset = offset
        firstTime = firstTime ?? items.first?.time
        time = items.last?.time ?? time
        return .more
      }
    }

    func wait() { waits += 1 }

    static func time(of item: Item) -> MonotonicTime { item.time }
  }

  /// The reads of some recordings, and what they hold.
  private static func recordings(
    _ random: inout SplitMix64
  ) -> (reads: [[Script.Read]], items: [Item], damage: [Damage]) {
    var (all, items, damage): ([[Script.Read]], [Item], [Damage]) = ([], [], [])
    for recording in 0..<Int.random(in: 1...4, using: &random) {
      var reads: [Script.Read] = []
      var time = Int64.random(in: 0...20, using: &random)
      var offset: Int64 = 0
      for _ in 0..<Int.random(in: 0...40, using: &random) {
        switch Int.random(in: 0...9, using: &random) {
        case 0: reads.append(.nothing)
        case 1:
          // The recording's clock was set back.
          offset -= 1000
          fallthrough
        default:
          let batch = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            time += Int64.random(in: 0...3, using: &random)
            return Item(
              time: MonotonicTime(nanoseconds: time), recording: recording,
              wallClockTime: WallClockTime(nanoseconds: time + offset))
          }
          items += batch
          reads.append(.items(batch, WallClockOffset(nanoseconds: offset)))
        }
      }
      if Int.random(in: 0...3, using: &random) == 0 {
        damage.append(Damage(recording: recording))
        reads.append(.damage(Damage(recording: recording)))
      }
      all.append(reads)
    }
    items.sort { ($0.time, $0.recording) < ($1.time, $1.recording) }
    return (all, items, damage)
  }

  /// However fast: everything once, in the order of time, each call with the distance to the wall clock of what it gave, and a
  /// failure behind all else.
  @Test(arguments: [nil, 1e9, 1e3])
  func givesWhatSortingGives(factor: Double?) throws {
    for seed in 0..<(factor == 1e3 ? 300 : 2000) as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let (reads, items, damage) = Self.recordings(&random)
      let duration = Bool.random(using: &random) ? Int64.random(in: 1...150, using: &random) : nil
      var playback = Playback(reads.map(Script.init), factor: factor, duration: duration)
      if Bool.random(using: &random) { playback.readFirst() }
      var given: [Item] = []
      var thrown: Damage?
      var latest: MonotonicTime?
      var batch: [Item] = []
      do {
        var isOver = false
        while !isOver {
          let progress = try playback.receive(until: nil, into: &batch)
          isOver = progress.isOver
          given += batch
          for item in batch {
            #expect(item.time.wallClockTime(progress.wallClockOffset) == item.wallClockTime)
            #expect(try #require(progress.reached) >= item.time)
          }
          if let latest { #expect(try #require(progress.reached) >= latest) }
          latest = progress.reached
        }
      } catch let error as Damage {
        thrown = error
      }
      let first = items.map(\.time).min()
      let expected = items.filter { item in
        guard let duration, let first else { return true }
        return item.time < first.advanced(by: duration)
      }
      guard given == expected, thrown == damage.first, !playback.isHolding || thrown != nil else {
        Issue.record(
          "seed \(seed): \(given.count) of \(expected.count), \(String(describing: thrown))")
        return
      }
    }
  }

  /// A pipe in which nothing is there yet is waited for only where nothing else is to be given.
  @Test func waitsOnlyWithoutAnything() throws {
    let item = Item(
      time: MonotonicTime(nanoseconds: 1), recording: 0,
      wallClockTime: WallClockTime(nanoseconds: 1))
    let script = Script([.items([item], .zero), .nothing, .items([item], .zero)])
    var playback = Playback([script], factor: 1e9, duration: nil)
    var batch: [Item] = []
    _ = try playback.receive(until: nil, into: &batch)
    #expect(batch == [item])
    #expect(script.waits == 0)
  }
}
