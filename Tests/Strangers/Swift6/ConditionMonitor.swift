// The modern side: CLMonitor.
import CoreLocation

actor ConditionMonitor {
  private var monitor: CLMonitor?
  private(set) var satisfied: [String] = []
  private var task: Task<Void, any Error>?

  func start(_ uuid: UUID) async {
    let monitor = await CLMonitor("kiosk")
    self.monitor = monitor
    await monitor.add(
      CLMonitor.BeaconIdentityCondition(uuid: uuid), identifier: "all", assuming: .unsatisfied)
    await monitor.add(
      CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1), identifier: "group")
    let one = CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1, minor: 2)
    await monitor.add(one, identifier: "one")
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2D(latitude: 1, longitude: 2), radius: 50)
    await monitor.add(circle, identifier: "circle")
    for identifier in await monitor.identifiers {
      guard let record = await monitor.record(for: identifier) else { continue }
      if let beacon = record.condition as? CLMonitor.BeaconIdentityCondition {
        print(beacon.uuid, beacon.major ?? 0, beacon.minor ?? 0)
      } else if let circle = record.condition as? CLMonitor.CircularGeographicCondition {
        print(circle.center.latitude, circle.radius)
      }
      print(record.lastEvent.state, record.lastEvent.date)
    }
    task = Task {
      for try await event in await monitor.events {
        handle(event)
      }
    }
  }

  func stop() async {
    task?.cancel()
    guard let monitor else { return }
    for name in await monitor.identifiers { await monitor.remove(name) }
  }

  private func handle(_ event: CLMonitor.Event) {
    switch event.state {
    case .satisfied: satisfied.append(event.identifier)
    case .unsatisfied: satisfied.removeAll { $0 == event.identifier }
    case .unknown: break
    case .unmonitored:
      if event.conditionLimitExceeded || event.conditionUnsupported { print("cannot") }
      if event.authorizationDenied || event.authorizationDeniedGlobally { print("may not") }
      if event.authorizationRestricted || event.authorizationRequestInProgress { print("wait") }
      if event.accuracyLimited || event.insufficientlyInUse { print("not now") }
      if event.persistenceUnavailable || event.serviceSessionRequired { print("no") }
    @unknown default: break
    }
    if let refined = event.refinement as? CLMonitor.BeaconIdentityCondition {
      print(refined.major as Any, refined.minor as Any)
    }
  }
}

@MainActor
final class MonitorModel {
  var events: [String: CLMonitor.Event.State] = [:]
  static let shared = MonitorModel()
  var monitor: CLMonitor?

  func run() async throws {
    if monitor == nil { monitor = await CLMonitor("main") }
    guard let monitor else { return }
    for try await event in await monitor.events where event.state != .unknown {
      events[event.identifier] = event.state
    }
  }

  func first() async throws -> CLMonitor.Event? {
    guard let monitor else { return nil }
    var iterator = await monitor.events.makeAsyncIterator()
    return try await iterator.next()
  }

  func last(_ name: String) async -> CLMonitor.Event? {
    await monitor?.record(for: name)?.lastEvent
  }
}
