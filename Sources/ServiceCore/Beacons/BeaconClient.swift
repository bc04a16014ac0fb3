public import Regions
import Scanning

/// A client of a ``BeaconService``: its requests, the regions of its group, and its events.
public struct BeaconClient: Sendable {
  /// The service.
  public let service: BeaconService
  /// The client, which may use other services too.
  public let client: ServiceClient

  private var host: ServiceHost<BeaconMachine> { service.host }

  /// Creates a view of a client for a service. Both must belong to the same manager.
  public init(_ client: ServiceClient, of service: BeaconService) {
    precondition(client.manager === service.manager, "the client belongs to another manager")
    (self.client, self.service) = (client, service)
  }

  /// Removes the client and its requests; registered regions stay.
  public func remove() { client.remove() }

  /// The events of the client, in order. The sequence ends with the source, or throws its failure.
  public var events: ClientEvents<BeaconEvent> {
    client.events { [host] event in
      guard case .ended = event else { return false }
      if let failure = host.failure { throw failure }
      return true
    }
  }

  /// Starts to report the beacons of a request, once in each ranging interval.
  public func startRanging(_ request: RangingRequest) throws(BeaconServiceError) {
    try start { $0.ranged.insert(request) }
  }

  /// Starts to report the beacons of several requests.
  package func startRanging(
    _ requests: some Sequence<RangingRequest>
  ) throws(BeaconServiceError) {
    try start { $0.ranged.formUnion(requests) }
  }

  /// Stops reporting the beacons of a request.
  public func stopRanging(_ request: RangingRequest) { changeNeeds { $0.ranged.remove(request) } }

  /// The beacons that the client ranges.
  public var rangingRequests: Set<RangingRequest> {
    host.read { [client] in $0.needs[client.identifier]?.ranged ?? [] }
  }

  /// Starts to report every sighting.
  public func startSightings() throws(BeaconServiceError) {
    try start { $0.areSightingsWanted = true }
  }

  /// Stops reporting sightings.
  public func stopSightings() { changeNeeds { $0.areSightingsWanted = false } }

  private func start(_ change: (inout BeaconMachine.Needs) -> Void) throws(BeaconServiceError) {
    try service.check()
    changeNeeds(change)
    try service.checkPermission()
  }

  private func changeNeeds(_ change: (inout BeaconMachine.Needs) -> Void) {
    host.update(for: client) { machine, _ in
      machine.setNeeds(of: client.identifier, change)
    }
  }

  /// Starts to monitor a region for the client's group, in place of one with the same identifier.
  /// It keeps its state if its beacons and rules are the same. An assumed state may be refuted.
  public func register(
    _ region: BeaconRegion, assuming state: RegionState? = nil
  ) throws(BeaconServiceError) {
    service.manager.restore()
    try service.check(region.identifier)
    do throws(RegionError) {
      try host.update(for: client) { machine, output throws(RegionError) in
        try machine.register(
          region, in: client.group, assuming: state, for: client.identifier, into: &output)
      }
    } catch {
      throw .region(region.identifier, error)
    }
  }

  /// Stops monitoring a region, for all clients of the group.
  public func unregister(_ identifier: String) {
    service.manager.restore()
    host.update(for: client) { machine, output in
      machine.unregister(identifier, in: client.group, into: &output)
    }
  }

  /// The regions of the client's group, sorted by their identifiers.
  public var regions: [BeaconRegion] {
    service.manager.restore()
    return host.read { [client] in $0.regions(in: client.group) }
  }

  /// Returns the current state of a region of the client's group; `nil` if there is no such region.
  public func snapshot(ofRegion identifier: String) -> RegionSnapshot? {
    host.read { $0.snapshot(of: identifier, in: client.group) }
  }

  /// Returns how near the beacons of a region outside came to entering it; `nil` if none came.
  package func approach(toRegion identifier: String) -> RegionApproach? {
    host.read { $0.approach(to: identifier, in: client.group) }
  }

  /// Requests a state, answered by ``BeaconEvent/regionState(_:_:)`` or the region's next event.
  public func requestState(of region: BeaconRegion) {
    let isAvailable = host.availability == .available
    host.update(for: client) { machine, output in
      machine.requestState(
        of: region, in: client.group, for: client.identifier, isAvailable: isAvailable,
        into: &output)
    }
  }

  /// Reports the latest state of each adapter to the client, as events.
  public func reportReceiverStates() {
    host.update(for: client) { machine, output in
      // A client that does not receive yet starts here, so it neither misses nor repeats a change.
      client.beginReceiving()
      machine.reportReceivers(to: client.identifier, into: &output)
    }
  }
}
