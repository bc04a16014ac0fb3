import Dispatch
import Foundation
import RegionStorage
import Regions
import Scanning
import Synchronization

/// What the app may do.
extension LocationServices {
  /// The status now.
  var authorizationStatus: CLAuthorizationStatus {
    checkAuthorization()
    return state.withLock { $0.status }
  }

  /// Whether anything hears beacons at all.
  var isEnabled: Bool { availability == .available }

  /// The app asks; answered through the delegate, and only while nothing is determined, but for the one
  /// step from when-in-use to always.
  func request(_ wanted: CLAuthorizationStatus, for manager: CLLocationManager) {
    useCurrentThread(manager)
    let store = openStore()
    state.withLock { state in
      let isRaise = state.granted == .authorizedWhenInUse && wanted == .authorizedAlways
      guard state.granted == nil || isRaise else { return }
      state.granted = wanted
      state.keep(in: store) { store throws(StoreError) in
        try store.setAuthorization(wanted.stored)
      }
    }
    checkAuthorization()
  }

  /// Asks the provider, and tells every delegate what changed.
  func checkAuthorization() {
    let rule = configuration.authorization.rule(
      for: configuration.applicationIdentifier, scanner: availability)
    let managers = state.withLock { state -> [CLLocationManager] in
      let status = rule.status(granted: state.granted)
      guard status != state.status else { return [] }
      state.status = status
      return state.clients.values.compactMap { $0.status == .told ? $0.manager : nil }
    }
    managers.forEach(tellStatus)
    wake()
  }

  /// A manager has a delegate now: it is told what it missed.
  func delegateCame(to manager: CLLocationManager) {
    let (owesStatus, calls) = state.withLock { state in
      let owesStatus = state.clients[ObjectIdentifier(manager)]?.status == .missed
      if owesStatus { state.clients[ObjectIdentifier(manager)]?.status = .coming }
      return (owesStatus, state.takeUndelivered())
    }
    if owesStatus { tellStatus(manager) }
    send(calls)
  }

  /// Tells a manager's delegate the status. A manager whose delegate comes later is told then.
  func tellStatus(_ manager: CLLocationManager) {
    send(to: manager) { [weak self] manager in
      guard let self else { return }
      // A delegate that comes after this look is told by its coming.
      let status = self.state.withLock { state -> CLAuthorizationStatus? in
        let isThere = manager.delegate != nil
        state.clients[ObjectIdentifier(manager)]?.status = isThere ? .told : .missed
        return isThere ? state.status : nil
      }
      if let status { manager.tell(status) }
    }
  }

  /// Looks every few seconds whether what is allowed has changed, as long as there are managers.
  func watchAuthorization() {
    guard !configuration.isDrivenByHand else { return }
    let starts = state.withLock { state in
      defer { state.isWatching = true }
      return !state.isWatching
    }
    if starts { scheduleWatch() }
  }

  private func scheduleWatch() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 2) { [weak self] in
      guard let self else { return }
      let isWatching = self.state.withLock { state in
        state.isWatching = !state.clients.isEmpty
        return state.isWatching
      }
      guard isWatching else { return }
      self.checkAuthorization()
      self.scheduleWatch()
    }
  }
}
