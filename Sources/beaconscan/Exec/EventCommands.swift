import DequeModule
import Dispatch
import Records
import Synchronization

/// The user's command, run for one event after another. Beyond ``maximumWaiting`` the oldest events
/// are dropped, so that a command that hangs neither blocks monitoring nor uses more memory.
final class EventCommands: Sendable {
  static let maximumWaiting = 256

  private let script: String
  /// Whether ``run(on:)`` waits for the command, which makes unpaced replays repeatable.
  private let isWaitedFor: Bool
  private let queue = DispatchQueue(label: "beaconscan.exec")
  private let state = Mutex(State())

  struct State {
    private(set) var waiting: Deque<HookEvent> = []
    private(set) var dropped = 0
    private var isRunning = false

    /// Adds an event. Returns whether the caller must start to run events, and whether this is the
    /// first time that one is dropped.
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

    mutating func next() -> HookEvent? {
      isRunning = !waiting.isEmpty
      return waiting.popFirst()
    }
  }

  init(_ script: String, isWaitedFor: Bool) {
    self.script = script
    self.isWaitedFor = isWaitedFor
  }

  func run(on event: HookEvent) {
    guard !isWaitedFor else { return runNow(event) }
    let (begins, dropsFirst) = state.withLock { $0.append(event) }
    if dropsFirst {
      printError(
        "beaconscan: --exec: the command is slower than the events; of more than "
          + "\(Self.maximumWaiting) that wait, the oldest are dropped")
    }
    // One block runs all waiting events, so dropped ones leave no blocks.
    if begins { queue.async { self.runAll() } }
  }

  func finish() {
    let end = DispatchSemaphore(value: 0)
    queue.async { end.signal() }
    var isReported = false
    while end.wait(timeout: .now() + 1) == .timedOut {
      guard Interrupt.isRequested, !isReported else { continue }
      isReported = true
      printError(
        "beaconscan: --exec: the command still runs and is waited for; interrupt again to leave it")
    }
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
