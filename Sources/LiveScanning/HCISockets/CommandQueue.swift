import HCIPackets
import Scanning

/// The commands of this process and others to a controller, which wait for their answers.
struct CommandQueue: Sendable {
  typealias Sent = (command: HCICommand, time: MonotonicTime)

  enum Answered {
    case ours(HCICommand)
    case foreign(HCICommand)
  }

  var outgoing: [HCICommand] = []
  /// This process's command that waits for its answer, and those after it.
  var pending: Sent?
  var waiting: [HCICommand] = []
  /// Others' latest commands that switch the scan and wait for their answers.
  private(set) var foreign: [Sent] = []
  private(set) var latestAnswer: MonotonicTime?

  /// The nanoseconds without an answer after which the controller counts as not answering.
  static let answerLimit: Int64 = 1_000_000_000
  /// The nanoseconds until the kernel gives up a command, after 2 s, and sends the next one.
  static let commandLife: Int64 = 2_050_000_000
  static let maximumForeign = 16

  var isIdle: Bool { pending == nil && waiting.isEmpty }

  /// Returns when the pending answer is overdue, or after that, when the kernel gives it up.
  func deadline(after now: MonotonicTime) -> MonotonicTime? {
    guard let pending else { return nil }
    let late = pending.time.advanced(by: Self.answerLimit)
    return late > now ? late : pending.time.advanced(by: Self.commandLife)
  }

  mutating func send(_ commands: [HCICommand], at now: MonotonicTime) {
    waiting = commands
    sendNext(at: now)
  }

  mutating func sendNext(at now: MonotonicTime) {
    guard pending == nil, !waiting.isEmpty else { return }
    let command = waiting.removeFirst()
    pending = (command, now)
    outgoing.append(command)
  }

  mutating func removeOurs() {
    pending = nil
    waiting = []
  }

  mutating func opened() {
    removeOurs()
    foreign = []
  }

  mutating func closed() {
    removeOurs()
    outgoing = []
  }

  mutating func sent(byOther command: HCICommand, at now: MonotonicTime) {
    switch command.opcode {
    case .reset, .setScanEnable, .setExtendedScanEnable:
      if foreign.count == Self.maximumForeign { foreign.removeFirst() }
      foreign.append((command, now))
    default: break
    }
  }

  /// Returns the command for an answer, or `nil`; of two equal commands, the one seen first.
  mutating func answered(_ opcode: Opcode, at now: MonotonicTime) -> Answered? {
    foreign.removeAll { $0.time < now.advanced(by: -Self.commandLife) }
    let index = foreign.firstIndex { $0.command.opcode == opcode }
    if let pending, pending.command.opcode == opcode,
      index == nil || pending.time < now.advanced(by: -Self.answerLimit)
    {
      self.pending = nil
      latestAnswer = now
      return .ours(pending.command)
    }
    return index.map { .foreign(foreign.remove(at: $0).command) }
  }
}
