public import Regions

/// A client of a ``BeaconService``: its requests, the regions of its group, and its events.
public struct BeaconClient: Sendable {
  /// The service.
  public let service: BeaconService
  /// The client, which may use other services too.
  public let client: ServiceClient

  /// Creates a view of a client for a service. Both must belong to the same manager.
  public init(_ client: ServiceClient, of service: BeaconService) {
    precondition(client.manager === service.manager, "the client belongs to another manager")
    (self.client, self.service) = (client, service)
  }

  /// Removes the client and its requests; registered regions stay.
  public func remove() { client.remove() }

  /// The events of the client, in order. The sequence ends with the source, or throws its failure.
  public var events: ClientEvents<BeaconEvent> {
    client.events { [service] event in
      guard case .ended = event else { return false }
      if let failure = service.failure { throw failure }
      return true
    }
  }

  /// Starts to report the beacons of a request, once in each ranging interval.
  public func startRanging(_ request: RangingRequest) throws(BeaconServiceError) {
    try startRanging([request])
  }

  /// Starts to report the beacons of several requests.
  package func startRanging(
    _ requests: some Sequence<RangingRequest>
  ) throws(BeaconServiceError) {
    try perform(.startRanging(Set(requests)))
  }

  /// Stops reporting the beacons of a request.
  public func stopRanging(_ request: RangingRequest) { send(.stopRanging(request)) }

  /// The beacons that the client ranges.
  public var rangingRequests: Set<RangingRequest> {
    if case .ranging(let requests)? = ask(.rangingRequests) { requests } else { [] }
  }

  /// Starts to report every sighting.
  public func startSightings() throws(BeaconServiceError) { try perform(.startSightings) }

  /// Stops reporting sightings.
  public func stopSightings() { send(.stopSightings) }

  /// Starts to monitor a region for the client's group, in place of one with the same identifier.
  /// It keeps its state if its beacons and rules are the same. An assumed state may be refuted.
  public func register(
    _ region: BeaconRegion, assuming state: RegionState? = nil
  ) throws(BeaconServiceError) {
    try perform(.register(region, assuming: state))
  }

  /// Stops monitoring a region, for all clients of the group.
  public func unregister(_ identifier: String) { send(.unregister(identifier)) }

  /// The regions of the client's group, sorted by their identifiers.
  public var regions: [BeaconRegion] {
    if case .regions(let regions)? = ask(.regions) { regions } else { [] }
  }

  /// Returns a region of the client's group; `nil` if there is none with the identifier.
  package func region(_ identifier: String) -> BeaconRegion? {
    if case .region(let region)? = ask(.region(identifier)) { region } else { nil }
  }

  /// Returns the current state of a region of the client's group; `nil` if there is no such region.
  public func snapshot(ofRegion identifier: String) -> RegionSnapshot? {
    if case .snapshot(let snapshot)? = ask(.snapshot(identifier)) { snapshot } else { nil }
  }

  /// Returns how near the beacons of a region outside came to entering it; `nil` if none came.
  package func approach(toRegion identifier: String) -> RegionApproach? {
    if case .approach(let approach)? = ask(.approach(identifier)) { approach } else { nil }
  }

  /// Requests a state, answered by ``BeaconEvent/regionState(_:_:)`` or the region's next event.
  public func requestState(of region: BeaconRegion) { send(.requestState(region)) }

  /// Reports the latest state of each adapter to the client, as events.
  public func reportReceiverStates() { send(.reportReceiverStates) }

  private func perform(_ request: BeaconRequest) throws(BeaconServiceError) {
    _ = try service.perform(request, for: client)
  }

  private func send(_ request: BeaconRequest) { _ = ask(request) }

  private func ask(_ request: BeaconRequest) -> BeaconReply? {
    try? service.perform(request, for: client)
  }
}
