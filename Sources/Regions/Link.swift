internal import Scanning

/// What one beacon is to one region.
struct Link: Sendable {
  /// The region's place, and which region that was.
  let place: Int32
  let serial: UInt32
  /// Whether the beacon holds the region.
  var isInside = false
  /// The rule that was not met at the last sighting.
  var missing = RegionTransition.Rule.sighting
  var signal = GateState()
  var distance = GateState()
  /// The signal strengths of the distance gate, in dBm.
  var levels: (enter: Float, exit: Float) = (0, 0)
  /// Of the last sightings, the newest lowest: which lay inside the gates.
  var hits: UInt64 = 0
  /// Since when the beacon is inside the gates, in hearing time; `nil` if it is not.
  var since: Int64?

  init(place: Int32, serial: UInt32) {
    (self.place, self.serial) = (place, serial)
  }

  /// Takes a sighting of the beacon.
  ///
  /// - Parameters:
  ///   - rssi: How loud, in dBm.
  ///   - gap: The seconds since the one before; `nil` if it is the first, or after a silence.
  ///   - now: The hearing time.
  ///   - rules: The region's rules.
  /// - Returns: The rule by which the beacon entered or left the region; `nil` if it did not.
  mutating func hear(rssi: Int8?, after gap: Float?, at now: Int64, _ rules: RegionRules)
    -> RegionTransition.Rule?
  {
    if let rssi, let gate = rules.signal {
      signal.hear(
        rssi: Float(rssi), after: gap, levels: (Float(gate.enter), Float(gate.exit)),
        excess: Float(gate.excess))
    }
    if let rssi, let gate = rules.distance {
      distance.hear(rssi: Float(rssi), after: gap, levels: levels, excess: Float(gate.excess))
    }
    let closed: RegionTransition.Rule? =
      rules.signal != nil && !signal.isOpen
      ? .signal : rules.distance != nil && !distance.isOpen ? .distance : nil
    if isInside {
      guard let closed else { return nil }
      leave()
      return closed
    }
    return enter(closed, at: now, rules)
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
    let lookedAt = hits & (UInt64.max >> UInt64(max(0, EnterCount.most - rules.count.last)))
    if lookedAt.nonzeroBitCount < rules.count.needed {
      missing = .count
      return nil
    }
    if HearingClock.subtract(now, began) < HearingClock.nanoseconds(rules.dwell) {
      missing = .dwell
      return nil
    }
    isInside = true
    return missing
  }

  /// The beacon no longer holds the region: by a gate. What counts towards entering starts anew.
  private mutating func leave() {
    isInside = false
    hits = 0
    since = nil
  }

  /// The beacon was silent: it starts from nothing.
  mutating func forget() {
    let levels = levels
    self = Link(place: place, serial: serial)
    self.levels = levels
  }
}
