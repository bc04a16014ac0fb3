package import Advertising
package import Scanning

// Only a monitor makes transitions. This file rebuilds stored ones.

extension RegionTransition {
  package init(
    _ change: Change, at time: MonotonicTime, region: String, beacon: BeaconIdentity? = nil,
    beaconsInside: Int? = nil, previous: RegionState, reason: Reason
  ) {
    (self.change, self.time, self.region) = (change, time, region)
    (self.beacon, self.beaconsInside) = (beacon, beaconsInside)
    (self.previous, self.reason) = (previous, reason)
  }
}

extension RegionTransition {
  /// Returns the transition with another region name.
  package func renamed(_ region: String) -> RegionTransition {
    RegionTransition(
      change, at: time, region: region, beacon: beacon, beaconsInside: beaconsInside,
      previous: previous, reason: reason)
  }

  /// Returns the transition with all moments later by some nanoseconds.
  package func shifted(by nanoseconds: Int64) -> RegionTransition {
    guard nanoseconds != 0 else { return self }
    let last = reason.lastSighting.map { last in
      LastSighting(
        of: last.beacon, at: last.time.advanced(by: nanoseconds), rssi: last.rssi,
        distance: last.distance)
    }
    return RegionTransition(
      change, at: time.advanced(by: nanoseconds), region: region, beacon: beacon,
      beaconsInside: beaconsInside, previous: previous,
      reason: Reason(
        reason.rule, lastSighting: last, samples: reason.samples,
        exitTimeout: reason.exitTimeout, interval: reason.interval, loss: reason.loss))
  }
}

extension RegionTransition.Reason {
  package init(
    _ rule: RegionTransition.Rule, lastSighting: RegionTransition.LastSighting?, samples: Int,
    exitTimeout: Double?, interval: Double?, loss: Double?
  ) {
    (self.rule, self.lastSighting, self.samples) = (rule, lastSighting, samples)
    (self.exitTimeout, self.interval, self.loss) = (exitTimeout, interval, loss)
  }
}

extension RegionTransition.LastSighting {
  package init(
    of beacon: BeaconIdentity, at time: MonotonicTime, rssi: Int8?, distance: Double? = nil
  ) {
    (self.time, self.beacon, self.rssi, self.distance) = (time, beacon, rssi, distance)
  }
}
