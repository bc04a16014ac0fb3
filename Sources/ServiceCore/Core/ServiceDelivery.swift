import Dispatch
import Storage
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

  /// The registration that the event belongs to, where it is stored.
  let key: Store.Key?

  private let client: Client
  /// Called once for an event that is stored, with whether the client has dealt with it.
  private let returned: (@Sendable (_ wasDealtWith: Bool) -> Void)?
  /// The deliveries for which a recording waits.
  private let pace: DispatchGroup?
  private let isAcknowledged = Atomic<Bool>(false)
  private let isFinished = Atomic<Bool>(false)

  init(
    _ event: any ServiceEvent, to client: Client, key: Store.Key? = nil, pace: DispatchGroup?,
    returned: (@Sendable (_ wasDealtWith: Bool) -> Void)? = nil
  ) {
    self.event = event
    self.client = client
    self.key = key
    self.returned = returned
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
    returned?(true)
  }

  /// Lets the source go on: the client is ready for the next event.
  package func finish() {
    guard !isFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
    if !isAcknowledged.exchange(true, ordering: .acquiringAndReleasing) {
      returned?(false)
    }
    client.finished(isReplaceable: event.isReplaceable)
    pace?.leave()
  }
}
