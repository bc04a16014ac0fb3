import HCIPackets
import Scanning

/// This process's commands to a controller, of which one at a time waits for its answer, and other
/// programs' commands, whose answers this process receives too.
struct CommandQueue: Sendable {
  typealias Sent = (command: HCICommand, time: MonotonicTime)

  enum Answered {
    case ours(HCICommand)
    case foreign(HCICommand)
  }

  /// The commands to send, in order; the sender removes them.
  var outgoing: [HCICommand] = []
  /// Our command that waits for its answer.
  private(set) var pending: Sent?
  /// Our commands after it.
  private(set) var waiting: [HCICommand] = []
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

  /// Sends commands one after the other, in place of those that wait.
  mutating func send(_ commands: [HCICommand], at now: MonotonicTime) {
    waiting = commands
    sendNext(at: now)
  }

  /// Sends a command whose answer does not matter, before any that waits.
  mutating func sendWithoutAnswer(_ command: HCICommand) { outgoing.append(command) }

  /// Sends the next command, unless another one waits for its answer.
  mutating func sendNext(at now: MonotonicTime) {
    guard pending == nil, !waiting.isEmpty else { return }
    let command = waiting.removeFirst()
    pending = (command, now)
    outgoing.append(command)
  }

  mutating func removeWaiting() { waiting = [] }

  mutating func removePending() { pending = nil }

  mutating func removeOurs() { (pending, waiting) = (nil, []) }

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
