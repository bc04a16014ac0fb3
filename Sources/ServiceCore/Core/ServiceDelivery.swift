import Dispatch
import Synchronization

/// Something that a service reports to its clients.
public protocol ServiceEvent: Sendable, Codable {
  /// Whether a later event of the same kind makes this one superfluous. While a client is busy with one, a live
  /// source does not send it the next.
  var isReplaceable: Bool { get }
}

extension ServiceEvent {
  /// `false`: each event is delivered.
  public var isReplaceable: Bool { false }
}

/// One event on its way to one client.
///
/// The client calls ``acknowledge()`` when it has dealt with the event, and ``finish()`` when it is ready for the
/// next one. A delivery that is released without either counts as not delivered.
package final class ServiceDelivery: Sendable {
  /// The event.
  package let event: any ServiceEvent

  /// The event as it is stored; `nil` if it is not.
  var stored: StoredEvent? { record?.event }

  private let client: Client
  private let record: StoredDelivery?
  /// The deliveries for which a recording waits.
  private let pace: DispatchGroup?
  private let isAcknowledged = Atomic<Bool>(false)
  private let isFinished = Atomic<Bool>(false)

  init(
    _ event: any ServiceEvent, to client: Client, record: StoredDelivery?, pace: DispatchGroup?
  ) {
    (self.event, self.client, self.record) = (event, client, record)
    self.pace = client.pacesRecordings ? pace : nil
    self.pace?.enter()
    client.began(isReplaceable: event.isReplaceable)
    // Whichever thread acknowledges or finishes the delivery, it then sees what is written above.
    isAcknowledged.store(false, ordering: .releasing)
    isFinished.store(false, ordering: .releasing)
  }

  deinit { finish() }

  /// Records that the client has dealt with the event, so that it is not delivered again.
  package func acknowledge() {
    guard !isAcknowledged.exchange(true, ordering: .acquiringAndReleasing) else { return }
    record?.returned(wasDelivered: true)
  }

  /// Lets the source go on: the client is ready for the next event.
  package func finish() {
    guard !isFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
    if !isAcknowledged.exchange(true, ordering: .acquiringAndReleasing) {
      record?.returned(wasDelivered: false)
    }
    client.finished(isReplaceable: event.isReplaceable)
    pace?.leave()
  }
}

/// An event of a registration, which is kept until a client has dealt with it.
struct StoredEvent: Sendable {
  let event: any ServiceEvent
  let group: ClientGroup
  /// The number by which the store knows it. Events are delivered in the order of their numbers.
  let serial: Int64
  /// The registration that it belongs to.
  let identifier: String
  /// The service that reported it.
  let service: String
  /// The deliveries for which the service's source waits, where it is a recording.
  let pace: DispatchGroup?

  /// Whether it belongs to a registration.
  func belongs(to service: String, _ group: ClientGroup, _ identifier: String) -> Bool {
    self.service == service && self.group == group && self.identifier == identifier
  }
}

/// A stored event on its way to several clients. The first one that has dealt with it counts: a client that is
/// slow, or that ends, does not bring it back to the others in the next process. If none has, the event waits
/// again.
final class StoredDelivery: Sendable {
  let event: StoredEvent
  private let left: Atomic<Int>
  private let wasDelivered = Atomic<Bool>(false)
  private let end: @Sendable (_ wasDelivered: Bool) -> Void

  init(
    _ event: StoredEvent, to count: Int, end: @escaping @Sendable (_ wasDelivered: Bool) -> Void
  ) {
    self.event = event
    left = Atomic(count)
    self.end = end
  }

  func returned(wasDelivered isDelivered: Bool) {
    if isDelivered, !wasDelivered.exchange(true, ordering: .acquiringAndReleasing) { end(true) }
    let isLast = left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    if isLast, !wasDelivered.load(ordering: .acquiring) { end(false) }
  }
}
