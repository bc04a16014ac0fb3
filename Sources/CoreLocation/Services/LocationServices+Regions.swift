import Foundation
import RegionPersistence
import Regions
import Scanning
import Synchronization

/// Regions, which all managers share.
extension LocationServices {
  /// The most regions at once.
  var mostRegions: Int { configuration.monitoring.mostRegions }

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
  func startMonitoring(
    _ region: CLRegion, assuming assumed: RegionState? = nil, for manager: CLLocationManager
  ) {
    useCurrentThread(manager)
    if let error = refusal(of: region) {
      return send(to: manager) { $0.tellFailure(of: region, error) }
    }
    guard let region = (region as? CLBeaconRegion)?.duplicate() else { return }
    let failure = state.withLock { state -> RegionError? in
      do throws(RegionError) {
        try state.engine.monitor.add(
          MonitoredRegion(region, rules: configuration.rules), assuming: assumed)
        state.regions[region.identifier] = region
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      return send(to: manager) { manager in
        manager.tellFailure(of: region, CLError(.regionMonitoringFailure, "\(failure)"))
      }
    }
    store { store throws(StoreError) in
      try store.put(StoredRegion(region, rules: configuration.rules))
    }
    send(to: manager) { $0.tellStart(of: region) }
    wake()
  }

  /// Why a region cannot be monitored.
  private func refusal(of region: CLRegion) -> CLError? {
    guard region is CLBeaconRegion else {
      return CLError(
        .regionMonitoringFailure,
        "only beacon regions can be monitored on this system, not circular ones")
    }
    if case .unavailable(let reason) = availability {
      return CLError(.regionMonitoringFailure, reason)
    }
    switch state.withLock({ $0.status }) {
    case .denied, .restricted: return CLError(.regionMonitoringDenied)
    default: return nil
    }
  }

  /// Stops to monitor the region of that identifier.
  func stopMonitoring(_ region: CLRegion) {
    let removed = state.withLock { state in
      state.engine.monitor.remove(region.identifier)
      return state.regions.removeValue(forKey: region.identifier)
    }
    guard removed != nil else { return }
    store { store throws(StoreError) in
      _ = try store.remove(StoredRegion.Key(identifier: region.identifier))
    }
  }

  /// Finds out a region's state, monitored or not, and tells it.
  func requestState(of region: CLRegion, for manager: CLLocationManager) {
    useCurrentThread(manager)
    guard let region = region as? CLBeaconRegion else { return }
    let answer = state.withLock { $0.answer(of: region, rules: configuration.rules) }
    if let answer { send(to: manager) { $0.tell(answer, for: region) } }
    wake()
  }
}

extension ServiceState {
  /// The state of a region, where it is known at once; else it will be told when it is.
  fileprivate mutating func answer(of region: CLBeaconRegion, rules: RegionRules) -> CLRegionState?
  {
    // Nobody can find out without being allowed to listen.
    guard isAuthorized, end == nil else { return .unknown }
    let monitored = regions[region.identifier]
    if monitored != nil {
      guard engine.monitor.isDetermined(region.identifier) else { return nil }
      return engine.monitor.state(of: region.identifier).map { CLRegionState($0) }
    }
    let name = EngineName(question: region.identifier).text
    guard questions[name] == nil else { return nil }
    do throws(RegionError) {
      try engine.monitor.add(
        MonitoredRegion(identifier: name, constraint: BeaconConstraint(region), rules: rules))
      questions[name] = region.duplicate()
      return nil
    } catch {
      return .unknown
    }
  }
}
