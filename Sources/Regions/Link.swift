internal import Scanning

/// The state of one beacon in one region.
struct Link: Sendable {
  /// The region's place and serial number.
  let place: Int32
  let serial: UInt32
  var isInside = false
  /// The rule that the last sighting did not meet.
  var missing = RegionTransition.Rule.sighting
  var signal = GateState()
  var distance = GateState()
  /// The signal strengths of the distance gate, in dBm.
  var levels: (enter: Float, exit: Float) = (0, 0)
  /// One bit for each of the last sightings inside the gates, the newest lowest.
  var hits: UInt64 = 0
  /// The reception time since which the beacon is inside the gates; `nil` if it is not.
  var since: Int64?

  /// Receives a sighting of the beacon, after the statistics have, and returns the rule by which
  /// the beacon entered or left the region, if it did.
  mutating func receive(
    rssi: Int8?, _ statistics: SignalStatistics, at now: Int64, _ rules: RegionRules
  ) -> RegionTransition.Rule? {
    if let rssi, let gate = rules.signal {
      signal.receive(
        rssi: Float(rssi), statistics, levels: (Float(gate.enter), Float(gate.exit)),
        excess: gate.excess)
    }
    if let rssi, let gate = rules.distance {
      distance.receive(rssi: Float(rssi), statistics, levels: levels, excess: gate.excess)
    }
    let closed: RegionTransition.Rule? =
      rules.signal != nil && !signal.isOpen
      ? .signal : rules.distance != nil && !distance.isOpen ? .distance : nil
    if isInside {
      guard let closed else { return nil }
      isInside = false
      hits = 0
      since = nil
      return closed
    }
    return enter(closed, at: now, rules)
  }

  /// Returns whether the beacon may still enter by count, dwell or the evidence of its gates.
  func isUndecided(_ rules: RegionRules) -> Bool {
    func mayOpen(_ gate: GateState) -> Bool { gate.isOpen || gate.evidence > 0 }
    return !isInside && (rules.signal == nil || mayOpen(signal))
      && (rules.distance == nil || mayOpen(distance))
  }

  private mutating func enter(
    _ closed: RegionTransition.Rule?, at now: Int64, _ rules: RegionRules
  ) -> RegionTransition.Rule? {
    hits = hits << 1 | (closed == nil ? 1 : 0)
    if let closed {
      since = nil
      missing = closed
      return nil
    }
    let began = since ?? now
    since = began
    let recent = hits & (UInt64.max >> UInt64(max(0, EnterCount.maximum - rules.count.last)))
    if recent.nonzeroBitCount < rules.count.needed {
      missing = .count
      return nil
    }
    if ReceptionClock.subtract(now, began) < ReceptionClock.nanoseconds(rules.dwell) {
      missing = .dwell
      return nil
    }
    isInside = true
    return missing
  }

  mutating func forget() {
    let levels = levels
    self = Link(place: place, serial: serial)
    self.levels = levels
  }
}
