import Dispatch
import Storage
import Synchronization

/// Sends stored events to the clients of their groups, and stores each group's position, even after
/// the manager is released.
final class StoredDeliveries: Sendable {
  private struct State {
    var groups: [ClientGroup: GroupDeliveries] = [:]
    var clients: [ClientIdentifier: Client] = [:]
    var areWaiting = false
  }

  private let store: RegistrationStore
  private let state = Mutex(State())
  private let settled = Mutex<[ClientGroup: Int64]>([:])
  private let waitingChanged: (@Sendable () -> Void)?

  /// `waitingChanged` is called after ``areWaiting`` has changed.
  init(_ store: RegistrationStore, waitingChanged: (@Sendable () -> Void)? = nil) {
    self.store = store
    self.waitingChanged = waitingChanged
  }

  /// Whether there are events that no client has processed.
  var areWaiting: Bool { state.withLock { $0.areWaiting } }

  private func noteWaiting() {
    guard let waitingChanged else { return }
    let hasChanged = state.withLock { state in
      let areWaiting = state.groups.values.contains(where: \.isWaiting)
      defer { state.areWaiting = areWaiting }
      return areWaiting != state.areWaiting
    }
    if hasChanged { waitingChanged() }
  }

  /// Adds events, which wait until ``send(to:)``.
  func append(_ events: [StoredEvent], _ pause: DeliveryPause? = nil) {
    state.withLock { state in
      for event in events {
        state.groups[event.group, default: GroupDeliveries()].append(event, pause)
      }
    }
    noteWaiting()
  }

  /// Sets the receiving clients of a group, under the manager's lock. Call ``send(to:)`` next.
  func setReceivers(_ clients: [Client], of group: ClientGroup, hasArrival: Bool) {
    state.withLock { state in
      state.clients = state.clients.filter { $0.value.group != group }
      for client in clients { state.clients[client.identifier] = client }
      state.groups[group, default: GroupDeliveries()].setReceivers(
        clients.map(\.identifier), hasArrival: hasArrival)
    }
  }

  func close() {
    state.withLock { state in
      state.clients = [:]
      for group in state.groups.keys { state.groups[group]?.setReceivers([], hasArrival: false) }
    }
  }

  func resume(_ client: Client) {
    client.endOverflow()
    send(to: client.group)
  }

  /// Sends the events of a group. One thread at a time does so, which keeps the order.
  func send(to group: ClientGroup) {
    guard state.withLock({ $0.groups[group]?.beginSending() ?? false }) else { return }
    defer { forgetIfUnused(group) }
    while let (next, slow) = next(of: group) {
      if let (event, client, pause) = next {
        client.send(event.event, key: event.key, entry: event.id, pace: event.pace) { [self] in
          `return`(event, wasDealtWith: $0)
        }
        // From here on, the delivery makes the recording wait.
        withExtendedLifetime(pause) {}
      }
      // The client may have finished deliveries meanwhile.
      for client in slow { client.resumeIfReady() }
    }
  }

  /// Returns a group's next event with its client, and the clients that are now too slow, or `nil`.
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

  private func `return`(_ event: StoredEvent, wasDealtWith: Bool) {
    change(event.group) { $0.return(event.id, wasDealtWith: wasDealtWith) }
    send(to: event.group)
  }

  func removeEvents(of key: Store.Key) {
    let group = ClientGroup(key.group)
    change(group) { $0.removeEvents(of: key) }
    forgetIfUnused(group)
  }

  /// The number of groups with a receiving client or with events.
  var groupCount: Int { state.withLock { $0.groups.count } }

  /// Forgets a group that has neither receiving clients nor events, because an app may name any
  /// number of groups. Its position stays stored.
  private func forgetIfUnused(_ group: ClientGroup) {
    settled.withLock { settled in
      state.withLock { state in
        // A thread that has yet to settle the group forgets it afterwards.
        guard let known = state.groups[group], known.isUnused,
          known.position <= settled[group] ?? 0
        else { return }
        state.groups[group] = nil
        settled[group] = nil
      }
    }
  }

  private func change(_ group: ClientGroup, _ body: (inout GroupDeliveries) -> Void) {
    let hasRisen = state.withLock { state in
      // This works in place, because a copy of all events would take too long.
      func changed(_ deliveries: inout GroupDeliveries) -> Bool {
        let before = deliveries.position
        body(&deliveries)
        return deliveries.position > before
      }
      return changed(&state.groups[group, default: GroupDeliveries()])
    }
    guard hasRisen else { return }
    noteWaiting()
    // If two threads come here, the later position counts.
    settled.withLock { settled in
      let position = state.withLock { $0.groups[group]?.position } ?? 0
      guard position > settled[group] ?? 0 else { return }
      settled[group] = position
      store.database?.settle(group: group.name, through: position)
    }
  }
}
