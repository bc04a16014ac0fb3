import Records
import Regions
import Scanning
import Testing

@testable import beaconscan

/// What waits while a command of `--exec` runs.
@Suite struct EventCommandsTests {
  private func event(_ number: Int) -> HookEvent {
    HookEvent(
      MonitorEvent(
        .enter, time: WallClockTime(nanoseconds: 0), region: "\(number)", state: .inside,
        reason: RegionTransition.Reason(
          .sighting, lastSighting: nil, samples: 1, exitTimeout: nil, interval: nil, loss: nil),
        offset: .zero, rules: .standard))
  }

  @Test func eventsThatAreDroppedLeaveNothingBehind() {
    var state = EventCommands.State()
    var (begins, sentences) = (0, 0)
    for number in 0..<1000 {
      let result = state.append(event(number))
      begins += result.begins ? 1 : 0
      sentences += result.dropsFirst ? 1 : 0
    }
    // One block takes all that wait, however many were dropped, and they are the newest.
    #expect((begins, sentences) == (1, 1))
    #expect(state.waiting.count == EventCommands.maximumWaiting)
    #expect(state.dropped == 1000 - EventCommands.maximumWaiting)
    for number in 1000 - EventCommands.maximumWaiting..<1000 {
      #expect(state.next()?.title.contains("'\(number)'") == true)
    }
    #expect(state.next() == nil)
    // The next one needs a block again, and one while that runs does not.
    #expect(state.append(event(0)).begins)
    #expect(state.next() != nil)
    #expect(!state.append(event(1)).begins)
    #expect(state.next() != nil)
    #expect(state.next() == nil)
    #expect(state.append(event(2)).begins)
  }
}
