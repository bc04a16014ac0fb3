import Foundation
import Scanning
import Synchronization

/// What managers ask for.
extension LocationServices {
  /// A manager was made on the current thread: soon, its delegate is told the status.
  func register(_ manager: CLLocationManager) {
    let context = self.context(of: nil)
    state.withLock {
      $0.clients[ObjectIdentifier(manager)] = ServiceState.Client(
        manager: WeakManager(value: manager), context: context)
    }
    restore()
    checkAuthorization()
    tellStatus(manager)
    watchAuthorization()
  }

  /// A manager is gone: what it ranged is no longer ranged; regions stay.
  func unregister(_ manager: ObjectIdentifier) {
    state.withLock { state in
      state.clients[manager] = nil
      state.updateRanging()
    }
  }

  /// A service was started on the current thread, where its delegate is called from now on.
  func useCurrentThread(_ manager: CLLocationManager) {
    let latest = state.withLock { $0.clients[ObjectIdentifier(manager)]?.context }
    let context = self.context(of: manager.delegateQueue, after: latest)
    state.withLock { $0.clients[ObjectIdentifier(manager)]?.context = context }
    if let latest, !latest.isSame(as: context) { moveStatus(manager) }
  }

  private func context(of queue: DispatchQueue?, after latest: DeliveryContext? = nil)
    -> DeliveryContext
  {
    if configuration.isDrivenByHand { return .inline }
    return (queue ?? configuration.delegateQueue).map { .queue($0) } ?? .current(after: latest)
  }

  /// Calls a manager's delegate, soon.
  func send(to manager: CLLocationManager, _ body: @escaping @Sendable (CLLocationManager) -> Void)
  {
    let call = state.withLock { state in
      state.clients[ObjectIdentifier(manager)].map { state.call($0, body) }
    }
    if let call { send([call]) }
  }

  /// Asks for more than a delegate can be told.
  package func ask(_ interest: ServiceInterest, for manager: CLLocationManager) {
    state.withLock { state in
      state.clients[ObjectIdentifier(manager)]?.interest = interest
      state.updateRanging()
    }
    wake()
  }
}

/// Ranging.
extension LocationServices {
  /// Starts to range, or says why not.
  ///
  /// - Parameters:
  ///   - constraint: Which beacons.
  ///   - region: The region by which they were asked for, in the old way.
  ///   - manager: Who asks.
  func startRanging(
    _ constraint: CLBeaconIdentityConstraint, in region: CLBeaconRegion?,
    for manager: CLLocationManager
  ) {
    useCurrentThread(manager)
    if let unavailability {
      return send(to: manager) {
        $0.tellFailure(of: constraint, in: region, CLError(.rangingUnavailable, unavailability))
      }
    }
    let isRefused = state.withLock { state in
      guard state.status != .denied, state.status != .restricted else { return true }
      state.clients[ObjectIdentifier(manager)]?.ranged[BeaconConstraint(constraint)] = .some(region)
      state.updateRanging()
      return false
    }
    guard !isRefused else {
      return send(to: manager) { $0.tellFailure(of: constraint, in: region, CLError(.denied)) }
    }
    if let fault = state.withLock({ $0.health.fault }) {
      send(to: manager) { manager in
        manager.tellFailure(
          of: constraint, in: region, CLError(.rangingUnavailable, fault.sentence))
      }
    }
    wake()
  }

  /// Stops to range what an equal constraint started.
  func stopRanging(_ constraint: CLBeaconIdentityConstraint, for manager: CLLocationManager) {
    state.withLock { state in
      state.clients[ObjectIdentifier(manager)]?.ranged[BeaconConstraint(constraint)] = nil
      state.updateRanging()
    }
  }

  /// What a manager ranges.
  func ranged(by manager: CLLocationManager) -> [(BeaconConstraint, CLBeaconRegion?)] {
    state.withLock { state in
      state.clients[ObjectIdentifier(manager)]?.ranged.map { ($0.key, $0.value) } ?? []
    }
  }
}
