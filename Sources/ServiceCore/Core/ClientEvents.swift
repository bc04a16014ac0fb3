import DequeModule
import Synchronization

/// The waiting deliveries of a client that iterates over its events.
final class EventBuffer: Sendable {
  typealias Rule = @Sendable (any ServiceEvent) -> Bool

  private struct Reader {
    var number: UInt64
    var takes: Rule
    var continuation: CheckedContinuation<ServiceDelivery?, Never>
  }

  private struct State {
    var waiting = Deque<ServiceDelivery>()
    var readers = Deque<Reader>()
    var latestReader: UInt64 = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Appends a delivery. A status of the authorization replaces one that waits.
  func append(_ delivery: ServiceDelivery) {
    if delivery.event is AuthorizationEvent { discard { $0.event is AuthorizationEvent } }
    let reader = state.withLock { state -> CheckedContinuation<ServiceDelivery?, Never>? in
      if let index = state.readers.firstIndex(where: { $0.takes(delivery.event) }) {
        return state.readers.remove(at: index).continuation
      }
      // A closed buffer releases the delivery, which then counts as not delivered.
      if !state.isClosed { state.waiting.append(delivery) }
      return nil
    }
    reader?.resume(returning: delivery)
  }

  /// Returns the next delivery that a rule selects; `nil` after the end or the task's cancellation.
  func next(where takes: @escaping Rule = { _ in true }) async -> ServiceDelivery? {
    let number = state.withLock { state in
      state.latestReader += 1
      return state.latestReader
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isReady, delivery) = state.withLock { state -> (Bool, ServiceDelivery?) in
          if Task.isCancelled { return (true, nil) }
          if let index = state.waiting.firstIndex(where: { takes($0.event) }) {
            return (true, state.waiting.remove(at: index))
          }
          if state.isClosed { return (true, nil) }
          state.readers.append(Reader(number: number, takes: takes, continuation: continuation))
          return (false, nil)
        }
        if isReady { continuation.resume(returning: delivery) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        state.readers.firstIndex { $0.number == number }.map { state.readers.remove(at: $0) }
      }
      reader?.continuation.resume(returning: nil)
    }
  }

  /// Drops the waiting deliveries that a rule selects; they count as processed.
  func discard(where isDropped: (ServiceDelivery) -> Bool) {
    let dropped = state.withLock { state in
      let dropped = state.waiting.filter(isDropped)
      state.waiting.removeAll(where: isDropped)
      return dropped
    }
    for delivery in dropped {
      delivery.complete()
    }
  }

  func close() {
    let (readers, waiting) = state.withLock { state in
      state.isClosed = true
      defer {
        state.readers.removeAll()
        state.waiting.removeAll()
      }
      return (state.readers, state.waiting)
    }
    for reader in readers { reader.continuation.resume(returning: nil) }
    for delivery in waiting { delivery.finish() }
  }
}

/// The events of one kind that a client receives, in order.
///
/// Requesting the next event, or ``Iterator/acknowledge()``, marks one as delivered. A recording
/// waits for the request. Live, at most 4,096 events wait; beyond that, only stored ones.
public struct ClientEvents<Event: ServiceEvent>: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = Event
  /// The failure of the source.
  public typealias Failure = any Error

  let buffer: EventBuffer?
  /// Returns whether an event is the last one. Throws if the source failed.
  let isLast: @Sendable (Event) throws -> Bool

  /// Creates an iterator. Several iterators share the events of a client.
  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  /// An iterator over events.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let events: ClientEvents
    /// The delivery that the client processes. The end of the iteration releases and finishes it.
    fileprivate var current: ServiceDelivery?
    fileprivate var isOver = false

    /// Records that the client has processed the latest event, so it is not delivered again.
    public func acknowledge() { current?.acknowledge() }

    /// Returns the next event, or `nil` at the end of the source, of the client, or of the task.
    public mutating func next() async throws -> Event? { try await next(isolation: nil) }

    /// Returns the next event, or `nil` at the end of the source, of the client, or of the task.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error)
      -> Event?
    {
      current?.complete()
      current = nil
      guard !isOver, let delivery = await events.buffer?.next(where: { $0 is Event }),
        let event = delivery.event as? Event
      else { return nil }
      current = delivery
      // An error ends the sequence too.
      isOver = true
      isOver = try events.isLast(event)
      return event
    }
  }
}
