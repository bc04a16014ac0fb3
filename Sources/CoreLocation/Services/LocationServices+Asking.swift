import RegionStorage
package import Regions
package import Scanning
import Synchronization

/// What who drives the services by hand may ask.
extension LocationServices {
  /// What to add to a moment of the scanner, in nanoseconds, to get what the clock on the wall showed.
  package var wallClockShift: Int64 { state.withLock { $0.wallClockShift } }

  /// From when until when something was listened to, on the line of sightings; `nil` before.
  package var listened: (from: MonotonicTime, to: MonotonicTime)? {
    state.withLock { state in
      guard let began = state.engine.began, let now = state.engine.now else { return nil }
      return (began, now)
    }
  }

  /// How many beacons were ranged, and how many of them had to make room for others.
  package var beaconsHeard: (count: Int, evictions: Int) {
    state.withLock { $0.engine.beaconsHeard }
  }

  /// What is known of a region of a manager at this moment.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: Its status; `nil` if it is not monitored.
  package func status(ofRegion identifier: String) -> RegionStatus? {
    state.withLock { $0.engine.monitor.status(of: identifier) }
  }

  /// How many beacons of regions were heard, and how many of them had to make room for others.
  package var beaconsMonitored: (count: Int, evictions: Int) {
    state.withLock { state in
      let evictions = state.engine.monitor.evictions
      return (state.engine.monitor.beaconCount + evictions, evictions)
    }
  }

  /// Why nothing outlives the process though it should: one sentence.
  package var storageFailure: String? {
    _ = openStore()
    return storage.storage.withLock { storage in
      guard case .closed(let failure) = storage else { return nil }
      return failure.map { "\($0)" }
    }
  }

  /// Since when a manager's region has been in its state, over restarts.
  ///
  /// - Parameter identifier: Which region.
  /// - Returns: The moment, as the clock on the wall showed it; `nil` where nothing is kept.
  package func keptSince(ofRegion identifier: String) -> MonotonicTime? {
    openStore()?.region(StoredRegion.Key(identifier: identifier))?.since
  }

  /// What happened to regions of managers that no delegate was told, in the process before this one: it is
  /// told when a manager gets a delegate.
  package var untold: [RegionTransition] {
    state.withLock { $0.undelivered.map(\.transition) }
  }
}
