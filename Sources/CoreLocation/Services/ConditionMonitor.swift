import Advertising
import Foundation
import Positioning
import Regions
import Scanning
import ServiceCore
import Synchronization

/// The services' client for all ``CLMonitor``s of a name.
final class ConditionMonitor: Sendable {
  let client: ServiceClient
  private let beacons: BeaconClient
  private let locations: LocationClient
  /// The conditions that cannot be monitored, with the event that has the reason.
  private let refused = Mutex<[String: (condition: any CLCondition, event: CLMonitor.Event)]>([:])
  /// The times at which conditions were added, for those whose state is not determined yet.
  private let added = Mutex<[String: Date]>([:])

  init(_ name: String, _ services: LocationServices) {
    // A recording does not wait for an iteration that may never come.
    client = services.core.addClient(
      in: ClientGroup("monitor:\(name)"), isReceiving: false, pacesRecordings: false)
    beacons = BeaconClient(client, of: services.beacons)
    locations = LocationClient(client, of: services.locations)
  }

  /// The event for a condition that cannot be monitored.
  private struct Refusal: ServiceEvent {
    let identifier: String
    let date: Date
    let isLimit: Bool

    var event: CLMonitor.Event {
      CLMonitor.Event(
        identifier: identifier, state: .unmonitored, date: date, conditionLimitExceeded: isLimit,
        conditionUnsupported: !isLimit)
    }
  }

  var identifiers: [String] {
    (beacons.regions.map(\.identifier)
      + locations.circles.map(\.region.identifier)
      + refused.withLock { Array($0.keys) })
      .sorted()
  }

  /// Monitors a condition, or sends an event with the reason that it cannot be monitored.
  func add(
    _ condition: any CLCondition, identifier: String, assuming assumed: CLMonitor.Event.State
  ) {
    switch condition {
    case let beacon as CLMonitor.BeaconIdentityCondition:
      add(beacon, identifier: identifier, assuming: assumed)
    case let circle as CLMonitor.CircularGeographicCondition:
      add(circle, identifier: identifier, assuming: assumed)
    default:
      refuse(condition, identifier)
    }
  }

  private func add(
    _ beacon: CLMonitor.BeaconIdentityCondition, identifier: String,
    assuming assumed: CLMonitor.Event.State
  ) {
    if locations.circle(identifier) != nil { remove(identifier) }
    let region = BeaconRegion(
      identifier: identifier,
      constraint: BeaconConstraint(
        uuid: ProximityUUID(beacon.uuid), major: beacon.major, minor: beacon.minor))
    do throws(BeaconServiceError) {
      try beacons.register(region, assuming: assumed.assumed)
      recordAddition(of: identifier)
    } catch {
      if case .region = error { return refuse(beacon, identifier, isLimit: true) }
      refuse(beacon, identifier)
    }
  }

  private func add(
    _ condition: CLMonitor.CircularGeographicCondition, identifier: String,
    assuming assumed: CLMonitor.Event.State
  ) {
    if beacons.region(identifier) != nil { remove(identifier) }
    let region = CLCircularRegion(
      center: condition.center, radius: condition.radius, identifier: identifier)
    guard let circle = try? MonitoredCircle(region) else {
      return refuse(condition, identifier)
    }
    do throws(LocationServiceError) {
      let state = assumed.assumed.map { $0 == .inside ? GeofenceState.inside : .outside }
      try locations.register(circle, assuming: state)
      recordAddition(of: identifier)
    } catch {
      if case .region(_, .tooMany) = error { return refuse(condition, identifier, isLimit: true) }
      refuse(condition, identifier)
    }
  }

  private func recordAddition(of identifier: String) {
    refused.withLock { $0[identifier] = nil }
    added.withLock { $0[identifier] = $0[identifier] ?? Date() }
  }

  /// Reports that a condition cannot be monitored, and stops monitoring one with its identifier.
  private func refuse(
    _ condition: any CLCondition, _ identifier: String, isLimit: Bool = false
  ) {
    remove(identifier)
    let refusal = Refusal(identifier: identifier, date: Date(), isLimit: isLimit)
    refused.withLock { $0[identifier] = (condition, refusal.event) }
    client.send(refusal)
  }

  /// Stops monitoring a condition, and drops its events that wait.
  func remove(_ identifier: String) {
    beacons.unregister(identifier)
    locations.unregister(identifier)
    refused.withLock { _ = $0.removeValue(forKey: identifier) }
    added.withLock { _ = $0.removeValue(forKey: identifier) }
    client.discardEvents { event in
      switch event {
      case let event as Refusal: event.identifier == identifier
      case BeaconEvent.region(let event): event.region.identifier == identifier
      case LocationEvent.circle(let event): event.circle.region.identifier == identifier
      default: false
      }
    }
  }

