package import Advertising
package import Scanning

// Only a monitor makes transitions; what was kept over a restart is put together again.

extension RegionTransition {
  package init(
    _ change: Change, at time: Timestamp, region: String, previous: RegionState, reason: Reason
  ) {
    (self.change, self.time, self.region) = (change, time, region)
    (self.previous, self.reason) = (previous, reason)
  }
}

extension RegionTransition.Reason {
  package init(
    _ rule: RegionTransition.Rule, lastSighting: RegionTransition.LastSighting?, samples: Int,
    silenceLimit: Double?, interval: Double?, loss: Double?
  ) {
    (self.rule, self.lastSighting, self.samples) = (rule, lastSighting, samples)
    (self.silenceLimit, self.interval, self.loss) = (silenceLimit, interval, loss)
  }
}

extension RegionTransition.LastSighting {
  package init(of beacon: BeaconIdentity, at time: Timestamp, rssi: Int8?) {
    (self.time, self.beacon, self.rssi) = (time, beacon, rssi)
  }
}
