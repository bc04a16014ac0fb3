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
  /// The best values since the beacon was last inside.
  private(set) var best = BestValues()

  /// Receives a sighting, and returns the rule by which the beacon entered or left the region, if
  /// it did.
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
    return enter(closed, rssi, at: now, rules)
  }

  /// Returns whether the beacon may still enter by count, dwell or the evidence of its gates.
  func isUndecided(_ rules: RegionRules) -> Bool {
    func mayOpen(_ gate: GateState) -> Bool { gate.isOpen || gate.evidence > 0 }
    return !isInside && (rules.signal == nil || mayOpen(signal))
      && (rules.distance == nil || mayOpen(distance))
  }

  private mutating func enter(
    _ closed: RegionTransition.Rule?, _ rssi: Int8?, at now: Int64, _ rules: RegionRules
  ) -> RegionTransition.Rule? {
    hits = hits << 1 | (closed == nil ? 1 : 0)
    since = closed == nil ? since ?? now : nil
    let count = count(rules)
    let dwell = dwell(at: now)
    if let closed {
      missing = closed
    } else if count < rules.count.needed {
      missing = .count
    } else if dwell < ReceptionClock.nanoseconds(rules.dwell) {
      missing = .dwell
    } else {
      isInside = true
      best = BestValues()
      return missing
    }
    best.receive(
      rssi, missing: missing, evidence: gate(of: missing).evidence, count: count,
      dwell: Float(dwell) * 1e-9)
    return nil
  }

  /// Returns how many of the last sightings lie inside the gates.
  func count(_ rules: RegionRules) -> Int {
    let last = UInt64.max >> UInt64(max(0, EnterCount.maximum - rules.count.last))
    return (hits & last).nonzeroBitCount
  }

  /// Returns the nanoseconds for which the beacon has been inside the gates.
  func dwell(at time: Int64) -> Int64 { since.map { ReceptionClock.subtract(time, $0) } ?? 0 }

  /// Returns the gate of a rule, closed and without evidence if the rule has none.
  func gate(of rule: RegionTransition.Rule) -> GateState {
    switch rule {
    case .signal: signal
    case .distance: distance
    default: GateState()
    }
  }

  /// Returns to the state of a beacon that was not received, except for the best values.
  mutating func forget() {
    let (levels, best) = (levels, best)
    self = Link(place: place, serial: serial)
    (self.levels, self.best) = (levels, best)
  }
}
