import Glibc
import Synchronization

/// A thread that works until it is asked to stop, and whose end is waited for only so long.
package final class WorkerThread: Sendable {
  private struct State {
    var isStarted = false
    var isStopping = false
    var hasEnded = false
  }

  private let state = Mutex(State())
  /// Ends a wait of the thread: sent when it has work, and when it is to stop.
  package let wake = WakeSignal()
  private let ended = WakeSignal()

  package init() {}

  /// Whether the thread was asked to stop.
  package var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Starts the thread, once, and not after a request to stop.
  ///
  /// - Returns: `false` where no thread can be started.
  package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopping
    }
    guard isFirst else { return true }
    let isRunning = startThread { [self] in
      body()
      end()
    }
    if !isRunning { end() }
    return isRunning
  }

  private func end() {
    state.withLock { $0.hasEnded = true }
    ended.send()
  }

  /// Asks the thread to stop.
  package func requestStop() {
    state.withLock { $0.isStopping = true }
    wake.send()
  }

  /// Waits until the thread has ended, or for a number of seconds. One caller at a time may wait.
  package func waitForEnd(seconds: Double) {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while state.withLock({ $0.isStarted && !$0.hasEnded }) {
      let left = deadline.nanoseconds(since: .now)
      guard left > 0 else { return }
      ended.wait(nanoseconds: left)
    }
  }
}

/// Runs a body on a thread of its own, which takes no signals.
///
/// - Returns: Whether there is such a thread.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
  var all = sigset_t()
  var before = sigset_t()
  // The sets outlive the calls. A thread inherits what the one that starts it blocks.
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  let argument = unsafe Unmanaged.passRetained(Body(body))
  var thread = pthread_t()
  // The thread takes over the reference that it is given; without a thread, it is released here.
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
