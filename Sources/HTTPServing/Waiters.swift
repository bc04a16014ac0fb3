import Dispatch
import Synchronization

/// Tasks that wait for a change. Without one, they continue every ``interval`` seconds.
///
/// No task is resumed under the lock: the runtime calls the handler of a cancellation under a lock
/// of the task, which a resumption takes too, and the handler takes this one.
package final class Waiters: Sendable {
  static let interval = 15.0

  private struct State {
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var latest: UInt64 = 0
    var isClosed = false
    var timer: (any DispatchSourceTimer)?

    mutating func removeAll() -> [CheckedContinuation<Void, Never>] {
      defer { waiting = [:] }
      return Array(waiting.values)
    }
  }

  private let state = Mutex(State())

  package init() {}

  package func wake() {
    for task in state.withLock({ $0.removeAll() }) { task.resume() }
  }

  /// Resumes every task for good: later ones do not wait.
  package func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      state.timer?.cancel()
      state.timer = nil
      return state.removeAll()
    }
    for task in tasks { task.resume() }
  }

  /// Waits until ``wake()``, for ``interval``, or until the task is canceled, unless `isReady`
  /// returns `true`. That is called under a lock; its data must change before ``wake()`` is called.
  /// Returns `false` if the waits are over or the task is canceled.
  package func wait(unless isReady: @Sendable () -> Bool) async -> Bool {
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
    let tasks = state.withLock { state in
      if state.waiting.isEmpty {
        state.timer?.cancel()
        state.timer = nil
      }
      return state.removeAll()
    }
    for task in tasks { task.resume() }
  }
}
