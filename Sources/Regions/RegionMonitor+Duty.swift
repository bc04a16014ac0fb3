import Scanning

extension RegionMonitor {
  /// The share of time for which a scanner receives at reduced duty: 60 of 240 ms.
  static let slowShare: Float = 0.25

  /// Adapts to another receiver: what was learned of gaps holds for it no more, and states stay. Each beacon has the
  /// initial timeout until its gaps are known again.
  package mutating func receiverChanged() {
    for place in places.places.map(Int.init) {
      beacons[place].forgetGaps(isFullDuty: isFullDuty)
      beacons[place].shortest = shortestTimeout(place)
      schedule(place)
    }
  }

  /// Adapts to a scanner that now receives all the time, as a monitor assumes at first, or only for a share of it, to
  /// save power.
  ///
  /// A beacon's gaps are longer at reduced duty. What is learned at one duty says little of the other, so each is learned
  /// by itself, and the gap in which the duty changed teaches nothing. The silence at each duty adds up until the next
  /// sighting. What is left of an initial timeout counts for four
  /// times as long at reduced duty.
  package mutating func dutyChanged(isFull: Bool) {
    guard isFull != isFullDuty else { return }
    isFullDuty = isFull
    for place in places.places.map(Int.init) {
      beacons[place].changeDuty()
      if let now = clock.now, beacons[place].lastReceived != .min {
        let silence = beacons[place].silence(at: now)
        beacons[place].lastReceived = ReceptionClock.subtract(now, beacons[place].otherSilence)
        beacons[place].otherSilence = silence
      }
      beacons[place].shortest = shortestTimeout(place)
      schedule(place)
    }
    rescaleInitialTimeouts()
  }
}

extension TrackedBeacon {
  /// Forgets what is learned of both duties.
  mutating func forgetGaps(isFullDuty: Bool) {
    let (full, slow) = (GapLearner(), GapLearner(share: RegionMonitor.slowShare))
    (learner, otherLearner) = isFullDuty ? (full, slow) : (slow, full)
    losses = .max
  }

  /// Swaps what is learned of the two duties.
  mutating func changeDuty() {
    swap(&learner, &otherLearner)
    // A loss of its own: the gap over the change is not whole.
    losses = .max
  }
}
