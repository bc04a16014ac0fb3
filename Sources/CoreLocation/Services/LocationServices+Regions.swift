import Foundation
import RegionStorage
package import Regions
import Scanning
import Synchronization

/// Regions, which all managers share.
extension LocationServices {
  /// Copies of the regions.
  var monitoredRegions: Set<CLRegion> {
    restore()
    return state.withLock { state in Set(state.regions.values.map { $0.duplicate() }) }
  }

  /// Starts to monitor, or says why not.
  ///
  /// - Parameters:
  ///   - region: The region; one of the same identifier is replaced.
  ///   - assumed: The state it is taken to have, so that the first evidence to the contrary is a crossing.
  ///   - manager: Who asks.
  package func startMonitoring(
    _ region: CLRegion, assuming assumed: RegionState? = nil, for manager: CLLocationManager
  ) {
    useCurrentThread(manager)
    if let error = refusal(of: region) {
      return send(to: manager) { $0.tellFailure(of: region, error) }
    }
    guard let region = (region as? CLBeaconRegion)?.duplicate() else { return }
    let store = openStore()
    let tellStart = { @Sendable (manager: CLLocationManager) in manager.tellStart(of: region) }
    let failure = state.withLock { state in
      let failure = state.start(
        region, rules: configuration.rules, assuming: assumed, keptIn: store)
      // Under the lock the call only takes its place, before any that tells of the region.
      if failure == nil, !configuration.isDrivenByHand,
        let client = state.clients[ObjectIdentifier(manager)]
      {
        send([state.call(client, tellStart)])
      }
      return failure
    }
    if let failure {
      return send(to: manager) { manager in
        manager.tellFailure(of: region, CLError(.regionMonitoringFailure, failure))
      }
    }
    if configuration.isDrivenByHand { send(to: manager, tellStart) }
    if let fault = state.withLock({ $0.health.fault }) {
      send(to: manager) { manager in
        manager.tellFailure(of: region, CLError(.regionMonitoringFailure, fault.sentence))
      }
    }
    wake()
  }

  /// Why a region cannot be monitored.
  private func refusal(of region: CLRegion) -> CLError? {
    guard region is CLBeaconRegion else {
      return CLError(
        .regionMonitoringFailure,
        "only beacon regions can be monitored on this system, not circular ones")
    }
    if let unavailability { return CLError(.regionMonitoringFailure, unavailability) }
    switch state.withLock({ $0.status }) {
    case .denied, .restricted: return CLError(.regionMonitoringDenied)
    default: return nil
    }
  }

  /// Stops to monitor the region of that identifier.
  func stopMonitoring(_ region: CLRegion) {
    let (identifier, store) = (region.identifier, openStore())
    let answers = state.withLock { state in
      state.stop(identifier, keptIn: store)
      return state.giveUpQuestions(of: identifier)
    }
    send(answers)
  }

  /// Finds out a region's state, monitored or not, and tells it.
  func requestState(of region: CLRegion, for manager: CLLocationManager) {
    useCurrentThread(manager)
    guard let region = (region as? CLBeaconRegion)?.duplicate() else { return }
    let isAvailable = availability == .available
    let answer = state.withLock { state in
      isAvailable && state.health.fault == nil
        ? state.answer(of: region, rules: configuration.rules) : .unknown
    }
    if let answer { send(to: manager) { $0.tell(answer, for: region) } }
    wake()
  }
}

// A region is kept before it is monitored, under the lock, so that no change of it is missed.
extension ServiceState {
  /// Monitors a region. One that is monitored already, all alike, keeps its state: starting twice makes
  /// no new events, and what was known before a restart stays known.
  ///
  /// - Returns: Why not.
  fileprivate mutating func start(
    _ region: CLBeaconRegion, rules: RegionRules, assuming assumed: RegionState?,
    keptIn store: RegionStore?
  ) -> String? {
    let monitored = MonitoredRegion(region, rules: rules)
    let isKnown = engine.monitor.region(region.identifier) == monitored
    if !isKnown {
      do throws(RegionError) {
        try engine.monitor.add(monitored, assuming: assumed)
      } catch {
        return "\(error)"
      }
    }
    regions[region.identifier] = region
    keep(in: store) { store throws(StoreError) in
      var kept = StoredRegion(region, rules: rules)
      kept.state = assumed ?? .unknown
      if isKnown, let before = store.region(kept.key) {
        (kept.state, kept.since, kept.silenceLimit) =
          (before.state, before.since, before.silenceLimit)
      }
      try store.put(kept)
    }
    return nil
  }

  fileprivate mutating func stop(_ identifier: String, keptIn store: RegionStore?) {
    engine.monitor.remove(identifier)
    undelivered.removeAll { $0.key.owner.isEmpty && $0.key.identifier == identifier }
    guard regions.removeValue(forKey: identifier) != nil else { return }
    keep(in: store) { store throws(StoreError) in
      _ = try store.remove(StoredRegion.Key(identifier: identifier))
    }
  }

  /// Has the store keep something; without it, the services go on.
  func keep(in store: RegionStore?, _ body: (RegionStore) throws(StoreError) -> Void) {
    guard let store else { return }
    do throws(StoreError) {
      try body(store)
    } catch {
      remark("\(error)")
    }
  }

  /// The state of a region, where it is known at once; else it will be told when it is.
  fileprivate mutating func answer(of region: CLBeaconRegion, rules: RegionRules) -> CLRegionState?
  {
    // Nobody can find out without being allowed to listen.
    guard isAuthorized, end == nil else { return .unknown }
    let monitored = regions[region.identifier]
    if monitored != nil {
      guard engine.monitor.isDetermined(region.identifier) else {
        asked[region.identifier] = region
        return nil
      }
      return engine.monitor.state(of: region.identifier).map { CLRegionState($0) }
    }
    let name = EngineName(question: region).text
    guard questions[name] == nil else { return nil }
    do throws(RegionError) {
      try engine.monitor.add(
        MonitoredRegion(identifier: name, constraint: BeaconConstraint(region), rules: rules))
      questions[name] = region
      return nil
    } catch {
      return .unknown
    }
  }
}
