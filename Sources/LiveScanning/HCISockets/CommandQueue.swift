import HCIPackets
import Scanning

/// The commands of this process to a controller, of which one at a time waits for its answer, and
/// those of other programs, whose answers come to this process too.
struct CommandQueue: Sendable {
  typealias Sent = (command: HCICommand, time: MonotonicTime)

  /// A command that was answered.
  enum Answered {
    case ours(HCICommand)
    case foreign(HCICommand)
  }

  /// The commands to send, in order; the sender removes them.
  var outgoing: [HCICommand] = []
  /// The command of ours that waits for its answer.
  private(set) var pending: Sent?
  /// The commands of ours that come after it.
  private(set) var waiting: [HCICommand] = []
  /// The commands of others that switch the scan and wait for their answer: the latest 16.
  private(set) var foreign: [Sent] = []
  /// The time of the latest answer to a command of ours.
  private(set) var latestAnswer: MonotonicTime?

  /// The time that an answer may take before the controller counts as not answering, in
  /// nanoseconds.
  static let answerLimit: Int64 = 1_000_000_000
  /// The kernel gives up a command after 2 s, and only then sends the next.
  static let commandLife: Int64 = 2_050_000_000
  /// The greatest number of commands of others that are remembered.
  static let maximumForeign = 16

  /// Indicates whether no command of ours is pending or waits.
  var isIdle: Bool { pending == nil && waiting.isEmpty }

  /// Returns the time at which an answer is overdue, and after that the time at which the kernel
  /// gives its command up.
  func deadline(after now: MonotonicTime) -> MonotonicTime? {
    guard let pending else { return nil }
    let late = pending.time.advanced(by: Self.answerLimit)
    return late > now ? late : pending.time.advanced(by: Self.commandLife)
  }

  /// Sends commands one after the other, in the place of those that wait.
  mutating func send(_ commands: [HCICommand], at now: MonotonicTime) {
    waiting = commands
    sendNext(at: now)
  }

  /// Sends a command whose answer does not matter, before any that waits.
  mutating func sendWithoutAnswer(_ command: HCICommand) { outgoing.append(command) }

  /// Sends the next command, unless one waits for its answer.
  mutating func sendNext(at now: MonotonicTime) {
    guard pending == nil, !waiting.isEmpty else { return }
    let command = waiting.removeFirst()
    pending = (command, now)
    outgoing.append(command)
  }

  /// Removes the commands that wait.
  mutating func removeWaiting() { waiting = [] }

  /// Ends the wait for an answer, which does not come or means nothing any more.
  mutating func removePending() { pending = nil }

  /// Removes the commands of ours, but for those to send.
  mutating func removeOurs() { (pending, waiting) = (nil, []) }

  /// Starts anew, with another socket.
  mutating func opened() {
    removeOurs()
    foreign = []
  }

  /// Removes the commands of ours, none of which can be sent.
  mutating func closed() {
    removeOurs()
    outgoing = []
  }

  /// Records a command that another program sent.
  mutating func sent(byOther command: HCICommand, at now: MonotonicTime) {
    switch command.opcode {
    case .reset, .setScanEnable, .setExtendedScanEnable:
      if foreign.count == Self.maximumForeign { foreign.removeFirst() }
      foreign.append((command, now))
    default: break
    }
  }

  /// Receives an answer, and returns the command that it answers; `nil` where it is not known.
  ///
  /// Of two equal commands, the one that was seen first is answered first.
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
