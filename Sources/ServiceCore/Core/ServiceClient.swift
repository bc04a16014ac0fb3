/// A client of a ``ServiceManager``: it has its own requests and receives its own events, and shares the registrations of
/// its group.
///
/// It is used through the views of services, such as ``BeaconClient``; several views may show one client. What a client
/// requests after it was removed is dropped.
public struct ServiceClient: Sendable {
  /// The manager that the client belongs to.
  public let manager: ServiceManager

  let client: Client

  init(_ client: Client, of manager: ServiceManager) {
    (self.client, self.manager) = (client, manager)
  }

  /// The group whose registrations the client shares.
  public var group: ClientGroup { client.group }

  package var identifier: ClientIdentifier { client.identifier }

  /// Removes the client with all that it needed; registrations stay, and its sequences of events end.
  public func remove() { manager.removeClient(identifier) }

  /// Sets whether the client can receive events, such as whether it has a delegate. One that can is given the stored
  /// events that waited.
  public func setReceiving(_ isReceiving: Bool) {
    manager.setReceiving(isReceiving, for: client)
  }

  /// Has the client receive events from now on. The stored ones wait for ``setReceiving(_:)``.
  package func beginReceiving() { client.isReceiving = true }

  /// The changes of the application's authorization, beginning with the status at the client's start.
  public var authorizationEvents: ClientEvents<AuthorizationEvent> { events { _ in false } }

  func events<Event: ServiceEvent>(
    isLast: @escaping @Sendable (Event) throws -> Bool
  ) -> ClientEvents<Event> {
    ClientEvents(buffer: client.buffer, isLast: isLast)
  }

  /// Returns the next delivery to a client that iterates, of whatever kind; `nil` when the client was removed or the task is
  /// canceled.
  package func nextDelivery() async -> ServiceDelivery? { await client.buffer?.next() }

  /// Drops the waiting events that a rule names.
  package func discardEvents(where isDropped: (any ServiceEvent) -> Bool) {
    client.buffer?.discard { isDropped($0.event) }
  }

  /// Sends the client an event that comes from no service. It is dropped where 4,096 wait, or the client was removed.
  package func send(_ event: some ServiceEvent) {
    if !client.isRemoved, client.admits() { client.send(event) }
  }
}
