import Advertising
import Foundation
import RegionStorage
import Regions
import Scanning
import Synchronization

/// What monitors ask for.
extension LocationServices {
  /// The monitor of a name is there.
  func open(monitor name: String) {
    restore()
    checkAuthorization()
    watchAuthorization()
    state.withLock { state in
      if state.monitors[name] == nil { state.monitors[name] = MonitorClient() }
    }
  }

  /// Wakes who iterates over a monitor's events, whenever one comes.
  func signals(of name: String) -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = state.withLock { $0.monitors[name, default: MonitorClient()].add(continuation) }
      continuation.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.monitors[name]?.listeners.removeValue(forKey: number) }
      }
    }
  }

  /// Takes a monitor's next event.
  func takeEvent(of name: String) -> MonitorClient.Delivery? {
    state.withLock { $0.monitors[name]?.take() }
  }

  /// The app has done with an event.
  func acknowledge(_ serial: UInt64) {
    storage.acknowledge(serial)
  }

  /// The conditions of a monitor.
  func conditions(of name: String) -> [String: MonitorClient.Condition] {
    state.withLock { $0.monitors[name]?.conditions ?? [:] }
  }

  /// Watches a condition, or tells in an event why it cannot.
  func watch(
    _ condition: any CLCondition, identifier: String, assuming assumed: CLMonitor.Event.State,
    for name: String
  ) {
    let key = StoredRegion.Key(owner: name, identifier: identifier)
    let event = CLMonitor.Event(identifier: identifier, state: assumed, date: Date())
    guard let beacon = condition as? CLMonitor.BeaconIdentityCondition else {
      unwatch(identifier, for: name)
      return refuse(
        condition, for: name,
        CLMonitor.Event(
          identifier: identifier, state: .unmonitored, date: Date(), conditionUnsupported: true))
    }
    let constraint = BeaconConstraint(
      uuid: ProximityUUID(beacon.uuid), major: beacon.major, minor: beacon.minor)
    let region = MonitoredRegion(
      identifier: EngineName(key).text, constraint: constraint, rules: configuration.rules)
    let store = openStore()
    let isAdded = state.withLock { state in
      // One that is watched already, all alike, keeps its state.
      if state.engine.monitor.region(region.identifier) == region { return true }
      do throws(RegionError) {
        try state.engine.monitor.add(region, assuming: assumed.assumed)
      } catch {
        return false
      }
      state.monitors[name, default: MonitorClient()].conditions[identifier] =
        MonitorClient.Condition(condition: condition, lastEvent: event)
      state.keep(in: store) { store throws(StoreError) in
        var kept = StoredRegion(
          MonitoredRegion(
            identifier: identifier, constraint: constraint, rules: configuration.rules),
          owner: name)
        kept.state = assumed.assumed ?? .unknown
        try store.put(kept)
      }
      return true
    }
    guard isAdded else {
      return refuse(
        condition, for: name,
        CLMonitor.Event(
          identifier: identifier, state: .unmonitored, date: Date(), conditionLimitExceeded: true))
    }
    wake()
  }

  private func refuse(
    _ condition: any CLCondition, for name: String, _ event: CLMonitor.Event
  ) {
    state.withLock { state in
      state.monitors[name, default: MonitorClient()].conditions[event.identifier] =
        MonitorClient.Condition(condition: condition, lastEvent: event)
      state.monitors[name]?.give(MonitorClient.Delivery(event: event, serial: nil))
    }
  }

  /// Watches a condition no longer.
  func unwatch(_ identifier: String, for name: String) {
    let key = StoredRegion.Key(owner: name, identifier: identifier)
    let store = openStore()
    state.withLock { state in
      state.engine.monitor.remove(EngineName(key).text)
      _ = state.monitors[name]?.conditions.removeValue(forKey: identifier)
      state.keep(in: store) { store throws(StoreError) in _ = try store.remove(key) }
    }
  }
}
