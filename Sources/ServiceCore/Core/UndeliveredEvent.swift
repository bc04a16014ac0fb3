import DequeModule
import Dispatch

/// A stored event that waits for a client, or that is about to be sent.
struct UndeliveredEvent {
  let event: StoredEvent
  /// The client that was too slow for it, while others may have received it; `nil` where there was no client.
  let slow: (client: ClientIdentifier, delivery: StoredDelivery)?
  private let pause: Pause?

  /// Has a recording stand still for as long as it exists.
  private final class Pause: Sendable {
    private let group: DispatchGroup

    init(_ group: DispatchGroup) {
      self.group = group
      group.enter()
    }

    deinit { group.leave() }
  }

  /// Creates one that waits.
  init(_ event: StoredEvent, slow: (client: ClientIdentifier, delivery: StoredDelivery)? = nil) {
    (self.event, self.slow, pause) = (event, slow, nil)
  }

  /// Creates one that is about to be sent: a recording stands still until it is.
  init(new event: StoredEvent) {
    (self.event, slow, pause) = (event, nil, event.pace.map(Pause.init))
  }
}

extension Deque<UndeliveredEvent> {
  /// The maximum number of events in one place. Of more, the oldest go.
  private static var maximum: Int { 16384 }

  /// Inserts an event where its number belongs: one that comes back goes before the later ones.
  mutating func insert(_ undelivered: UndeliveredEvent) {
    if count >= Self.maximum { removeFirst() }
    let previous = lastIndex { $0.event.serial <= undelivered.event.serial }
    insert(undelivered, at: previous.map { $0 + 1 } ?? 0)
  }
}
