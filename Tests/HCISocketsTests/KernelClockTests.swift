import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// Time stamps of a clock that somebody may set, on a line that nobody can.
@Suite struct KernelClockTests {
  private let wall = WallClockTime(nanoseconds: 1_800_000_000_000_000_000)
  private let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

  @Test func aStampIsAsOldAsItSays() {
    var clock = KernelClock(now: start, wall: wall)
    clock.read(at: start.advanced(by: 100_000_000), wall: wall.advanced(by: 100_000_000))
    #expect(clock.moment(of: wall.advanced(by: 30_000_000)) == start.advanced(by: 30_000_000))
    #expect(clock.moment(of: wall.advanced(by: 99_000_000)) == start.advanced(by: 99_000_000))
  }

  @Test(arguments: [-86_400_000_000_000, -1_000_000_000, 1_000_000_000, 86_400_000_000_000])
  func aStepOfTheWallsClockMovesNothingFar(step: Int64) {
    var clock = KernelClock(now: start, wall: wall)
    // Packets of 10 ms each in 100 ms, and in the middle the clock is set.
    let end = start.advanced(by: 100_000_000)
    clock.read(at: end, wall: wall.advanced(by: 100_000_000 + step))
    for number in 0..<10 {
      let true_ = Int64(number) * 10_000_000
      let stamp = wall.advanced(by: true_ + (number < 5 ? 0 : step))
      let moment = clock.moment(of: stamp)
      #expect(moment >= start && moment <= end)
      if number >= 5 { #expect(abs(moment.nanoseconds(since: start) - true_) <= 100_000_000) }
    }
    clock.emptied()
    // The next reading knows nothing of it any more.
    clock.read(
      at: end.advanced(by: 100_000_000), wall: wall.advanced(by: 200_000_000 + step))
    #expect(
      clock.moment(of: wall.advanced(by: 150_000_000 + step)) == start.advanced(by: 150_000_000))
  }

  @Test func neverGoesBackNorAhead() {
    var random = SplitMix64(seed: 7)
    var clock = KernelClock(now: start, wall: wall)
    var now = start
    var latest = start
    for _ in 0..<2000 {
      now = now.advanced(by: Int64.random(in: 0...50_000_000, using: &random))
      clock.read(
        at: now, wall: WallClockTime(nanoseconds: Int64.random(in: 0 ... .max / 2, using: &random)))
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let moment = clock.moment(
          of: WallClockTime(nanoseconds: .random(in: .min ... .max, using: &random)))
        #expect(moment >= latest && moment <= now)
        latest = moment
      }
      if Bool.random(using: &random) { clock.emptied() }
    }
  }
}

/// The longest time without a packet.
@Suite struct LongestGapTests {
  @Test func itIsTheLongest() {
    func time(_ seconds: Int64) -> MonotonicTime {
      MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }
    var gap = LongestGap(at: time(1))
    #expect(gap.length == 0 && gap.latest == time(1))
    for moment in [2, 3, 9, 11, 12] as [Int64] { gap.end(at: time(moment)) }
    #expect(gap.from == time(3) && gap.to == time(9))
    // Neither one that is as long nor a step back changes it.
    for moment in [18, 4, 19] as [Int64] { gap.end(at: time(moment)) }
    #expect(gap.from == time(3) && gap.to == time(9) && gap.latest == time(19))
  }
}
