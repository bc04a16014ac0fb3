package import Regions
import Scanning

/// A call of a ``BeaconClient``, as a value that another process can carry out.
package enum BeaconRequest: Codable, Sendable {
  case startRanging(Set<RangingRequest>)
  case stopRanging(RangingRequest)
  case rangingRequests
  case startSightings
  case stopSightings
  case register(BeaconRegion, assuming: RegionState?)
  /// Registers a region that the group does not have, as after a loss of the daemon's data.
  case keep(BeaconRegion)
  case unregister(String)
  case regions
  case region(String)
  case snapshot(String)
  case approach(String)
  case requestState(BeaconRegion)
  case reportReceiverStates
}

/// The result of a ``BeaconRequest``.
package enum BeaconReply: Codable, Sendable {
  case done
  case ranging(Set<RangingRequest>)
  case regions([BeaconRegion])
  case region(BeaconRegion?)
  case snapshot(RegionSnapshot?)
  case approach(RegionApproach?)
}

extension BeaconService {
  /// Carries out a request of a client, in this process or in the daemon.
  package func perform(
    _ request: BeaconRequest, for client: ServiceClient
  ) throws(BeaconServiceError) -> BeaconReply {
    if let daemon = manager.daemon {
      // In the daemon, the client starts to receive with the report.
      if case .reportReceiverStates = request { client.client.isReceiving = true }
      return try daemon.perform(request, for: client.identifier)
    }
    switch request {
    case .startRanging(let requests): try start(client) { $0.ranged.formUnion(requests) }
    case .stopRanging(let request): changeNeeds(of: client) { $0.ranged.remove(request) }
    case .rangingRequests: return .ranging(host.read { $0.needs[client.identifier]?.ranged ?? [] })
    case .startSightings: try start(client) { $0.areSightingsWanted = true }
    case .stopSightings: changeNeeds(of: client) { $0.areSightingsWanted = false }
    case .register(let region, let state): try register(region, assuming: state, for: client)
    case .keep(let region):
      manager.restore()
      if host.read({ $0.region(region.identifier, in: client.group) }) != region {
        try register(region, assuming: nil, for: client)
      }
    case .unregister(let identifier):
      manager.restore()
      host.update(for: client) { machine, output in
        machine.unregister(identifier, in: client.group, into: &output)
      }
    case .regions:
      manager.restore()
      return .regions(host.read { $0.regions(in: client.group) })
    case .region(let identifier):
      return .region(host.read { $0.region(identifier, in: client.group) })
    case .snapshot(let identifier):
      return .snapshot(host.read { $0.snapshot(of: identifier, in: client.group) })
    case .approach(let identifier):
      return .approach(host.read { $0.approach(to: identifier, in: client.group) })
    case .requestState(let region):
      let isAvailable = host.availability == .available
      host.update(for: client) { machine, output in
        machine.requestState(
          of: region, in: client.group, for: client.identifier, isAvailable: isAvailable,
          into: &output)
      }
    case .reportReceiverStates:
      host.update(for: client) { machine, output in
        // A client that does not receive yet starts here, so it neither misses nor repeats a change.
        client.beginReceiving()
        machine.reportReceivers(to: client.identifier, into: &output)
      }
    }
    return .done
  }

  private func start(
    _ client: ServiceClient, _ change: (inout BeaconMachine.Needs) -> Void
  ) throws(BeaconServiceError) {
    try check()
    changeNeeds(of: client, change)
    try checkPermission()
  }

  private func changeNeeds(
    of client: ServiceClient, _ change: (inout BeaconMachine.Needs) -> Void
  ) {
    host.update(for: client) { machine, _ in machine.setNeeds(of: client.identifier, change) }
  }

  private func register(
    _ region: BeaconRegion, assuming state: RegionState?, for client: ServiceClient
  ) throws(BeaconServiceError) {
    manager.restore()
    try check(region.identifier)
    do throws(RegionError) {
      try host.update(for: client) { machine, output throws(RegionError) in
        try machine.register(
          region, in: client.group, assuming: state, for: client.identifier, into: &output)
      }
    } catch {
      throw .region(region.identifier, error)
    }
  }
}
