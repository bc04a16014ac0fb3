/// A client of a ``ServiceManager``, with its own requests and events. It shares the registrations
/// of its group, and uses services through their views, such as ``BeaconClient``.
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

  /// Removes the client and its requests, and ends its event sequences. Registrations stay.
  public func remove() { manager.removeClient(identifier) }

  /// Sets whether the client can receive events, also the stored ones that waited.
  public func setReceiving(_ isReceiving: Bool) {
    manager.setReceiving(isReceiving, for: client)
  }

  /// Starts to deliver events, except stored ones, which wait for ``setReceiving(_:)``.
  package func beginReceiving() { manager.beginReceiving(client) }

  /// The changes of the application's authorization, starting with the current status.
  public var authorizationEvents: ClientEvents<AuthorizationEvent> { events { _ in false } }

  func events<Event: ServiceEvent>(
    isLast: @escaping @Sendable (Event) throws -> Bool
  ) -> ClientEvents<Event> {
    ClientEvents(buffer: client.buffer, isLast: isLast)
  }

  /// Returns the next delivery of any kind, or `nil` after the client's removal or cancellation.
  package func nextDelivery() async -> ServiceDelivery? { await client.buffer?.next() }

  package func discardEvents(where isDropped: (any ServiceEvent) -> Bool) {
    client.buffer?.discard { isDropped($0.event) }
  }

  /// Sends an event of no service. Drops it if 4,096 wait or the client was removed.
  package func send(_ event: some ServiceEvent) {
    if !client.isRemoved, client.admits() { client.send(event) }
  }
}
