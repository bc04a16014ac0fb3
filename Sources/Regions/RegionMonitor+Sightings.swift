internal import Advertising
internal import Ranging
internal import Scanning

extension RegionMonitor {
  mutating func receive(
    _ sighting: Sighting, at now: Int64, place: Int, _ transitions: inout [RegionTransition]
  ) {
    guard beacons[place].attentive > 0 else {
      // Its deadline is now later, and is moved in the heap when it comes up there.
      if beacons[place].record(sighting, at: now, losses: clock.losses) {
        updateDeadline(of: place)
      }
      return
    }
    let silence = beacons[place].silence(at: now)
    // Done before learning, by the timeout that was in force.
    breakOff(place, after: silence)
    let hasLearned = beacons[place].record(sighting, at: now, losses: clock.losses)
    if let rssi = sighting.rssi {
      beacons[place].statistics.receive(
        rssi: Float(rssi), after: silence == .max ? nil : Float(silence) * 1e-9)
    }
    let hasChanged = attend(sighting, at: now, place: place, &transitions)
    if hasLearned || hasChanged { updateDeadline(of: place) }
  }

  /// Resets the links that have not entered if the beacon was silent for its exit timeout.
  private mutating func breakOff(_ place: Int, after silence: Int64) {
    for number in beacons[place].links.indices where !beacons[place].links[number].isInside {
      let region = index.records[Int(beacons[place].links[number].place)].region
      if silence >= ReceptionClock.nanoseconds(timeLeft(of: beacons[place], in: region)) {
        beacons[place].links[number].forget()
      }
    }
  }

  /// Gives a sighting to the links that need it, and returns whether any entered or left.
  private mutating func attend(
    _ sighting: Sighting, at now: Int64, place: Int, _ transitions: inout [RegionTransition]
  ) -> Bool {
    let powerChanged = beacons[place].measuredPower != sighting.measuredPower
    beacons[place].measuredPower = sighting.measuredPower
    var attentive = 0
    var changed = false
    for number in beacons[place].links.indices {
      let link = beacons[place].links[number]
      let region = index.records[Int(link.place)].region
      let rules = region.rules
      if link.isInside, !rules.hasGates { continue }
      if !link.isInside, rules.reportsEachBeacon, isFull(link.place, for: sighting.beacon) {
        attentive += 1
        continue
      }
      if let gate = rules.distance, powerChanged || link.levels == (0, 0) {
        beacons[place].links[number].levels = levels(
          gate, sighting.beacon, sighting.measuredPower)
      }
      let wasInside = link.isInside
      if let rule = beacons[place].links[number].receive(
        rssi: sighting.rssi, beacons[place].statistics, at: now, rules)
      {
        changed = true
        hold(link.place, by: place, rule, at: now, isEntering: !wasInside, &transitions)
      }
      if rules.hasGates || !beacons[place].links[number].isInside { attentive += 1 }
    }
    beacons[place].attentive = attentive
    return changed
  }

  mutating func hold(
    _ region: Int32, by place: Int, _ rule: RegionTransition.Rule, at time: Int64,
    isEntering: Bool, _ transitions: inout [RegionTransition]
  ) {
    index.records[Int(region)].holders += isEntering ? 1 : -1
    let record = index.records[Int(region)]
    let isEach = record.region.rules.reportsEachBeacon
    guard isEach || record.holders == (isEntering ? 1 : 0) else { return }
    let timeout = exitTimeout(of: beacons[place], in: record.region)
    let reason = reason(beacons[place], rule, exitTimeout: timeout)
    if isEach {
      settle(region, beacons[place].identity, isEntering, at: time, reason, &transitions)
    } else {
      settle(region, isEntering ? .inside : .outside, at: time, reason, &transitions)
    }
  }

  mutating func settle(
    _ place: Int32, _ state: RegionState, at time: Int64, _ reason: RegionTransition.Reason,
    _ transitions: inout [RegionTransition]
  ) {
    let record = index.records[Int(place)]
    let moment = clock.moment(time)
    func report(_ change: RegionTransition.Change) {
      transitions.append(
        RegionTransition(
          change: change, time: moment, region: record.region.identifier, beacon: nil,
          beaconsInside: record.beaconsInside, previous: record.state, reason: reason))
    }
    if record.state != .unknown, record.state != state { report(state == .inside ? .enter : .exit) }
    if !record.isDetermined { report(.determined(state)) }
    index.records[Int(place)].isDetermined = true
    index.endFirstLook(place)
    index.records[Int(place)].state = state
    if record.state != state || record.since == nil { index.records[Int(place)].since = moment }
  }

  /// Returns a distance gate's signal strengths for a beacon, in dBm.
  private func levels(_ gate: DistanceGate, _ beacon: BeaconIdentity, _ power: Int8)
    -> (enter: Float, exit: Float)
  {
    let calibration = configuration.calibration(of: beacon)
    let power = Double(power)
    return (
      Float(calibration.rssi(atDistance: gate.enter, advertisedPower: power)),
      Float(calibration.rssi(atDistance: gate.exit, advertisedPower: power))
    )
  }

  /// Returns the distance in meters of a beacon that is received at a signal strength in dBm.
  func distance(of beacon: TrackedBeacon, at rssi: Int8?) -> Double? {
    rssi.map { rssi in
      configuration.calibration(of: beacon.identity).distance(
        rssi: Double(rssi), advertisedPower: Double(beacon.measuredPower))
    }
  }

  func reason(
    _ beacon: TrackedBeacon, _ rule: RegionTransition.Rule, exitTimeout: Double
  ) -> RegionTransition.Reason {
    let last = RegionTransition.LastSighting(
      time: beacon.lastTime, beacon: beacon.identity, rssi: beacon.rssi,
      distance: distance(of: beacon, at: beacon.rssi))
    let isLearned = beacon.learner.count > 0
    return RegionTransition.Reason(
      rule, lastSighting: last, samples: beacon.samples, exitTimeout: exitTimeout,
      interval: isLearned ? Double(beacon.learner.interval) : nil,
      loss: isLearned ? Double(beacon.learner.tail.loss) : nil)
  }
}

extension TrackedBeacon {
  /// Returns the nanoseconds without a sighting; `.max` if it was never received.
  func silence(at now: Int64) -> Int64 {
    lastReceived == .min ? .max : max(0, ReceptionClock.subtract(now, lastReceived))
  }

  /// Records a sighting, and returns whether the time until an exit changed.
  @inline(__always)
  mutating func record(_ sighting: Sighting, at now: Int64, losses: UInt32) -> Bool {
    let gap = Float(ReceptionClock.subtract(now, senderReceived)) * 1e-9
    // A gap with a loss of reception teaches nothing.
    let isWhole = self.losses == losses && senderReceived != .min
    self.losses = losses
    (lastReceived, senderReceived) = (now, now)
    let wasShortened = otherSilence != 0
    otherSilence = 0
    lastTime = sighting.time
    rssi = sighting.rssi
    samples &+= 1
    let hasLearned = isWhole && learner.learn(gap: gap)
    return hasLearned || wasShortened
  }
}
