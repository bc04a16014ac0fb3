import Dispatch
import Storage
import Synchronization

/// Sends stored events to the clients of their groups, and records in the store how far each group is.
///
/// What is on its way keeps it, so that an event that a client has dealt with counts although the manager is gone.
final class StoredDeliveries: Sendable {
  private struct State {
    var groups: [ClientGroup: GroupDeliveries] = [:]
    /// The clients that can receive.
    var clients: [ClientIdentifier: Client] = [:]
  }

  private let store: RegistrationStore
  private let state = Mutex(State())
  /// The positions that the store has.
  private let settled = Mutex<[ClientGroup: Int64]>([:])

  init(_ store: RegistrationStore) { self.store = store }

  /// Adds events, which wait until ``send(to:)``.
  func append(_ events: [StoredEvent], _ pause: DeliveryPause? = nil) {
    state.withLock { state in
      for event in events {
        state.groups[event.group, default: GroupDeliveries()].append(event, pause)
      }
    }
  }

  /// Sets the clients of a group that can receive. It is called under the manager's lock; ``send(to:)`` follows.
  func setReceivers(_ clients: [Client], of group: ClientGroup, hasArrival: Bool) {
    state.withLock { state in
      state.clients = state.clients.filter { $0.value.group != group }
      for client in clients { state.clients[client.identifier] = client }
      state.groups[group, default: GroupDeliveries()].setReceivers(
        clients.map(\.identifier), hasArrival: hasArrival)
    }
  }

  /// Sends no client any more events.
  func close() {
    state.withLock { state in
      state.clients = [:]
      for group in state.groups.keys { state.groups[group]?.setReceivers([], hasArrival: false) }
    }
  }

  /// Sends the events again that waited because a client was slow.
  func resume(_ client: Client) {
    client.endOverflow()
    send(to: client.group)
  }

  /// Sends the events of a group that can be sent. One thread at a time does so, and sends what others add meanwhile, so
  /// that the order stays.
  func send(to group: ClientGroup) {
    guard state.withLock({ $0.groups[group]?.beginSending() ?? false }) else { return }
    while let (next, slow) = next(of: group) {
      if let (event, client, pause) = next {
        client.send(event.event, key: event.key, pace: event.pace) { [self] in
          `return`(event, wasDealtWith: $0)
        }
        // The recording waits for the delivery from here on.
        withExtendedLifetime(pause) {}
      }
      // They may have finished meanwhile.
      for client in slow { client.resumeIfReady() }
    }
  }

  /// Returns the next event of a group with the client to send it to, and the clients that are too slow for theirs; `nil`
  /// when there is none.
  private func next(
    of group: ClientGroup
  ) -> (next: (StoredEvent, Client, DeliveryPause?)?, slow: [Client])? {
    state.withLock { state in
      let clients = state.clients
      var slow: [Client] = []
      let next = state.groups[group]?.next { identifier, event in
        guard let client = clients[identifier] else { return false }
        let isAdmitted = client.admitsStored(isRecorded: event.pace != nil)
        if !isAdmitted, client.overflow() { slow.append(client) }
        return isAdmitted
      }
      if let (event, identifier, pause) = next, let client = clients[identifier] {
        return ((event, client, pause), slow)
      }
      guard slow.isEmpty else { return (nil, slow) }
      state.groups[group]?.endSending()
      return nil
    }
  }

  /// Records that a client has returned an event.
  private func `return`(_ event: StoredEvent, wasDealtWith: Bool) {
    change(event.group) { $0.return(event.id, wasDealtWith: wasDealtWith) }
    send(to: event.group)
  }

  /// Drops the waiting events of a registration.
  func removeEvents(of key: Store.Key) {
    change(ClientGroup(key.group)) { $0.removeEvents(of: key) }
  }

  /// Changes what a group has, and stores its position where that has risen.
  private func change(_ group: ClientGroup, _ body: (inout GroupDeliveries) -> Void) {
    let hasRisen = state.withLock { state in
      // In place: a copy of the events would take time for each.
      func changed(_ deliveries: inout GroupDeliveries) -> Bool {
        let before = deliveries.position
        body(&deliveries)
        return deliveries.position > before
      }
      return changed(&state.groups[group, default: GroupDeliveries()])
    }
    guard hasRisen else { return }
    // Of two threads, the later position counts.
    settled.withLock { settled in
      let position = state.withLock { $0.groups[group]?.position } ?? 0
      guard position > settled[group] ?? 0 else { return }
      settled[group] = position
      store.database?.settle(group: group.name, through: position)
    }
  }

  /// Whether events wait for a client of a group.
  func hasWaiting(in group: ClientGroup) -> Bool {
    state.withLock { $0.groups[group]?.hasWaiting ?? false }
  }
}
