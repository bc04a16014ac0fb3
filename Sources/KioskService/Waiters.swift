import Dispatch
import Synchronization

/// Tasks that wait for a change. Without one, they continue every ``interval`` seconds.
final class Waiters: Sendable {
  static let interval = 15.0

  private struct State {
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var latest: UInt64 = 0
    var isClosed = false
    var timer: (any DispatchSourceTimer)?

    mutating func resumeAll() {
      for task in waiting.values { task.resume() }
      waiting = [:]
    }

    mutating func stopTimer() {
      timer?.cancel()
      timer = nil
    }
  }

  private let state = Mutex(State())

  func wake() { state.withLock { $0.resumeAll() } }

  /// Resumes every task for good: later ones do not wait.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.stopTimer()
      state.resumeAll()
    }
  }

  /// Waits until ``wake()``, for ``interval``, or until the task is canceled, unless `isReady`
  /// returns `true`. That is called under a lock; its data must change before ``wake()`` is called.
  /// Returns `false` if the waits are over or the task is canceled.
  func wait(unless isReady: @Sendable () -> Bool) async -> Bool {
    let number = state.withLock { state in
      state.latest += 1
      return state.latest
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          let isReady = state.isClosed || Task.isCancelled || isReady()
          if !isReady {
            state.waiting[number] = continuation
            startTimer(&state)
          }
          return isReady
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
    return !Task.isCancelled && !state.withLock { $0.isClosed }
  }

  private func startTimer(_ state: inout State) {
    guard state.timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(
      deadline: .now() + Self.interval, repeating: Self.interval, leeway: .seconds(1))
    timer.setEventHandler { [weak self] in self?.tick() }
    timer.activate()
    state.timer = timer
  }

  private func tick() {
    state.withLock { state in
      if state.waiting.isEmpty { state.stopTimer() }
      state.resumeAll()
    }
  }
}
