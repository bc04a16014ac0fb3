import Scanning

extension RegionMonitor {
  /// The share of time for which a scanner is taken to listen that does not listen all the time.
  static let slowShare: Float = 0.25

  /// Is told whether the scanner listens all the time, or only for a share of it, to save power.
  ///
  /// A beacon's gaps are longer for who listens less. What is learnt of one way to listen says little of
  /// the other, so each is learnt by itself, and the gap in which it changed teaches nothing.
  ///
  /// - Parameter fully: Whether it listens all the time, as is taken for granted at first.
  public mutating func listen(fully: Bool) {
    guard fully != listensFully else { return }
    listensFully = fully
    for place in places.places.map(Int.init) {
      beacons[place].changeDuty()
      // What was not heard by who listened less counts for nothing now.
      if fully, let now = clock.now, beacons[place].lastHeard != .min {
        beacons[place].lastHeard = max(beacons[place].lastHeard, now)
      }
      beacons[place].shortest = shortestLimit(place)
      schedule(place)
    }
  }
}

extension TrackedBeacon {
  /// The scanner listens otherwise from now on.
  mutating func changeDuty() {
    swap(&learner, &otherLearner)
    // Another spell than any: the gap over the change is not whole.
    spells = .max
  }
}
