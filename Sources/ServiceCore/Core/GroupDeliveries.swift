import DequeModule
import Dispatch
import Storage

/// An event of a registration, which is kept until a client has dealt with it.
struct StoredEvent: Sendable {
  let event: any ServiceEvent
  /// The identifier of its entry in the journal. Events are delivered in the order of their identifiers.
  let id: Int64
  /// The registration that it belongs to.
  let key: Store.Key
  /// The deliveries for which the service's source waits, where it is a recording.
  let pace: DispatchGroup?

  var group: ClientGroup { ClientGroup(key.group) }
}

/// Has a recording stand still for as long as it exists: until an event is on its way.
final class DeliveryPause: Sendable {
  private let group: DispatchGroup

  init(_ group: DispatchGroup) {
    self.group = group
    group.enter()
  }

  deinit { group.leave() }
}

/// The position of a group's clients in the journal: the stored events that are on their way to them, or wait for one.
///
/// An event goes to each client that can receive when it comes, and waits where there is none. The first client that has
/// dealt with it counts: a client that is slow, or that ends, does not bring it back to the others in the next process.
/// Where none has, the event waits again.
struct GroupDeliveries {
  /// The maximum number of events. Of more, the oldest go.
  static let maximum = 16384

  private struct Item {
    var event: StoredEvent
    /// The clients that it is still to be sent to, and those that have not returned it.
    var unsent = 0
    var unreturned = 0
    var isDealtWith = false
    /// How often clients had come and gone when it was addressed.
    var arrivals = 0

    var isWaiting: Bool { unsent == 0 && unreturned == 0 && !isDealtWith }
  }

  /// By rising identifier.
  private var items = Deque<Item>()
  /// The identifiers of the events that each client is still to be sent.
  private var queues: [ClientIdentifier: Deque<Int64>] = [:]
  /// What has recordings stand still until events are sent.
  private var pauses: [Int64: DeliveryPause] = [:]
  /// The clients that can receive.
  private var receivers: [ClientIdentifier] = []
  /// How often a client went or began to receive.
  private var arrivals = 0
  /// The latest event that came.
  private var latest: Int64 = 0
  /// Whether a thread sends.
  private var isSending = false

  /// Whether events wait for a client.
  var hasWaiting: Bool {
    queues.values.contains { !$0.isEmpty } || items.contains(where: \.isWaiting)
  }

  /// Begins to send. Returns whether no other thread does: that one sends what was added meanwhile.
  mutating func beginSending() -> Bool {
    defer { isSending = true }
    return !isSending
  }

  mutating func endSending() { isSending = false }

  /// The identifier up to which no client needs an event any more.
  var position: Int64 {
    items.first { !$0.isDealtWith }.map { $0.event.id - 1 } ?? latest
  }

  /// Adds a new event, or one of an earlier process.
  mutating func append(_ event: StoredEvent, _ pause: DeliveryPause? = nil) {
    if items.count >= Self.maximum { remove(at: items.startIndex) }
    latest = max(latest, event.id)
    let place = items.lastIndex { $0.event.id < event.id }.map { $0 + 1 } ?? 0
    items.insert(Item(event: event), at: place)
    if !receivers.isEmpty { pauses[event.id] = pause }
    address(place)
  }

  /// Addresses an event to the clients that can receive.
  private mutating func address(_ index: Int) {
    let id = items[index].event.id
    items[index].arrivals = arrivals
    for client in receivers {
      // One that comes back goes before the later ones.
      let place = queues[client]?.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
      queues[client, default: []].insert(id, at: place)
    }
    items[index].unsent = receivers.count
  }

  /// Sets the clients that can receive.
  mutating func setReceivers(_ clients: [ClientIdentifier], hasArrival: Bool) {
    receivers = clients
    if hasArrival {
      arrivals += 1
      for index in items.indices where items[index].isWaiting { address(index) }
    }
    let gone = queues.keys.filter { !clients.contains($0) }
    for client in gone {
      for id in queues.removeValue(forKey: client) ?? [] {
        guard let index = index(of: id) else { continue }
        items[index].unsent -= 1
        settle(index)
      }
    }
    removeDone()
  }

  /// Returns the next event to send, the client to send it to, and what has the recording stand still until then; `nil`
  /// where there is none that can be sent. No recording waits for a client that is too slow.
  mutating func next(
    _ admits: (ClientIdentifier, StoredEvent) -> Bool
  ) -> (StoredEvent, ClientIdentifier, DeliveryPause?)? {
    var blocked: Set<ClientIdentifier> = []
    while true {
      let heads = queues.lazy.compactMap { client, queue in queue.first.map { (client, $0) } }
      guard
        let (client, id) = heads.filter({ !blocked.contains($0.0) }).min(by: {
          ($0.1, $0.0.rawValue) < ($1.1, $1.0.rawValue)
        })
      else {
        pauses = [:]
        return nil
      }
      guard let index = index(of: id), admits(client, items[index].event) else {
        blocked.insert(client)
        continue
      }
      queues[client]?.removeFirst()
      items[index].unsent -= 1
      items[index].unreturned += 1
      let pause = pauses[id]
      if items[index].unsent == 0 { pauses[id] = nil }
      return (items[index].event, client, pause)
    }
  }

  /// Records that a client has returned an event.
  mutating func `return`(_ id: Int64, wasDealtWith: Bool) {
    guard let index = index(of: id) else { return }
    items[index].unreturned -= 1
    if wasDealtWith { items[index].isDealtWith = true }
    settle(index)
    removeDone()
  }

  /// Has an event wait again that every client has returned. Where a client has come since it was sent, it is addressed
  /// again.
  private mutating func settle(_ index: Int) {
    guard items[index].isWaiting, items[index].arrivals != arrivals else { return }
    address(index)
  }

  /// Removes the events that nobody needs any more.
  private mutating func removeDone() {
    while let first = items.first, first.isDealtWith, first.unsent == 0, first.unreturned == 0 {
      items.removeFirst()
    }
  }

  /// Drops the events of a registration.
  mutating func removeEvents(of key: Store.Key) {
    for index in items.indices.reversed() where items[index].event.key == key { remove(at: index) }
    removeDone()
  }

  private mutating func remove(at index: Int) {
    let id = items.remove(at: index).event.id
    pauses[id] = nil
    for client in queues.keys { queues[client]?.removeAll { $0 == id } }
  }

  private func index(of id: Int64) -> Int? {
    var (low, high) = (items.startIndex, items.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if items[middle].event.id < id { low = middle + 1 } else { high = middle }
    }
    return low < items.endIndex && items[low].event.id == id ? low : nil
  }
}
