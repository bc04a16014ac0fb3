import DequeModule
import Dispatch
import Storage

/// An event of a registration, which is kept until a client has processed it.
struct StoredEvent: Sendable {
  let event: any ServiceEvent
  /// The identifier of its journal entry. Events are delivered in the order of identifiers.
  let id: Int64
  let key: Store.Key
  let pace: DispatchGroup?

  var group: ClientGroup { ClientGroup(key.group) }
}

/// Pauses a recording while it exists, until an event is sent.
final class DeliveryPause: Sendable {
  private let group: DispatchGroup

  init(_ group: DispatchGroup) {
    self.group = group
    group.enter()
  }

  deinit { group.leave() }
}

/// The stored events of a group's clients, and the group's position in the journal.
///
/// An event goes to each client that receives when it comes, and waits if there is none, or if none
/// processes it. After one client has, it is not delivered again in the next process.
struct GroupDeliveries {
  /// The maximum number of events. Beyond it, the oldest are removed.
  static let maximum = 16384

  private struct Item {
    var event: StoredEvent
    /// The numbers of clients that must still be sent the event, and that have not returned it.
    var unsent = 0
    var unreturned = 0
    var isDealtWith = false
    /// The number of arrivals when the event was addressed.
    var arrivals = 0

    var isWaiting: Bool { unsent == 0 && unreturned == 0 && !isDealtWith }
  }

  private var items = Deque<Item>()
  /// The identifiers of the events that each client must still be sent.
  private var queues: [ClientIdentifier: Deque<Int64>] = [:]
  private var pauses: [Int64: DeliveryPause] = [:]
  private var receivers: [ClientIdentifier] = []
  /// The number of times that a client left or began to receive.
  private var arrivals = 0
  private var latest: Int64 = 0
  private var isSending = false

  /// Begins to send. Returns whether no other thread does; that one also sends later events.
  mutating func beginSending() -> Bool {
    defer { isSending = true }
    return !isSending
  }

  mutating func endSending() { isSending = false }

  /// Whether the group has no event, no receiving client, and no thread that sends.
  var isUnused: Bool { items.isEmpty && receivers.isEmpty && !isSending }

  /// The identifier through which no client needs an event.
  var position: Int64 {
    items.first { !$0.isDealtWith }.map { $0.event.id - 1 } ?? latest
  }

  /// Whether there are events that no client has processed.
  var isWaiting: Bool { position < latest }

  /// Adds a new event, or one of an earlier process.
  mutating func append(_ event: StoredEvent, _ pause: DeliveryPause? = nil) {
    if items.count >= Self.maximum { remove(at: items.startIndex) }
    latest = max(latest, event.id)
    let place = items.lastIndex { $0.event.id < event.id }.map { $0 + 1 } ?? 0
    items.insert(Item(event: event), at: place)
    if !receivers.isEmpty { pauses[event.id] = pause }
    address(place)
  }

  private mutating func address(_ index: Int) {
    let id = items[index].event.id
    items[index].arrivals = arrivals
    for client in receivers {
      // An event that is addressed again goes before later ones.
      let place = queues[client]?.lastIndex { $0 < id }.map { $0 + 1 } ?? 0
      queues[client, default: []].insert(id, at: place)
    }
    items[index].unsent = receivers.count
  }

  /// Sets the clients that can receive. After an arrival, waiting events are addressed again.
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

  /// Returns the next event that can be sent, its client, and the pause until then, or `nil`.
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

  mutating func `return`(_ id: Int64, wasDealtWith: Bool) {
    guard let index = index(of: id) else { return }
    items[index].unreturned -= 1
    if wasDealtWith { items[index].isDealtWith = true }
    settle(index)
    removeDone()
  }

  /// Addresses an event again that all clients returned unprocessed, if a client has come since.
  private mutating func settle(_ index: Int) {
    guard items[index].isWaiting, items[index].arrivals != arrivals else { return }
    address(index)
  }

  private mutating func removeDone() {
    while let first = items.first, first.isDealtWith, first.unsent == 0, first.unreturned == 0 {
      items.removeFirst()
    }
  }

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
    let index = items.partitioningIndex { $0.event.id >= id }
    return index < items.endIndex && items[index].event.id == id ? index : nil
  }
}
