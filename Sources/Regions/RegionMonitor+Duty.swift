import Scanning

extension RegionMonitor {
  /// The share of time in which a scanner receives at reduced duty: 60 of 240 ms.
  static let slowShare: Float = 0.25

  /// Adapts to another receiver: forgets learned gaps, and keeps the states.
  package mutating func receiverChanged() {
    for place in places.places.map(Int.init) {
      beacons[place].learner = GapLearner(share: isFullDuty ? 1 : Self.slowShare)
      beacons[place].otherLearner = GapLearner(share: isFullDuty ? Self.slowShare : 1)
      beacons[place].breakGaps()
      updateDeadline(of: place)
    }
  }

  /// Adapts to a scanner that receives all the time, as assumed at first, or less to save power.
  ///
  /// Each duty's gaps are learned separately, and the silence at each adds up until the next
  /// sighting. The rest of an initial timeout is four times as long at reduced duty.
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
      updateDeadline(of: place)
    }
    rescaleInitialTimeouts()
  }
}

extension TrackedBeacon {
  mutating func changeDuty() {
    swap(&learner, &otherLearner)
    breakGaps()
  }
}
