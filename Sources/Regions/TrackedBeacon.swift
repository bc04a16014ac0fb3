internal import Advertising
internal import Scanning

/// What is known of one beacon.
struct TrackedBeacon: Sendable {
  var identity: BeaconIdentity
  /// The serial number of the beacon at this place.
  var serial: UInt32
  /// The last sighting, in reception time: so long ago as the beacon was silent at the present duty.
  var lastReceived = Int64.min
  /// How long the beacon was silent at the other duty since its last sighting, in nanoseconds.
  var otherSilence: Int64 = 0
  /// The moment of the last sighting.
  var lastTime = MonotonicTime(nanoseconds: 0)
  var rssi: Int8?
  var measuredPower: Int8 = .max
  /// The sender of the last sighting; `nil` before the first.
  var sender: (address: BluetoothAddress, type: AddressType)?
  var samples = 0
  /// What is learned of its gaps at the present duty, and at the other one.
  var learner = GapLearner()
  var otherLearner = GapLearner(share: RegionMonitor.slowShare)
  /// Its signal, as the gates of the regions that need each sighting know it.
  var statistics = SignalStatistics()
  var links: [Link] = []
  /// The index's generation that `links` were made for.
  var generation: UInt32?
  /// The number of links that need each sighting.
  var attentive = 0
  /// The shortest exit timeout of the links that hold their regions, in nanoseconds; `.max` if none does.
  var shortest = Int64.max
  /// When to look whether it is gone, in reception time: never after the first moment at which it could
  /// be. `.max` for never.
  var wake = Int64.max
  /// The number of losses of reception before the last sighting.
  var losses: UInt32 = 0

  init(_ identity: BeaconIdentity, serial: UInt32) {
    (self.identity, self.serial) = (identity, serial)
  }

  /// Returns when it is gone by an exit timeout in seconds, in reception time.
  func deadline(_ seconds: Double) -> Int64 {
    ReceptionClock.add(lastReceived, ReceptionClock.nanoseconds(seconds))
  }

  /// Returns the reason for a transition that this beacon decides, at a distance.
  func reason(
    _ rule: RegionTransition.Rule, exitTimeout: Double, distance: Double?
  ) -> RegionTransition.Reason {
    let last = RegionTransition.LastSighting(
      of: identity, at: lastTime, rssi: rssi, distance: distance)
    let isLearned = learner.count > 0
    return RegionTransition.Reason(
      rule: rule, lastSighting: last, samples: samples, exitTimeout: exitTimeout,
      interval: isLearned ? Double(learner.interval) : nil,
      loss: isLearned ? Double(learner.tail.loss) : nil)
  }
}
