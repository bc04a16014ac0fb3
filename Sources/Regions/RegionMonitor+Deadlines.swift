internal import HeapModule
internal import Scanning

/// The moment to check a region or a beacon; out of date if its owner has a later one or is gone.
struct Deadline: Comparable, Sendable {
  enum Owner: UInt8, Sendable {
    case region
    case beacon
  }

  /// The moment, in reception time.
  var time: Int64
  var owner: Owner
  var place: Int32
  /// The serial number of the owner that had this place.
  var serial: UInt32

  static func < (left: Deadline, right: Deadline) -> Bool {
    (left.time, left.owner.rawValue, left.place, left.serial)
      < (right.time, right.owner.rawValue, right.place, right.serial)
  }
}

extension RegionMonitor {
  /// Runs all deadlines before a moment, in order. A sighting at the moment of a deadline is in
  /// time.
  mutating func run(to now: Int64, _ transitions: inout [RegionTransition]) {
    if !waiting.isEmpty {
      for identifier in waiting { start(identifier, at: now) }
      waiting = []
    }
    while let entry = deadlines.min, entry.time < now {
      deadlines.removeMin()
      guard let due = due(entry) else { continue }
      if due > entry.time {
        reschedule(entry)
        continue
      }
      switch entry.owner {
      case .region: giveUp(entry.place, at: entry.time, &transitions)
      case .beacon: miss(Int(entry.place), at: entry.time, &transitions)
      }
    }
  }

  /// Returns the actual moment of a deadline; `nil` if it is out of date.
  func due(_ entry: Deadline) -> Int64? {
    switch entry.owner {
    case .region:
      let record = index.records[Int(entry.place)]
      let isCurrent = record.serial == entry.serial && record.deadline == entry.time
      return isCurrent && (!record.isDetermined || !record.expected.isEmpty) ? entry.time : nil
    case .beacon:
      let place = Int(entry.place)
      guard beacons[place].serial == entry.serial, beacons[place].wake == entry.time else {
        return nil
      }
      let shortest = beacons[place].shortest
      return shortest == .max ? nil : ReceptionClock.add(beacons[place].lastReceived, shortest)
    }
  }

  mutating func reschedule(_ entry: Deadline) {
    beacons[Int(entry.place)].wake = .max
    schedule(Int(entry.place))
  }

  /// Schedules a check of a beacon no later than its earliest possible exit.
  @inline(__always)
  mutating func schedule(_ place: Int) {
    guard beacons[place].shortest != .max else {
      beacons[place].wake = .max
      return
    }
    let due = ReceptionClock.add(beacons[place].lastReceived, beacons[place].shortest)
    guard due < beacons[place].wake else { return }
    beacons[place].wake = due
    deadlines.insert(
      Deadline(time: due, owner: .beacon, place: Int32(place), serial: beacons[place].serial))
    tidy()
  }

  /// Drops out-of-date deadlines once they outnumber the others.
  mutating func tidy() {
    guard deadlines.count > 2 * (places.count + regionCount) + 64 else { return }
    deadlines = Heap(deadlines.unordered.filter { due($0) != nil })
  }

  /// Makes a beacon that was silent for too long leave its regions.
  private mutating func miss(
    _ place: Int, at time: Int64, _ transitions: inout [RegionTransition]
  ) {
    beacons[place].wake = .max
    for number in beacons[place].links.indices where beacons[place].links[number].isInside {
      let link = beacons[place].links[number]
      guard index.isCurrent(link) else {
        beacons[place].links[number].isInside = false
        continue
      }
      let region = index.records[Int(link.place)].region
      guard beacons[place].deadline(timeLeft(of: beacons[place], in: region)) <= time else {
        continue
      }
      beacons[place].links[number].forget()
      beacons[place].attentive += region.rules.hasGates ? 0 : 1
      hold(link.place, by: place, .exitTimeout, at: time, isEntering: false, &transitions)
    }
    updateDeadline(of: place)
  }

  /// Returns the exit timeout of a beacon in a region, in seconds.
  func exitTimeout(of beacon: TrackedBeacon, in region: MonitoredRegion) -> Double {
    let rule = region.rules.exitTimeout
    let start = configuration.confirmationTimeout
    guard beacon.learner.count == 0, beacon.otherLearner.count > 0 else {
      return rule.seconds(beacon.learner, start: start)
    }
    // The timeout at the other duty, longer if less is received now.
    let known =
      rule.seconds(beacon.otherLearner, start: 0) / (isFullDuty ? 1 : Double(Self.slowShare))
    return rule.seconds(beacon.learner, start: max(start, known))
  }

  /// Returns the permitted silence of a beacon in a region, in seconds. A learned timeout counts
  /// only the silence at its own duty, which adds up over changes.
  func timeLeft(of beacon: TrackedBeacon, in region: MonitoredRegion) -> Double {
    let timeout = exitTimeout(of: beacon, in: region)
    guard case .fixed = region.rules.exitTimeout else { return timeout }
    return max(0, timeout - Double(beacon.otherSilence) * 1e-9)
  }

  /// Updates the shortest exit timeout of a beacon inside regions, and schedules its check.
  mutating func updateDeadline(of place: Int) {
    var shortest = Int64.max
    for link in beacons[place].links where link.isInside && index.isCurrent(link) {
      let region = index.records[Int(link.place)].region
      shortest = min(
        shortest, ReceptionClock.nanoseconds(timeLeft(of: beacons[place], in: region)))
    }
    beacons[place].shortest = shortest
    schedule(place)
  }
}
