import DequeModule
import Dispatch
import Records
import Synchronization

/// The user's command, run for one event after the other, in their order.
///
/// While monitoring goes on, events wait: at most ``maximumWaiting``, then the oldest are dropped, so that a
/// command that hangs neither stops monitoring nor makes memory grow, and the last state comes through.
final class EventCommands: Sendable {
  /// The most events that wait.
  static let maximumWaiting = 256

  /// What the shell is given.
  private let script: String
  /// Whether ``run(on:)`` returns when the command has run: in a recording that is not paced, so that a run can be
  /// repeated.
  private let isWaitedFor: Bool
  private let queue = DispatchQueue(label: "beaconscan.exec")
  private let state = Mutex(State())

  /// The events that wait.
  struct State {
    private(set) var waiting: Deque<HookEvent> = []
    private(set) var dropped = 0
    /// Whether something takes them.
    private var isRunning = false

    /// Adds an event. Returns whether something must take them now, and whether this one is the first for which another
    /// one is dropped.
    mutating func append(_ event: HookEvent) -> (begins: Bool, dropsFirst: Bool) {
      waiting.append(event)
      let drops = waiting.count > EventCommands.maximumWaiting
      if drops {
        waiting.removeFirst()
        dropped += 1
      }
      defer { isRunning = true }
      return (!isRunning, drops && dropped == 1)
    }

    /// Returns the next event; `nil` where nothing takes them any more.
    mutating func next() -> HookEvent? {
      isRunning = !waiting.isEmpty
      return waiting.popFirst()
    }
  }

  init(_ script: String, isWaitedFor: Bool) {
    (self.script, self.isWaitedFor) = (script, isWaitedFor)
  }

  /// Runs the command on an event, now or when those before have run.
  func run(on event: HookEvent) {
    guard !isWaitedFor else { return runNow(event) }
    let (begins, dropsFirst) = state.withLock { $0.append(event) }
    if dropsFirst {
      printError(
        "beaconscan: --exec: the command is slower than the events; of more than "
          + "\(Self.maximumWaiting) that wait, the oldest are dropped")
    }
    // One block for all that wait: it is not of the events that are dropped.
    if begins { queue.async { self.runAll() } }
  }

  /// Waits until the command has run on every event; after an interrupt, only for the one that runs.
  func finish() {
    queue.sync {}
    let (left, dropped) = state.withLock { ($0.waiting.count, $0.dropped) }
    if dropped + left > 0 {
      let missed = counted(dropped + left, "event")
      printError("beaconscan: --exec: the command was not run on \(missed)")
    }
  }

  private func runAll() {
    while !Interrupt.isRequested, let event = state.withLock({ $0.next() }) { runNow(event) }
  }

  private func runNow(_ event: HookEvent) {
    guard let failure = EventCommand(script: script).run(on: event) else { return }
    printError("beaconscan: --exec: \(failure) (\(event.title))")
  }
}
