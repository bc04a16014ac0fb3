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

  private struct State {
    var waiting: [HookEvent] = []
    var dropped = 0
  }

  init(_ script: String, isWaitedFor: Bool) {
    (self.script, self.isWaitedFor) = (script, isWaitedFor)
  }

  /// Runs the command on an event, now or when those before have run.
  func run(on event: HookEvent) {
    guard !isWaitedFor else { return runNow(event) }
    let isFirstDropped = state.withLock { state in
      state.waiting.append(event)
      guard state.waiting.count > Self.maximumWaiting else { return false }
      state.waiting.removeFirst()
      state.dropped += 1
      return state.dropped == 1
    }
    if isFirstDropped {
      printError(
        "beaconscan: --exec: the command is slower than the events; of more than "
          + "\(Self.maximumWaiting) that wait, the oldest are dropped")
    }
    queue.async { self.runNext() }
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

  private func runNext() {
    guard !Interrupt.isRequested else { return }
    let event = state.withLock { state in
      state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
    if let event { runNow(event) }
  }

  private func runNow(_ event: HookEvent) {
    guard let failure = EventCommand(script: script).run(on: event) else { return }
    printError("beaconscan: --exec: \(failure) (\(event.title))")
  }
}
