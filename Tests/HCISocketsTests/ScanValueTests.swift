import HCIPackets
import Scanning
import TestSupport
import Testing

@testable import LiveScanning

/// The values of a scan control, each in random orders of its events.
@Suite struct ScanValueTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

  // MARK: Commands

  /// Our commands are sent in order, the next one only after the answer or the end of the wait; each answer is that of
  /// one command.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func oneCommandAtATimeWaitsForItsAnswer(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var queue = CommandQueue()
    var now = Self.start
    let opcodes: [Opcode] = [
      .setScanEnable, .setExtendedScanEnable, .setScanParameters, .readLocalVersion,
    ]
    /// The commands that were requested and neither sent nor removed.
    var requested: [HCICommand] = []
    var sent = 0
    var answered = 0
    var foreign = 0
    for number in 0..<2000 {
      now = now.advanced(by: Int64(random.uniform(0, 0.4) * 1e9))
      let opcode = opcodes.randomElement(using: &random) ?? .reset
      let pending = queue.pending
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        requested = (0..<3).map { HCICommand(opcode, [UInt8(number % 256), $0]) }
        queue.send(requested, at: now)
      case 2:
        queue.waiting = []
        requested = []
      case 3:
        queue.pending = nil
      case 4:
        queue.sendNext(at: now)
      case 5, 6:
        queue.sent(byOther: HCICommand(opcode), at: now)
        if opcode == .setScanEnable || opcode == .setExtendedScanEnable { foreign += 1 }
      case 7 where random.uniform() < 0.1:
        queue.opened()
        requested = []
        #expect(queue.foreign.isEmpty && queue.isIdle)
      default:
        switch queue.answered(opcode, at: now) {
        case .ours(let command):
          answered += 1
          #expect(pending?.command == command && command.opcode == opcode)
          #expect(queue.pending == nil && queue.latestAnswer == now)
        case .foreign(let command):
          foreign -= 1
          #expect(command.opcode == opcode && foreign >= 0)
        case nil:
          #expect(pending.map { $0.command.opcode != opcode } ?? true)
        }
      }
      // Whatever was sent is the next of those that were requested, and nothing was on its way before.
      for command in queue.outgoing {
        #expect(command == requested.first && queue.pending?.command == command)
        #expect(pending == nil, "one waits already")
        requested = Array(requested.dropFirst())
        sent += 1
      }
      #expect(queue.outgoing.count <= 1)
      queue.outgoing = []
      #expect(queue.waiting == requested)
      #expect(queue.foreign.count <= CommandQueue.maximumForeign)
      #expect((queue.deadline(after: now) == nil) == (queue.pending == nil))
    }
    #expect(answered <= sent)
  }

  /// An answer is that of the command that was seen first, unless ours is late.
  @Test func ofTwoEqualCommandsTheFirstIsAnsweredFirst() {
    var queue = CommandQueue()
    queue.send([HCICommand(.setScanEnable, [1, 0])], at: Self.start)
    queue.sent(byOther: HCICommand(.setScanEnable, [1, 1]), at: Self.start)
    guard case .foreign = queue.answered(.setScanEnable, at: Self.start) else {
      Issue.record("it is the other program's")
      return
    }
    queue.sent(byOther: HCICommand(.setScanEnable, [1, 1]), at: Self.start)
    let late = Self.start.advanced(by: CommandQueue.answerLimit + 1)
    guard case .ours = queue.answered(.setScanEnable, at: late) else {
      Issue.record("it is ours")
      return
    }
    // The kernel has given the other one up.
    #expect(queue.foreign.count == 1)
    let given = Self.start.advanced(by: CommandQueue.commandLife + 1)
    #expect(queue.answered(.setScanEnable, at: given) == nil)
    #expect(queue.foreign.isEmpty)
  }

  // MARK: Ownership

  /// A scan that is ours may be ours, one that ended is neither, and takeovers end.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func takeoversEnd(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var ownership = ScanOwnership()
    var takeovers: [ScanOwnership.Takeover] = []
    for _ in 0..<1000 {
      let wasOurs = ownership.isOurs
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where random.uniform() < 0.3:
        ownership.started()
        takeovers = []
        #expect(ownership.isOurs)
      case 1: ownership.isOurs = false
      case 2:
        #expect(ownership.ended() == wasOurs)
        #expect(!ownership.mayBeOurs)
      case 3:
        ownership.mayBeOurs = true
        #expect(ownership.isOurs == wasOurs)
      case 4: ownership.adopt()
      case 5:
        ownership.needsCensus = true
        #expect(ownership.needsCensus)
        ownership.needsCensus = false
      default:
        takeovers.append(ownership.takeOver())
        #expect(ownership.isOurs || takeovers.last == .impossible)
      }
      #expect(!ownership.isOurs || ownership.mayBeOurs)
      let cycle: [ScanOwnership.Takeover] = [.sameCommands, .otherCommands, .impossible]
      #expect(takeovers.enumerated().allSatisfy { $0.element == cycle[$0.offset % 3] })
      #expect(!ownership.needsCensus)
    }
  }

  // MARK: Setup

  @Test(arguments: [false, true], [false, true])
  func aStartIsOfOneCommandSet(isExtended: Bool, supportsCoded: Bool) {
    for endsOurs in [false, true] { start(isExtended, supportsCoded, endingOurs: endsOurs) }
  }

  private func start(_ isExtended: Bool, _ supportsCoded: Bool, endingOurs endsOurs: Bool) {
    var setup = ScanSetup()
    #expect(setup.start(endingOurs: endsOurs).isEmpty && setup.parameters == nil)
    setup.wanted = ScanParameters(interval: 96, window: 96, usesCodedPHY: true)
    #expect(
      setup.start(endingOurs: endsOurs).map(\.opcode)
        == [.readLocalSupportedCommands, .readLocalLEFeatures])
    var commands = [UInt8](repeating: 0, count: 64)
    if isExtended { commands[37] = 0x60 }
    #expect(!answer(&setup, .readLocalSupportedCommands, commands))
    #expect(setup.lacksCodedPHY)
    #expect(answer(&setup, .readLocalLEFeatures, [0, supportsCoded ? 0x08 : 0]))
    #expect(setup.lacksCodedPHY == !supportsCoded)
    for _ in 0..<2 {
      let start = setup.start(endingOurs: endsOurs)
      #expect(start.map { setup.step(of: $0) } == (endsOurs ? [.off] : []) + [.parameters, .on])
      #expect(start.last == setup.on && (!endsOurs || start.first == setup.off))
      #expect(start.allSatisfy { setup.isSwitch($0) == (setup.step(of: $0) != .parameters) })
      let set = setup.commandSet
      setup.useOther()
      #expect(setup.commandSet != set)
      #expect(start.allSatisfy { setup.step(of: $0) == nil })
    }
    setup.forget()
    #expect(setup.on == nil && setup.off == nil && setup.commandSet == nil)
  }

  private func answer(_ setup: inout ScanSetup, _ opcode: Opcode, _ values: [UInt8]) -> Bool {
    let bytes: [UInt8] =
      [
        0x0E, UInt8(4 + values.count), 1, UInt8(opcode.rawValue & 0xFF),
        UInt8(opcode.rawValue >> 8), 0,
      ] + values
    // Only initialized integers, which stay.
    guard let result = unsafe CommandResult(bytes.span.bytes) else { return false }
    return setup.answered(result)
  }

  // MARK: The reported state

  /// Each change differs from the one before, and none began before it, whenever it was noticed.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func changesAreInOrder(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var state = ReportedState()
    var latest: ReportedState.Change?
    for _ in 0..<1000 {
      let condition =
        ScannerHealth.Condition.allCases.randomElement(using: &random) ?? .scanning
      let isLost: Bool? = random.uniform() < 0.5 ? nil : random.next() % 2 == 0
      let time = Self.start.advanced(by: Int64(random.uniform(-1e9, 1e9)))
      state.report(condition, since: time, isReceptionLost: isLost)
      let changes = state.removeChanges()
      #expect(changes.count <= 1)
      if let change = changes.first {
        #expect(change.time >= latest?.time ?? change.time)
        #expect(
          change.condition != latest?.condition || change.isReceptionLost != latest?.isReceptionLost
        )
        latest = change
      }
      #expect(state.condition == condition)
      #expect(state.isReceptionLost == isLost ?? condition.isFault)
      #expect(latest?.condition == condition)
    }
    state.forget()
    state.report(.scanning, since: Self.start)
    state.forget()
    state.report(.scanning, since: Self.start)
    #expect(state.removeChanges().count == 2)
  }

  // MARK: Silence

  /// The longer the silence, the rarer the retries; an advert ends it.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<20 as Range<UInt64>)
  func retriesBecomeRare(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var silence = AdvertSilence()
    #expect(!silence.isQuiet(at: Self.start), "no scan has begun")
    var now = Self.start
    silence.began(at: now)
    for _ in 0..<5 {
      let began = now
      var retries: [MonotonicTime] = []
      for _ in 0..<2000 {
        now = now.advanced(by: Int64(random.uniform(0, 4) * 1e9))
        let length = now.nanoseconds(since: began)
        #expect(silence.isQuiet(at: now) == (length >= silence.timeout))
        #expect(
          silence.probeInterval(at: now) == (length >= 10_000_000_000 ? 4 : 1) * 1_000_000_000)
        if silence.isQuiet(at: now), silence.retries(at: now) { retries.append(now) }
      }
      let intervals = zip(retries.dropFirst(), retries).map { $0.nanoseconds(since: $1) }
      // Each is twice as long as the one before, up to ten minutes; a step takes four seconds at most.
      #expect(intervals.count >= 5 && intervals.first.map { $0 < 30_000_000_000 } == true)
      for (next, interval) in zip(intervals.dropFirst(), intervals) {
        #expect(next >= min(interval * 2 - 8_000_000_000, 600_000_000_000))
        #expect(next <= 604_000_000_000)
      }
      silence.received(at: now)
      #expect(silence.latestReport == now && !silence.isQuiet(at: now))
    }
  }

  // MARK: Proof

  /// Absence means something once an advert came in the other adapter's place, and twice where a filter may be on.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func absenceMeansSomethingOnceProven(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var proof = AbsenceProof()
    var (place, hasReceived, mayBeFiltered) = (String?.none, false, false)
    var seen: Set<Int> = []
    for _ in 0..<1000 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where random.uniform() < 0.3:
        let other = [nil, "hci1", "hci2"].randomElement(using: &random) ?? nil
        proof.opened(inPlaceOf: other)
        if other != place { (place, hasReceived) = (other, false) }
        mayBeFiltered = false
      case 1:
        proof.filterUnknown()
        (mayBeFiltered, seen) = (true, [])
      case 2:
        proof.filterKnown()
        mayBeFiltered = false
      case 3, 4:
        #expect(proof.received() == (place != nil && !hasReceived))
        hasReceived = true
      default:
        let hash = Int.random(in: 0..<40, using: &random)
        let isRepeated = mayBeFiltered && !seen.insert(hash).inserted
        #expect(proof.received(hash, at: Self.start) == isRepeated)
        if isRepeated { mayBeFiltered = false }
      }
      #expect(proof.mayBeFiltered == mayBeFiltered)
      #expect(proof.isMissing == (mayBeFiltered || place != nil && !hasReceived))
      #expect((proof.detail != nil) == (place != nil))
      if let place { #expect(proof.detail?.contains(place) == true) }
    }
  }
}
