/// An asynchronous sequence in which each iteration has its own source.
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
