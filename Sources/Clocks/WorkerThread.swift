import Glibc
import Synchronization

/// A thread that works until it is asked to stop. The wait for its end has a time limit.
package final class WorkerThread: Sendable {
  private struct State {
    var isStarted = false
    var isStopping = false
    var hasEnded = false
  }

  private let state = Mutex(State())
  /// The signal that ends the thread's wait: sent when it has work and when it is to stop.
  package let wake = WakeSignal()
  private let ended = WakeSignal()

  package init() {}

  package var isStopping: Bool { state.withLock { $0.isStopping } }

  private enum Start {
    case isRunning
    /// It was started before, or asked to stop.
    case isNotWanted
    case failed
  }

  /// Starts the thread, unless it was started or asked to stop; returns `false` on failure.
  package func start(_ body: @escaping @Sendable () -> Void) -> Bool { begin(body) != .failed }

  /// Starts the thread as ``start(_:)`` does, and returns after the body has ended, or at once if it
  /// does not run; returns `false` on failure.
  package func run(_ body: @escaping @Sendable () -> Void) async -> Bool {
    await withCheckedContinuation { continuation in
      let start = begin {
        body()
        continuation.resume(returning: true)
      }
      if start != .isRunning { continuation.resume(returning: start == .isNotWanted) }
    }
  }

  private func begin(_ body: @escaping @Sendable () -> Void) -> Start {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopping
    }
    guard isFirst else { return .isNotWanted }
    let isRunning = startThread { [self] in
      body()
      end()
    }
    if !isRunning { end() }
    return isRunning ? .isRunning : .failed
  }

  private func end() {
    state.withLock { $0.hasEnded = true }
    ended.send()
  }

  package func requestStop() {
    state.withLock { $0.isStopping = true }
    wake.send()
  }

  /// Waits at most the given seconds until the thread has ended. Only one caller may wait.
  package func waitForEnd(seconds: Double) {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while state.withLock({ $0.isStarted && !$0.hasEnded }) {
      let left = deadline.nanoseconds(since: .now)
      guard left > 0 else { return }
      ended.wait(nanoseconds: left)
    }
  }
}

/// Runs a body on a new thread that takes no signals; returns whether the thread was started.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
  var all = sigset_t()
  var before = sigset_t()
  // The sets outlive the calls. A new thread inherits its creator's signal mask.
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  let argument = unsafe Unmanaged.passRetained(Body(body))
  var thread = pthread_t()
  // The thread takes over the retained reference; without a thread, it is released here.
  let status = unsafe pthread_create(
    &thread, nil,
    { argument in
      if let argument = unsafe argument {
        unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
      }
      return nil
    }, argument.toOpaque())
  guard status == 0 else {
    unsafe argument.release()
    return false
  }
  pthread_detach(thread)
  return true
}
