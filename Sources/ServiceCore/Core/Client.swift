import Dispatch
import Storage
import Synchronization

/// The address of a client within its manager, by which the services' state machines name it: a client may live in another
/// process.
package struct ClientIdentifier: Hashable, Sendable, Codable {
  /// The number of the client, unique within its manager.
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A set of clients that share registrations: each event of a registration goes to all of them.
public struct ClientGroup: Hashable, Sendable, Codable {
  /// The group's name, under which its registrations are stored.
  public let name: String

  /// Creates a group.
  public init(_ name: String) { self.name = name }

  /// The group of an application's clients that name no other.
  public static let application = ClientGroup("")
}

/// A client, as the manager knows it.
final class Client: Sendable {
  let identifier: ClientIdentifier
  let group: ClientGroup
  let sink: Sink
  /// Whether a recording stands still until the client has finished with an event.
  let pacesRecordings: Bool

  private let isAttached: Atomic<Bool>
  private let isGone = Atomic<Bool>(false)
  private let isAttachedToStore = Atomic<Bool>(false)
  private let waiting = Atomic<Int>(0)
  private let replaceable = Atomic<Int>(0)
  private let hasOverflown = Atomic<Bool>(false)
  /// Delivers the stored events that waited because the client was slow.
  private let resume: @Sendable () -> Void

  /// The maximum number of deliveries that a client may have unfinished. Beyond it events that are stored wait in
  /// the store, and others are dropped.
  static let maximumWaiting = 4096

  /// The place where a client's events go.
  enum Sink: Sendable {
    case function(@Sendable (ServiceDelivery) -> Void)
    case buffer(EventBuffer)
  }

  init(
    _ identifier: ClientIdentifier, in group: ClientGroup, sink: Sink, isReceiving: Bool,
    pacesRecordings: Bool, resume: @escaping @Sendable () -> Void
  ) {
    (self.identifier, self.group, self.sink) = (identifier, group, sink)
    self.pacesRecordings = pacesRecordings
    self.resume = resume
    isAttached = Atomic(isReceiving)
  }

  var buffer: EventBuffer? { if case .buffer(let buffer) = sink { buffer } else { nil } }

  /// Whether the client was removed from its manager: nothing that it requests counts any more.
  var isRemoved: Bool { isGone.load(ordering: .acquiring) }

  func remove() { isGone.store(true, ordering: .releasing) }

  /// Whether the client can receive events now.
  var isReceiving: Bool {
    get { isAttached.load(ordering: .acquiring) }
    set { isAttached.store(newValue, ordering: .releasing) }
  }

  /// Whether the client can receive stored events now: the manager sets it together with those that waited.
  var isReceivingStored: Bool {
    get { isAttachedToStore.load(ordering: .acquiring) }
    set { isAttachedToStore.store(newValue, ordering: .releasing) }
  }

  /// Returns whether one more delivery may be sent. Of those that a later event makes superfluous, one is on its
  /// way. A recording waits for clients that pace it, so that nothing piles up.
  func admits(isReplaceable: Bool = false, isRecorded: Bool = false) -> Bool {
    if isRecorded, pacesRecordings { return true }
    if isReplaceable, replaceable.load(ordering: .acquiring) > 0 { return false }
    return waiting.load(ordering: .acquiring) < Self.maximumWaiting
  }

  /// Returns whether one more stored delivery may be sent. After one that was not, the later ones wait behind it.
  func admitsStored(isRecorded: Bool) -> Bool {
    !hasOverflown.load(ordering: .acquiring) && admits(isRecorded: isRecorded)
  }

  /// Records that a stored delivery waits until the client has finished with half of what it was sent. The client
  /// may have done so already: ``resumeIfReady()`` follows. Returns whether none waited before.
  func overflow() -> Bool { !hasOverflown.exchange(true, ordering: .acquiringAndReleasing) }

  /// Admits stored deliveries again.
  func endOverflow() { hasOverflown.store(false, ordering: .releasing) }

  /// Has the stored deliveries that wait sent, if the client has finished with half of what it was sent.
  func resumeIfReady() {
    guard hasOverflown.load(ordering: .acquiring),
      waiting.load(ordering: .acquiring) <= Self.maximumWaiting / 2
    else { return }
    resume()
  }

  func began(isReplaceable: Bool) {
    waiting.add(1, ordering: .relaxed)
    if isReplaceable { replaceable.add(1, ordering: .relaxed) }
  }

  func finished(isReplaceable: Bool) {
    if isReplaceable { replaceable.subtract(1, ordering: .releasing) }
    waiting.subtract(1, ordering: .acquiringAndReleasing)
    resumeIfReady()
  }

  func send(
    _ event: any ServiceEvent, key: Store.Key? = nil, pace: DispatchGroup? = nil,
    returned: (@Sendable (_ wasDealtWith: Bool) -> Void)? = nil
  ) {
    let delivery = ServiceDelivery(event, to: self, key: key, pace: pace, returned: returned)
    switch sink {
    case .function(let receive): receive(delivery)
    case .buffer(let buffer): buffer.append(delivery)
    }
  }
}
