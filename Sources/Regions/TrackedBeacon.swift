internal import Advertising
internal import Scanning

/// What is known of one beacon.
struct TrackedBeacon: Sendable {
  var identity: BeaconIdentity
  /// Which beacon it was that had this place.
  var serial: UInt32
  /// The last sighting, in hearing time.
  var lastHeard = Int64.min
  /// The last sighting, as it was.
  var lastTime = MonotonicTime(nanoseconds: 0)
  var rssi: Int8?
  var measuredPower: Int8 = .max
  var samples = 0
  /// What is known of its gaps as the scanner listens now, and as it listens otherwise.
  var learner = SilenceLearner()
  var otherLearner = SilenceLearner(listening: RegionMonitor.slowShare)
  var links: [Link] = []
  /// The index's generation that `links` were made for.
  var generation: UInt32?
  /// Links that need to know each sighting.
  var attentive = 0
  /// The shortest limit of the links that hold their regions, in nanoseconds; `.max` if none does.
  var shortest = Int64.max
  /// When to look whether it is gone, in hearing time: never after the first moment at which it could
  /// be. `.max` for never.
  var wake = Int64.max
  /// The spell of deafness in which it was last heard.
  var spells: UInt32 = 0

  init(_ identity: BeaconIdentity, serial: UInt32) {
    (self.identity, self.serial) = (identity, serial)
  }

  /// The moment at which it is gone for a limit in seconds, in hearing time.
  func deadline(_ seconds: Double) -> Int64 {
    HearingClock.add(lastHeard, HearingClock.nanoseconds(seconds))
  }

  /// The reason for a transition that this beacon decides.
  func reason(_ rule: RegionTransition.Rule, limit: Double) -> RegionTransition.Reason {
    let last = RegionTransition.LastSighting(time: lastTime, beacon: identity, rssi: rssi)
    let isLearnt = learner.count > 0
    return RegionTransition.Reason(
      rule: rule, lastSighting: last, samples: samples, silenceLimit: limit,
      interval: isLearnt ? Double(learner.interval) : nil,
      loss: isLearnt ? Double(learner.tail.loss) : nil)
  }
}
