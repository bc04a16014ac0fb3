internal import Advertising
internal import HeapModule
internal import Scanning

extension RegionMonitor {
  /// Whether a first initial timeout runs, which full duty shortens to a quarter.
  package var needsFullDuty: Bool { index.firstLooks > 0 }

  package var hasGates: Bool { index.gated > 0 }

  /// Returns the usual wait for a region's first beacon, in seconds at full duty.
  func usualTimeout(_ rules: RegionRules, assuming state: RegionState) -> Double {
    let confirmation = rules.exitTimeout.seconds(
      GapLearner(), start: configuration.confirmationTimeout)
    guard state == .unknown else { return confirmation }
    if case .fixed = rules.exitTimeout { return min(configuration.initialTimeout, confirmation) }
    return configuration.initialTimeout
  }

  /// Starts the wait for a region's first beacon.
  mutating func start(_ identifier: String, at now: Int64) {
    guard let place = index.identifiers[identifier] else { return }
    let record = index.records[Int(place)]
    let isSlow = record.state == .unknown && !isFullDuty
    index.records[Int(place)].began = now
    if !record.expected.isEmpty {
      let expected = record.expected.mapValues { ReceptionClock.add(now, $0) }
      index.records[Int(place)].expected = expected
      return wait(place, until: expected.values.min() ?? now)
    }
    let seconds = record.timeout / (isSlow ? Double(Self.slowShare) : 1)
    wait(place, until: ReceptionClock.add(now, ReceptionClock.nanoseconds(seconds)))
  }

  /// Scales the rest of each initial timeout after a change of duty.
  mutating func rescaleInitialTimeouts() {
    guard let now = clock.now else { return }
    let factor = isFullDuty ? Double(Self.slowShare) : 1 / Double(Self.slowShare)
    for (place, record) in index.records.enumerated() where record.isInitial {
      guard record.deadline > now, record.deadline < .max else { continue }
      let left = Double(ReceptionClock.subtract(record.deadline, now)) * 1e-9
      wait(
        Int32(place), until: ReceptionClock.add(now, ReceptionClock.nanoseconds(left * factor)))
    }
    tidy()
  }

  mutating func wait(_ place: Int32, until time: Int64) {
    index.records[Int(place)].deadline = time
    deadlines.insert(
      Deadline(
        time: time, owner: .region, place: place, serial: index.records[Int(place)].serial))
  }

  /// Sets a region to outside, unless a beacon may still prove to be inside.
  mutating func giveUp(_ place: Int32, at time: Int64, _ transitions: inout [RegionTransition]) {
    index.endFirstLook(place)
    let record = index.records[Int(place)]
    if !record.expected.isEmpty { return giveUpExpected(place, at: time, &transitions) }
    var waited = record.timeout
    if record.state == .unknown {
      let undecided = undecidedUntil(record, at: time)
      if undecided > time { return wait(place, until: undecided) }
      waited = Double(ReceptionClock.subtract(time, record.began)) * 1e-9
    }
    settle(
      place, .outside, at: time,
      RegionTransition.Reason(.start, exitTimeout: waited, approach: approach(to: record)),
      &transitions)
  }

  /// Returns the moment until which a beacon may prove to be inside: a known one with time left, or
  /// one whose count, dwell or gates are undecided.
  private func undecidedUntil(_ record: RegionIndex.Record, at time: Int64) -> Int64 {
    let region = record.region
    var until = time
    forEachBeacon(of: region.constraint) { beacon in
      guard beacon.lastReceived != .min else { return }
      let gone = beacon.deadline(timeLeft(of: beacon, in: region))
      guard let link = beacon.links.first(where: { $0.serial == record.serial }) else {
        // The beacon was not received since the region was added.
        until = max(until, gone)
        return
      }
      guard link.isUndecided(region.rules) else { return }
      let longest = configuration.confirmationTimeout + region.rules.dwell
      let next = ReceptionClock.add(time, ReceptionClock.nanoseconds(record.timeout))
      let end = ReceptionClock.add(record.began, ReceptionClock.nanoseconds(longest))
      until = max(until, min(gone, next, end))
    }
    return until
  }

  /// Calls a closure with each tracked beacon that matches a constraint.
  func forEachBeacon(of constraint: BeaconConstraint, _ body: (TrackedBeacon) -> Void) {
    if let major = constraint.major, let minor = constraint.minor {
      let beacon = BeaconIdentity(uuid: constraint.uuid, major: major, minor: minor)
      let place = places.find(beacon) { beacons[$0].identity == beacon }
      if place >= 0 { body(beacons[Int(place)]) }
    } else {
      for beacon in beacons where constraint.matches(beacon.identity) { body(beacon) }
    }
  }
}
