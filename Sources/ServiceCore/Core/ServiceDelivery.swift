import Dispatch
import Storage
import Synchronization

/// An event that a service reports to its clients.
public protocol ServiceEvent: Sendable, Codable {
  /// Whether a later event of the same kind replaces this one while the client is busy.
  var isReplaceable: Bool { get }
}

extension ServiceEvent {
  /// `false`, because each event is delivered by default.
  public var isReplaceable: Bool { false }
}

/// An event on its way to a client, which calls ``acknowledge()`` when it has processed the event
/// and ``finish()`` when it is ready for the next. Without either, the event is not delivered.
package final class ServiceDelivery: Sendable {
  package let event: any ServiceEvent

  let key: Store.Key?
  /// The number of the event's journal entry, if it is stored.
  package let entry: Int64?

  private let client: Client
  /// Called once for a stored event, with whether the client has processed it.
  private let returned: (@Sendable (_ wasDealtWith: Bool) -> Void)?
  /// Called once at the end, after ``returned``.
  private let finished: (@Sendable () -> Void)?
  private let pace: DispatchGroup?
  private let isAcknowledged = Atomic<Bool>(false)
  private let isFinished = Atomic<Bool>(false)

  init(
    _ event: any ServiceEvent, to client: Client, key: Store.Key? = nil, entry: Int64? = nil,
    pace: DispatchGroup?, returned: (@Sendable (_ wasDealtWith: Bool) -> Void)? = nil,
    finished: (@Sendable () -> Void)? = nil
  ) {
    self.event = event
    self.client = client
    self.key = key
    self.entry = entry
    self.returned = returned
    self.finished = finished
    self.pace = client.pacesRecordings ? pace : nil
    self.pace?.enter()
    client.began(isReplaceable: event.isReplaceable)
    // The thread that acknowledges or finishes the delivery sees what is written above.
    isAcknowledged.store(false, ordering: .releasing)
    isFinished.store(false, ordering: .releasing)
  }

  deinit { finish() }

  package func complete() {
    acknowledge()
    finish()
  }

  package func acknowledge() {
    guard !isAcknowledged.exchange(true, ordering: .acquiringAndReleasing) else { return }
    returned?(true)
  }

  package func finish() {
    guard !isFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
    if !isAcknowledged.exchange(true, ordering: .acquiringAndReleasing) {
      returned?(false)
    }
    client.finished(isReplaceable: event.isReplaceable)
    finished?()
    pace?.leave()
  }
}
