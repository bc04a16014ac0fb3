package import Positioning

/// A call of a ``LocationClient``, as a value that another process can carry out.
package enum LocationCall: Codable, Sendable {
  case startUpdates(UpdateSettings)
  case stopUpdates
  case changeUpdates(UpdateSettings)
  case use
  case requestFix(AccuracyClass)
  case cancelRequest
  case allowDeferral(untilTraveled: Double, timeout: Double)
  case disallowDeferral
  case startSignificantChanges
  case stopSignificantChanges
  case startVisits
  case stopVisits
  case register(MonitoredCircle, assuming: GeofenceState?)
  /// Registers a circle that the group does not have, as after a loss of the daemon's data.
  case keep(MonitoredCircle)
  case unregister(String)
  case circles
  case circle(String)
  case snapshot(String)
  case requestState(CircularRegion)
  case startHeadings(filter: Double?, HeadingOrientation)
  case stopHeadings
  case latestHeading
  case reportHealth
}

/// The result of a ``LocationCall``.
package enum LocationReply: Codable, Sendable {
  case done
  case use(LocationUse)
  case circles([MonitoredCircle])
  case circle(MonitoredCircle?)
  case snapshot(CircleSnapshot?)
  case heading(Heading?)
}

extension LocationService {
  private typealias Output = ServiceOutput<LocationMachine>

  /// Carries out a call of a client, in this process or in the daemon.
  package func perform(
    _ call: LocationCall, for client: ServiceClient
  ) throws(LocationServiceError) -> LocationReply {
    if let daemon = manager.daemon {
      if case .reportHealth = call { client.beginReceiving() }
      return try daemon.perform(call, for: client.identifier)
    }
    let identifier = client.identifier
    let group = client.group
    func update(_ body: (inout LocationMachine, inout Output) -> Void) {
      host.update(for: client, body)
    }
    func modify(_ change: (inout ClientUpdates) -> [LocationEvent]) {
      update { $0.modify(identifier, into: &$1, change) }
    }
    func start(
      _ body: (inout LocationMachine, inout Output) -> Void
    ) throws(LocationServiceError) {
      manager.restore()
      try check()
      update(body)
      try checkPermission()
    }
    switch call {
    case .startUpdates(let settings):
      try check()
      update { $0.startUpdates(settings, for: identifier, into: &$1) }
      try checkPermission()
    case .stopUpdates: modify { $0.stop() }
    case .changeUpdates(let settings): modify { $0.change(settings) }
    case .use: return .use(host.read { $0.use(of: identifier, in: group) })
    case .requestFix(let accuracy):
      try check()
      try checkPermission()
      update { $0.requestFix(accuracy, for: identifier, into: &$1) }
    case .cancelRequest: update { machine, _ in machine.cancelRequest(for: identifier) }
    case .allowDeferral(let meters, let seconds):
      update {
        $0.allowDeferral(untilTraveled: meters, timeout: seconds, for: identifier, into: &$1)
      }
    case .disallowDeferral: modify { $0.disallowDeferral() }
    case .startSignificantChanges:
      try start { $0.startSignificantChanges(in: group, for: identifier, into: &$1) }
    case .stopSignificantChanges:
      manager.restore()
      update { $0.stopSignificantChanges(in: group, into: &$1) }
    case .startVisits: try start { $0.startVisits(in: group, into: &$1) }
    case .stopVisits:
      manager.restore()
      update { $0.stopVisits(in: group, into: &$1) }
    case .register(let circle, let state): try register(circle, assuming: state, for: client)
    case .keep(let circle):
      manager.restore()
      let name = circle.region.identifier
      if host.read({ $0.circles.snapshot(of: name, in: group)?.circle }) != circle {
        try register(circle, assuming: nil, for: client)
      }
    case .unregister(let name):
      manager.restore()
      update { $0.circles.unregister(name, in: group, into: &$1) }
    case .circles:
      manager.restore()
      return .circles(host.read { $0.circles.registered(in: group) })
    case .circle(let name):
      return .circle(host.read { $0.circles.snapshot(of: name, in: group)?.circle })
    case .snapshot(let name):
      return .snapshot(host.read { $0.circles.snapshot(of: name, in: group) })
    case .requestState(let region):
      let hasSource = source != nil
      update {
        $0.requestState(of: region, in: group, for: identifier, hasSource: hasSource, into: &$1)
      }
    case .startHeadings(let degrees, let orientation):
      try check()
      guard source?.mayHaveCompass == true else { throw .unavailable(Self.noCompass) }
      update { machine, _ in machine.compass.start(filter: degrees, orientation, for: identifier) }
    case .stopHeadings: update { machine, _ in machine.compass.stop(for: identifier) }
    case .latestHeading:
      return .heading(host.read { $0.compass.latestHeading(of: identifier) })
    case .reportHealth:
      update { machine, output in
        // A client that does not receive yet starts here, so it neither misses nor repeats a change.
        client.beginReceiving()
        machine.reportHealth(to: identifier, into: &output)
      }
    }
    return .done
  }

  private func register(
    _ circle: MonitoredCircle, assuming state: GeofenceState?, for client: ServiceClient
  ) throws(LocationServiceError) {
    manager.restore()
    try check(circle.region.identifier)
    do throws(GeofenceError) {
      try host.update(for: client) { machine, output throws(GeofenceError) in
        try machine.circles.register(
          circle, in: client.group, assuming: state, for: client.identifier, into: &output)
      }
    } catch {
      throw .region(circle.region.identifier, error)
    }
  }
}
