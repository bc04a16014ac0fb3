import Dispatch
import Storage
import Synchronization

/// The address of a client within its manager, for state machines.
package struct ClientIdentifier: Hashable, Sendable, Codable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A set of clients that share registrations: each event of one goes to all of them.
public struct ClientGroup: Hashable, Sendable, Codable {
  /// The group's name, under which its registrations are stored.
  public let name: String

  /// Creates a group.
  public init(_ name: String) { self.name = name }

  /// The default group of an application's clients.
  public static let application = ClientGroup("")
}

final class Client: Sendable {
  let identifier: ClientIdentifier
  let group: ClientGroup
  let sink: Sink
  let pacesRecordings: Bool

  private let isAttached: Atomic<Bool>
  private let isGone = Atomic<Bool>(false)
  private let isAttachedToStore = Atomic<Bool>(false)
  private let waiting = Atomic<Int>(0)
  private let replaceable = Atomic<Int>(0)
  private let hasOverflown = Atomic<Bool>(false)
  /// Sends the stored events that waited for the slow client.
  private let resume: @Sendable () -> Void

  /// The maximum number of unfinished deliveries. Beyond it, only stored events wait.
  static let maximumWaiting = 4096

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

  /// Whether the client was removed, so that its requests do not count.
  var isRemoved: Bool { isGone.load(ordering: .acquiring) }

  func remove() { isGone.store(true, ordering: .releasing) }

  var isReceiving: Bool {
    get { isAttached.load(ordering: .acquiring) }
    set { isAttached.store(newValue, ordering: .releasing) }
  }

  /// Whether the client receives stored events. The manager sets it with the group's receivers.
  var isReceivingStored: Bool {
    get { isAttachedToStore.load(ordering: .acquiring) }
    set { isAttachedToStore.store(newValue, ordering: .releasing) }
  }

  /// Returns whether one more delivery may be sent; a replaceable one only after the last one is
  /// finished. A recording waits for clients that pace it.
  func admits(isReplaceable: Bool = false, isRecorded: Bool = false) -> Bool {
    if isRecorded, pacesRecordings { return true }
    if isReplaceable, replaceable.load(ordering: .acquiring) > 0 { return false }
    return waiting.load(ordering: .acquiring) < Self.maximumWaiting
  }

  /// Returns whether one more stored delivery may be sent. It may not while earlier ones wait.
  func admitsStored(isRecorded: Bool) -> Bool {
    !hasOverflown.load(ordering: .acquiring) && admits(isRecorded: isRecorded)
  }

  /// Records that a stored delivery waits. Returns whether none waited before. Call
  /// ``resumeIfReady()`` next.
  func overflow() -> Bool { !hasOverflown.exchange(true, ordering: .acquiringAndReleasing) }

  func endOverflow() { hasOverflown.store(false, ordering: .releasing) }

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
    _ event: any ServiceEvent, key: Store.Key? = nil, entry: Int64? = nil,
    pace: DispatchGroup? = nil, returned: (@Sendable (_ wasDealtWith: Bool) -> Void)? = nil,
    finished: (@Sendable () -> Void)? = nil
  ) {
    let delivery = ServiceDelivery(
      event, to: self, key: key, entry: entry, pace: pace, returned: returned, finished: finished)
    switch sink {
    case .function(let receive): receive(delivery)
    case .buffer(let buffer): buffer.append(delivery)
    }
  }
}
