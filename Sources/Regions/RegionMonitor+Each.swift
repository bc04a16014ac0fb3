internal import Advertising
internal import Scanning

// In regions that report each beacon, its state is that of its link, or of its expectation.

extension RegionMonitor {
  func isFull(_ place: Int32, for beacon: BeaconIdentity) -> Bool {
    index.records[Int(place)].beaconsInside >= RegionRules.maximumBeaconsInside
      && index.records[Int(place)].expected[beacon] == nil
  }

  /// Sets the state of a beacon in a region, and that of the region.
  mutating func settle(
    _ place: Int32, _ beacon: BeaconIdentity, _ isEntering: Bool, at time: Int64,
    _ reason: RegionTransition.Reason, _ transitions: inout [RegionTransition]
  ) {
    let isExpected = index.records[Int(place)].expected.removeValue(forKey: beacon) != nil
    let record = index.records[Int(place)]
    let isUnknown = isEntering && record.areBeaconsUnknown && time <= record.deadline
    let before: RegionState =
      isUnknown ? .unknown : isExpected || !isEntering ? .inside : .outside
    let moment = clock.moment(time)
    transitions.append(
      RegionTransition(
        change: isEntering ? (before == .outside ? .enter : .determined(.inside)) : .exit,
        time: moment, region: record.region.identifier, beacon: beacon,
        beaconsInside: record.beaconsInside, previous: before, reason: reason))
    let state: RegionState = record.beaconsInside > 0 ? .inside : .outside
    index.records[Int(place)].isDetermined = record.holders > 0 || record.expected.isEmpty
    index.records[Int(place)].state = state
    if record.state != state || record.since == nil { index.records[Int(place)].since = moment }
    index.endFirstLook(place)
  }

  /// Makes the expected beacons of a region leave that were not received in time.
  mutating func giveUpExpected(
    _ place: Int32, at time: Int64, _ transitions: inout [RegionTransition]
  ) {
    let record = index.records[Int(place)]
    for (beacon, _) in record.expected.filter({ $0.value <= time }).sorted(by: { $0.key < $1.key })
    {
      let waited = Double(ReceptionClock.subtract(time, record.began)) * 1e-9
      settle(
        place, beacon, false, at: time, RegionTransition.Reason(.start, exitTimeout: waited),
        &transitions)
    }
    if let next = index.records[Int(place)].expected.values.min() { wait(place, until: next) }
  }
}
