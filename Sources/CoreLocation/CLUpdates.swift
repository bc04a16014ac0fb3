import Dispatch
import Synchronization

/// An asynchronous sequence in which each iteration has its own source: of ``CLLocationUpdate``,
/// ``CLBeaconUpdate``, ``CLMonitor/Event``, or the diagnostics of a session.
public struct CLUpdates<Element: Sendable>: AsyncSequence, Sendable {
  /// Starts an iteration, and returns the function that waits for its next element.
  let start: @Sendable () -> () async -> Element?

  /// Starts an iteration, which continues until its task is canceled or its source ends.
  public func makeAsyncIterator() -> Iterator { Iterator(upcoming: start()) }

  /// The iterator of the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    let upcoming: () async -> Element?

    /// Returns the next element; `nil` after the end. It never throws here; Apple's may.
    public mutating func next() async throws -> Element? { await upcoming() }

    /// Returns the next element; `nil` after the end. It never throws here; Apple's may.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(any Error) -> Element? { await upcoming() }
  }
}

extension CLUpdates {
  init<Value: Sendable>(
    _ stream: @escaping @Sendable () -> AsyncStream<Value>,
    _ element: @escaping @Sendable (Value) -> Element
  ) {
    start = {
      var values = stream().makeAsyncIterator()
      return { await values.next(isolation: #isolation).map(element) }
    }
  }
}

extension CLUpdates {
  /// Creates a sequence with a new stream for each iteration, for which its source may wait.
  init(paced stream: @escaping @Sendable (IterationPace) -> AsyncStream<Element>) {
    start = {
      let pace = IterationPace()
      var values = stream(pace).makeAsyncIterator()
      return {
        pace.request()
        return await values.next(isolation: #isolation)
      }
    }
  }
}

/// The pace of an iteration, for which a recording waits as it waits for delegates.
final class IterationPace: Sendable {
  private let state = Mutex((hasStarted: false, isOver: false))
  private let isRequested = DispatchSemaphore(value: 0)

  /// Records that the iteration requests its next element: it has dealt with the one before.
  func request() {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if !isFirst { isRequested.signal() }
  }

  /// Waits until the iteration has dealt with the last element. One thread at a time may wait.
  func wait() {
    guard state.withLock({ !$0.isOver }) else { return }
    isRequested.wait()
  }

  func end() {
    state.withLock { $0.isOver = true }
    isRequested.signal()
  }
}