  /// Returns a condition and its last event; `nil` for an unknown identifier.
  func record(for identifier: String) -> CLMonitor.Record? {
    if let (condition, event) = refused.withLock({ $0[identifier] }) {
      return CLMonitor.Record(condition: condition, lastEvent: event)
    }
    func date(_ since: WallClockTime?) -> Date {
      since.map { Date($0) } ?? added.withLock { $0[identifier] } ?? Date()
    }
    if let known = locations.snapshot(ofCircle: identifier) {
      return CLMonitor.Record(
        condition: CLMonitor.CircularGeographicCondition(
          center: CLLocationCoordinate2D(known.circle.region.center),
          radius: known.circle.region.radius),
        lastEvent: CLMonitor.Event(
          identifier: identifier, state: CLMonitoringState(known.state), date: date(known.since)))
    }
    guard let known = beacons.snapshot(ofRegion: identifier) else { return nil }
    return CLMonitor.Record(
      condition: CLMonitor.BeaconIdentityCondition(known.region.constraint),
      lastEvent: CLMonitor.Event(
        identifier: identifier, state: CLMonitoringState(known.status.state),
        date: date(known.since), refinement: Self.refinement(known.status.evidence)))
  }

  /// Returns the condition of the beacon that decided a state.
  private static func refinement(_ reason: RegionTransition.Reason) -> (any CLCondition)? {
    reason.lastSighting.map { CLMonitor.BeaconIdentityCondition($0.beacon) }
  }

  /// Starts an iteration, and returns the function that waits for its next event.
  func iteration() -> () async -> CLMonitor.Event? {
    var current: ServiceDelivery?
    return { [self] in
      current?.complete()
      current = nil
      while let delivery = await client.nextDelivery() {
        // An event that was on its way when its condition was removed is dropped.
        if let event = Self.event(delivery.event), isMonitored(event.identifier) {
          current = delivery
          return event
        }
        delivery.complete()
      }
      return nil
    }
  }

  private func isMonitored(_ identifier: String) -> Bool {
    refused.withLock { $0[identifier] != nil }
      || beacons.region(identifier) != nil
      || locations.circle(identifier) != nil
  }

  /// Returns the event of a change or refusal; `nil` if an assumed state was confirmed.
  private static func event(_ event: any ServiceEvent) -> CLMonitor.Event? {
    switch event {
    case let refusal as Refusal: return refusal.event
    case BeaconEvent.region(let event):
      let change = event.transition.change
      guard change.isCrossing || event.transition.previous != change.state else { return nil }
      return CLMonitor.Event(
        identifier: event.region.identifier, state: CLMonitoringState(change.state),
        date: Date(event.wallClockTime), refinement: refinement(event.transition.reason))
    case LocationEvent.circle(let event):
      let change = event.transition.change
      guard change.isCrossing || event.transition.previous != change.state else { return nil }
      return CLMonitor.Event(
        identifier: event.circle.region.identifier, state: CLMonitor.Event.State(change.state),
        date: Date(event.wallClockTime))
    default: return nil
    }
  }
}

extension LocationServices {
  func monitor(_ name: String) -> ConditionMonitor {
    if let known = monitors.withLock({ $0[name] }) { return known }
    // This is outside of the lock, because it calls the provider of the authorization.
    let made = ConditionMonitor(name, self)
    let monitor = monitors.withLock { monitors in
      let monitor = monitors[name] ?? made
      monitors[name] = monitor
      return monitor
    }
    if monitor === made {
      made.client.setReceiving(true)
    } else {
      made.client.remove()
    }
    return monitor
  }
}

extension CLMonitor.BeaconIdentityCondition {
  init(_ constraint: BeaconConstraint) {
    uuid = UUID(constraint.uuid)
    major = constraint.major
    minor = constraint.minor
  }

  init(_ beacon: BeaconIdentity) {
    self.init(uuid: UUID(beacon.uuid), major: beacon.major, minor: beacon.minor)
  }
}

extension CLMonitor.Event.State {
  /// The state to assume of a region; `nil` for none.
  var assumed: RegionState? {
    switch self {
    case .satisfied: .inside
    case .unsatisfied: .outside
    case .unknown, .unmonitored: nil
    }
  }
}
