import Dispatch
import Synchronization

/// Tasks that wait for a change. Without one, they continue every ``interval`` seconds.
///
/// No task is resumed under the lock: the runtime calls the handler of a cancellation under a lock
/// of the task, which a resumption takes too, and the handler takes this one.
package final class Waiters: Sendable {
  static let interval = 15.0

  private struct Waiter {
    let continuation: CheckedContinuation<Void, Never>
    let isReady: @Sendable () -> Bool
  }

  private struct State {
    var waiting: [UInt64: Waiter] = [:]
    var latest: UInt64 = 0
    var isClosed = false
    var timer: (any DispatchSourceTimer)?

    mutating func remove(where isOver: (Waiter) -> Bool = { _ in true }) -> [Waiter] {
      let over = waiting.filter { isOver($0.value) }
      for number in over.keys { waiting[number] = nil }
      return Array(over.values)
    }
  }

  private let state = Mutex(State())

  package init() {}

  /// Resumes the tasks that are ready.
  package func wake() {
    for task in state.withLock({ $0.remove { $0.isReady() } }) { task.continuation.resume() }
  }

  /// Resumes every task for good: later ones do not wait.
  package func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      state.timer?.cancel()
      state.timer = nil
      return state.remove()
    }
    for task in tasks { task.continuation.resume() }
  }

  /// Waits until `isReady` returns `true`, for ``interval``, or until the task is canceled. It is
  /// called at first and by each ``wake()``, under a lock; its data must change before that.
  /// Returns `false` if the waits are over or the task is canceled.
  package func wait(unless isReady: @escaping @Sendable () -> Bool) async -> Bool {
    let number = state.withLock { state in
      state.latest += 1
      return state.latest
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let isOver = state.isClosed || Task.isCancelled || isReady()
          if !isOver {
            state.waiting[number] = Waiter(continuation: continuation, isReady: isReady)
            startTimer(&state)
          }
          return isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
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
      return state.remove()
    }
    for task in tasks { task.continuation.resume() }
  }
}
