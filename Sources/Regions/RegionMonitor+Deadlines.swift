internal import Scanning

extension RegionMonitor {
  /// Lets time pass: whatever is due until then happens, in order.
  mutating func run(to now: Int64, _ transitions: inout [RegionTransition]) {
    if !waiting.isEmpty {
      for identifier in waiting { start(identifier, at: now) }
      waiting = []
    }
    while let entry = heap.first, entry.time <= now {
      heap.removeFirst()
      guard let due = due(entry) else { continue }
      if due > entry.time {
        reschedule(entry, at: due)
        continue
      }
      switch entry.owner {
      case .region: giveUp(entry.place, at: entry.time, &transitions)
      case .beacon: miss(Int(entry.place), at: entry.time, &transitions)
      }
    }
  }

  /// A region begins to wait for its first beacon.
  mutating func start(_ identifier: String, at now: Int64) {
    guard let place = index.identifiers[identifier] else { return }
    let record = index.records[Int(place)]
    heap.push(
      DeadlineHeap.Entry(
        time: HearingClock.add(now, HearingClock.nanoseconds(record.startLimit)), owner: .region,
        place: place, serial: record.serial))
  }

  /// When an entry is truly due; `nil` if it is out of date.
  func due(_ entry: DeadlineHeap.Entry) -> Int64? {
    switch entry.owner {
    case .region:
      let record = index.records[Int(entry.place)]
      return record.serial == entry.serial && !record.isDetermined ? entry.time : nil
    case .beacon:
      let place = Int(entry.place)
      guard beacons[place].serial == entry.serial, beacons[place].wake == entry.time else {
        return nil
      }
      let shortest = beacons[place].shortest
      return shortest == .max ? nil : HearingClock.add(beacons[place].lastHeard, shortest)
    }
  }

  /// Moves an entry to when it is truly due.
  mutating func reschedule(_ entry: DeadlineHeap.Entry, at due: Int64) {
    guard entry.owner == .beacon else { return }
    beacons[Int(entry.place)].wake = .max
    schedule(Int(entry.place))
  }

  /// Sees to it that a beacon is looked at no later than when it could be gone.
  @inline(__always)
  mutating func schedule(_ place: Int) {
    guard beacons[place].shortest != .max else {
      beacons[place].wake = .max
      return
    }
    let due = HearingClock.add(beacons[place].lastHeard, beacons[place].shortest)
    guard due < beacons[place].wake else { return }
    beacons[place].wake = due
    heap.push(
      DeadlineHeap.Entry(
        time: due, owner: .beacon, place: Int32(place), serial: beacons[place].serial))
    tidy()
  }

  /// Drops entries that are out of date once they outnumber the others.
  mutating func tidy() {
    let most = 2 * (places.count + regionCount) + 64
    guard heap.entries.count > most else { return }
    var current = heap
    current.keep { due($0) != nil }
    heap = current
  }

  /// A region has waited long enough for a first beacon.
  private mutating func giveUp(
    _ place: Int32, at time: Int64, _ transitions: inout [RegionTransition]
  ) {
    let record = index.records[Int(place)]
    settle(
      place, .outside, at: time,
      RegionTransition.Reason(
        rule: .start, lastSighting: nil, samples: 0, silenceLimit: record.startLimit, interval: nil,
        loss: nil), &transitions)
  }

  /// A beacon is gone, at least for some regions.
  private mutating func miss(
    _ place: Int, at time: Int64, _ transitions: inout [RegionTransition]
  ) {
    beacons[place].wake = .max
    for number in beacons[place].links.indices where beacons[place].links[number].isInside {
      let link = beacons[place].links[number]
      guard index.isCurrent(link.place, link.serial) else {
        beacons[place].links[number].isInside = false
        continue
      }
      let region = index.records[Int(link.place)].region
      guard beacons[place].deadline(limit(of: region, beacons[place])) <= time else { continue }
      beacons[place].links[number].forget()
      beacons[place].attentive += region.rules.hasGates ? 0 : 1
      hold(link.place, by: place, .silence, at: time, isEntering: false, &transitions)
    }
    beacons[place].shortest = shortestLimit(place)
    schedule(place)
  }

  /// The silence limit of a beacon in a region, in seconds.
  func limit(of region: MonitoredRegion, _ beacon: TrackedBeacon) -> Double {
    let silence = region.rules.silence
    guard beacon.learner.count == 0, beacon.otherLearner.count > 0 else {
      return silence.limit(beacon.learner, start: configuration.startLimit)
    }
    // As it is known otherwise, and longer where less is heard now.
    let known =
      silence.limit(beacon.otherLearner, start: 0)
      / (listensFully ? 1 : Double(Self.slowShare))
    return silence.limit(beacon.learner, start: max(configuration.startLimit, known))
  }

  /// The shortest limit of the regions that a beacon holds, in nanoseconds; `.max` if it holds none.
  func shortestLimit(_ place: Int) -> Int64 {
    var shortest = Int64.max
    for link in beacons[place].links where link.isInside {
      guard index.isCurrent(link.place, link.serial) else { continue }
      let region = index.records[Int(link.place)].region
      shortest = min(shortest, HearingClock.nanoseconds(limit(of: region, beacons[place])))
    }
    return shortest
  }
}
