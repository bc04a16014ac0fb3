import Foundation
import RegionStorage
import Regions
import Scanning
import Synchronization

/// What outlives the process.
extension LocationServices {
  /// The store, opened when it is first needed; `nil` where nothing outlives the process, or nothing can.
  func openStore() -> RegionStore? {
    var remarks: [String] = []
    let store: RegionStore? = storage.storage.withLock { storage in
      if case .open(let store) = storage { return store }
      guard case .unopened = storage else { return nil }
      do throws(StoreError) {
        let store: RegionStore
        switch configuration.persistence {
        case .none:
          storage = .closed(nil)
          return nil
        case .standard:
          store = try RegionStore(applicationIdentifier: configuration.applicationIdentifier)
        case .file(let path): store = try RegionStore(path: path)
        }
        remarks = store.remarks
        storage = .open(store)
        return store
      } catch {
        // Who drives the services asks: ``storageFailure``.
        if !configuration.isDrivenByHand { remarks = ["\(error); regions are not kept"] }
        storage = .closed(error)
        return nil
      }
    }
    remarks.forEach(configuration.remark)
    return store
  }

  /// Takes up what was there when the process before ended: regions with their states, which the first
  /// evidence confirms or refutes; events that nobody was told; what the app was granted.
  func restore() {
    // Who comes meanwhile waits until it is done.
    let calls = isRestored.withLock { isRestored -> [DelegateCall]? in
      guard !isRestored else { return nil }
      isRestored = true
      guard let store = openStore() else { return nil }
      let (kept, pending) = (store.regions, store.pending)
      let granted = store.authorization.flatMap(CLAuthorizationStatus.init(stored:))
      return state.withLock { state in
        state.granted = state.granted ?? granted
        for region in kept { state.restore(region) }
        for event in pending { state.take(pending: event) }
        return state.takeUndelivered()
      }
    }
    guard let calls else { return }
    send(calls)
    wake()
  }
}

/// The store, before and after it is opened.
final class StorageBox: Sendable {
  enum Storage {
    case unopened
    case open(RegionStore)
    case closed(StoreError?)
  }

  let storage = Mutex(Storage.unopened)

  /// Tells the store that an event was delivered: at once, on the thread on which it was.
  func acknowledge(_ serial: UInt64) {
    storage.withLock { storage in
      if case .open(let store) = storage { store.delivered(serial) }
    }
  }
}

/// Counts the delegates that an event is still to be told to; the last one's return ends it.
final class Acknowledgement: Sendable {
  private let left: Atomic<Int>
  private let wasTold = Atomic<Bool>(false)
  private let end: @Sendable (Bool) -> Void

  /// Makes a count; `end` is told whether any delegate was there.
  init(count: Int, end: @escaping @Sendable (Bool) -> Void) {
    left = Atomic(count)
    self.end = end
  }

  /// One of them has returned, or is gone.
  func returned(told isThere: Bool) {
    if isThere { wasTold.store(true, ordering: .relaxed) }
    if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      end(wasTold.load(ordering: .relaxed))
    }
  }
}

extension CLAuthorizationStatus {
  init?(stored name: String) {
    switch name {
    case "always": self = .authorizedAlways
    case "whenInUse": self = .authorizedWhenInUse
    default: return nil
    }
  }

  /// The name under which the store keeps what an app was granted.
  var stored: String? {
    switch self {
    case .authorizedAlways: "always"
    case .authorizedWhenInUse: "whenInUse"
    case .notDetermined, .restricted, .denied: nil
    }
  }
}

extension ServiceState {
  /// Takes up a region as it was kept.
  fileprivate mutating func restore(_ kept: StoredRegion) {
    let name = EngineName(kept.key).text
    do throws(RegionError) {
      let region = kept.region
      try engine.monitor.add(
        MonitoredRegion(identifier: name, constraint: region.constraint, rules: region.rules),
        assuming: kept.state == .unknown ? nil : kept.state, timeout: kept.silenceLimit)
    } catch {
      return
    }
    if kept.owner.isEmpty {
      regions[kept.region.identifier] = CLBeaconRegion(kept)
    } else {
      monitors[kept.owner, default: MonitorClient()].conditions[kept.region.identifier] =
        MonitorClient.Condition(kept)
    }
  }

  /// Takes an event that the process before was not there to tell.
  fileprivate mutating func take(pending event: StoredEvent) {
    if event.key.owner.isEmpty {
      keep(undelivered: event)
    } else {
      monitors[event.key.owner, default: MonitorClient()].take(event)
    }
  }
}

extension StoredRegion {
  /// A manager's region, to be kept.
  init(_ region: CLBeaconRegion, rules: RegionRules) {
    self.init(MonitoredRegion(region, rules: rules))
    notifyOnEntry = region.notifyOnEntry
    notifyOnExit = region.notifyOnExit
    notifyEntryStateOnDisplay = region.notifyEntryStateOnDisplay
  }
}

extension CLBeaconRegion {
  fileprivate convenience init(_ kept: StoredRegion) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(kept.region.constraint),
      identifier: kept.region.identifier)
    notifyOnEntry = kept.notifyOnEntry
    notifyOnExit = kept.notifyOnExit
    notifyEntryStateOnDisplay = kept.notifyEntryStateOnDisplay
    rules = kept.region.rules
  }
}

/// The name of a region in the engine: a manager's is its identifier; others begin with a byte that none of
/// those has.
struct EngineName {
  let text: String

  init(_ key: StoredRegion.Key) {
    text = key.owner.isEmpty ? key.identifier : "\0\(key.owner)\0\(key.identifier)"
  }

  /// A region that is looked at for an answer alone.
  init(question region: CLBeaconRegion) {
    text = "\0?\(region.identifier)\0\(BeaconConstraint(region))"
  }

  /// Whose region a name stands for; `nil` for a question.
  static func key(of name: String) -> StoredRegion.Key? {
    guard name.first == "\0" else { return StoredRegion.Key(identifier: name) }
    if name.dropFirst().first == "?" { return nil }
    let parts = name.dropFirst().split(
      separator: "\0", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return StoredRegion.Key(owner: String(parts[0]), identifier: String(parts[1]))
  }
}
