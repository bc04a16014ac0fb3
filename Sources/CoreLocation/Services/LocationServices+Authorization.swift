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
    restore()
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
    let (managers, answers) = state.withLock { state -> ([WeakManager], [DelegateCall]) in
      let status = rule.status(granted: state.granted)
      guard status != state.status else { return ([], []) }
      state.status = status
      return (state.managersToldStatus, state.isAuthorized ? [] : state.giveUpQuestions())
    }
    send(answers)
    for manager in managers { manager.value.map(tellStatus) }
    wake()
  }

  /// A manager has a delegate now: it is told what it missed.
  func delegateCame(to manager: CLLocationManager) {
    let (owesStatus, calls) = state.withLock { state in
      let owesStatus = state.clients[ObjectIdentifier(manager)]?.status == .missed
      state.clients[ObjectIdentifier(manager)]?.hasDelegate = true
      for event in returned.take() { state.keep(undelivered: event) }
      if owesStatus { state.clients[ObjectIdentifier(manager)]?.status = .coming }
      return (owesStatus, state.takeUndelivered())
    }
    if owesStatus { tellStatus(manager) }
    send(calls)
  }

  /// A manager has no delegate any more.
  func delegateLeft(_ manager: CLLocationManager) {
    state.withLock { $0.clients[ObjectIdentifier(manager)]?.hasDelegate = false }
  }

  /// Tells a manager's delegate the status. A manager whose delegate comes later is told then.
  func tellStatus(_ manager: CLLocationManager) {
    let ticket = calls.ticket()
    let place = state.withLock { state -> (context: DeliveryContext, number: Int)? in
      let id = ObjectIdentifier(manager)
      state.clients[id]?.firstStatus = ticket
      return state.clients[id].map { ($0.context, $0.statusNumber) }
    }
    guard let place else { return ticket.end() }
    place.context.perform { [weak self, manager = WeakManager(value: manager)] in
      defer { ticket.end() }
      guard let self, let manager = manager.value else { return }
      // A delegate that comes after this look is told by its coming; a call that was moved is not made.
      let status = self.state.withLock { state -> CLAuthorizationStatus? in
        let id = ObjectIdentifier(manager)
        guard let client = state.clients[id], client.statusNumber == place.number else {
          return nil
        }
        state.clients[id]?.firstStatus = nil
        state.clients[id]?.status = client.hasDelegate ? .told : .missed
        return client.hasDelegate ? state.status : nil
      }
      if let status { manager.tell(status) }
    }
  }

  /// Calls come elsewhere from now on: so does the first one, which may wait where nobody calls.
  func moveStatus(_ manager: CLLocationManager) {
    let waiting = state.withLock { state -> CallsInFlight.Ticket? in
      let id = ObjectIdentifier(manager)
      guard state.clients[id]?.status == .coming, let ticket = state.clients[id]?.firstStatus else {
        return nil
      }
      state.clients[id]?.statusNumber += 1
      return ticket
    }
    guard let waiting else { return }
    tellStatus(manager)
    waiting.end()
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
        state.isWatching = !state.clients.isEmpty || !state.monitors.isEmpty
        return state.isWatching
      }
      guard isWatching else { return }
      self.checkAuthorization()
      self.scheduleWatch()
    }
  }
}
