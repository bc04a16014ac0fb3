package import Advertising

/// The rooms of all beacons of one site, from the reports of its receivers.
///
/// Its results depend on the reports and their order alone. A second is computed when every working
/// receiver has reported it or a later one, or when a receiver is ``Configuration/patience`` ahead.
package struct SiteFusion: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The probability from which a place is reported, and the one below which it is left.
    package var entryThreshold = 0.75
    package var exitThreshold = 0.25
    /// The seconds after which a receiver that has not reported is missing.
    package var patience: Int64 = 5
    /// The most beacons. The ones that were received least recently are forgotten first.
    package var limit = 20_000
    /// The seconds after which a beacon that no receiver has received is forgotten.
    package var memory: Int64 = 3600

    package init() {}
  }

  private struct Receiver: Sendable {
    var boot: UInt64 = 0
    var number: UInt64 = 0
    /// The last second that it reported.
    var second: Int64 = .min
  }

  private struct Beacon: Sendable {
    var filter: BeaconFilter
    var received: Int64
    var place = Whereabouts.unknown
    var since: Int64
    var transitions: UInt64 = 0
    var estimate: RoomEstimate?
  }

  package let model: SiteModel
  package let configuration: Configuration
  private var receivers: [Receiver]
  private var beacons: [BeaconIdentity: Beacon] = [:]
  /// The reports of the seconds after ``second``, by their receivers.
  private var waiting: [Int64: [Int: ReceiverSecond]] = [:]
  /// The last second that is computed.
  private var second: Int64?
  private let numbers: [String: Int]
  private var workspace: Workspace
  /// The reports that were ignored: repeated, too late, or of an unknown receiver.
  package private(set) var ignored = 0

  package init(_ model: SiteModel, configuration: Configuration = Configuration()) {
    self.model = model
    self.configuration = configuration
    receivers = Array(repeating: Receiver(), count: model.receivers)
    numbers = Dictionary(
      model.site.receivers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { $1 })
    workspace = Workspace(model.grid)
  }

  /// The newest estimate of each beacon, in no order.
  package var estimates: some Sequence<RoomEstimate> { beacons.values.lazy.compactMap(\.estimate) }

  package func estimate(of beacon: BeaconIdentity) -> RoomEstimate? { beacons[beacon]?.estimate }

  /// Takes a report, and returns the transitions of the seconds that it completes.
  package mutating func receive(_ report: ReceiverSecond) -> [RoomTransition] {
    guard let index = numbers[report.receiver], isNew(report, of: index) else {
      ignored += 1
      return []
    }
    if second == nil {
      // The others have the usual time for their first report.
      second = report.second - 1
      for index in receivers.indices { receivers[index].second = report.second - 1 }
    }
    receivers[index] = Receiver(
      boot: report.boot, number: report.number, second: report.second)
    if let second, report.second > second {
      waiting[report.second, default: [:]][index] = report
    } else {
      ignored += 1
    }
    var transitions: [RoomTransition] = []
    while let next = nextSecond() {
      pass(upTo: next)
      transitions += compute(next)
      second = next
    }
    return transitions
  }

  private func isNew(_ report: ReceiverSecond, of index: Int) -> Bool {
    let receiver = receivers[index]
    if report.boot == receiver.boot, report.number <= receiver.number { return false }
    return report.second > receiver.second || second == nil
  }

  /// The second that can be computed now.
  private func nextSecond() -> Int64? {
    guard let next = waiting.keys.min(), let newest = receivers.map(\.second).max() else {
      return nil
    }
    let isComplete = receivers.allSatisfy { receiver in
      receiver.second >= next || newest - max(receiver.second, next - 1) > configuration.patience
        || receiver.second < newest - 2 * configuration.patience
    }
    return isComplete ? next : nil
  }

  /// Passes seconds of which there is no report. A beacon may have moved in them.
  private mutating func pass(upTo next: Int64) {
    guard let second, next - second > 1 else { return }
    let missing = Array(repeating: BeaconFilter.Evidence.missing, count: receivers.count)
    for _ in 0..<min(60, next - second - 1) {
      for beacon in beacons.keys {
        beacons[beacon]?.filter.step(missing, model, &workspace)
      }
    }
  }

  private mutating func compute(_ second: Int64) -> [RoomTransition] {
    let reports = waiting.removeValue(forKey: second) ?? [:]
    var none = Array(repeating: BeaconFilter.Evidence.missing, count: receivers.count)
    for (index, report) in reports where report.isReceiving { none[index] = .absent }
    var evidence: [BeaconIdentity: [BeaconFilter.Evidence]] = [:]
    for (index, report) in reports.sorted(by: { $0.key < $1.key }) {
      for reception in report.receptions {
        guard let mean = reception.mean, mean.isFinite else { continue }
        add(reception, second: second)
        evidence[reception.beacon, default: none][index] = .received(
          count: max(1, reception.count), mean: Float(min(20, max(-127, mean))))
      }
    }
    let missing = model.site.receivers.indices.filter { none[$0] == .missing }
      .map { model.site.receivers[$0].name }
    var transitions: [RoomTransition] = []
    for identity in beacons.keys.sorted() {
      let transition = step(
        identity, evidence[identity] ?? none, second: second, missing: missing)
      if let transition { transitions.append(transition) }
    }
    forget(second: second)
    return transitions
  }

  private mutating func add(_ reception: ReceiverSecond.Reception, second: Int64) {
    if beacons[reception.beacon] != nil {
      beacons[reception.beacon]?.received = second
      return
    }
    let power =
      reception.measuredPower.map(Double.init) ?? model.site.propagation.measuredPower
    beacons[reception.beacon] = Beacon(
      filter: BeaconFilter(model, measuredPower: Float(power)), received: second, since: second)
  }

  private mutating func forget(second: Int64) {
    let old = beacons.filter { $0.value.received < second - configuration.memory }
    for beacon in old.keys { beacons[beacon] = nil }
    guard beacons.count > configuration.limit else { return }
    let order = beacons.sorted { ($0.value.received, $0.key) < ($1.value.received, $1.key) }
    for (beacon, _) in order.prefix(beacons.count - configuration.limit) { beacons[beacon] = nil }
  }

  private mutating func step(
    _ identity: BeaconIdentity, _ evidence: [BeaconFilter.Evidence], second: Int64,
    missing: [String]
  ) -> RoomTransition? {
    guard var beacon = beacons[identity] else { return nil }
    beacon.filter.step(evidence, model, &workspace)
    let probabilities = workspace.probabilities(model)
    let order = probabilities.sorted { $0.probability > $1.probability }
    var former: Whereabouts?
    let current = probabilities.first { $0.place == beacon.place }?.probability ?? 0
    if order[0].place != beacon.place,
      order[0].probability >= configuration.entryThreshold
        || beacon.place != .unknown && current < configuration.exitThreshold
    {
      let isEntered = order[0].probability >= configuration.entryThreshold
      former = beacon.place
      beacon.place = isEntered ? order[0].place : .unknown
      beacon.since = second
      beacon.transitions += 1
    }
    let probability = probabilities.first { $0.place == beacon.place }?.probability ?? 0
    let estimate = RoomEstimate(
      beacon: identity, place: beacon.place, since: beacon.since, best: order[0],
      runnerUp: order.dropFirst().first ?? RoomEstimate.Candidate(.unknown, probability: 0),
      position: workspace.position(in: order[0].place, model),
      missing: missing, probability: probability)
    beacon.estimate = estimate
    beacons[identity] = beacon
    return former.map {
      RoomTransition(
        number: beacon.transitions, second: second, former: $0, estimate: estimate)
    }
  }
}

extension Workspace {
  /// The probability of each room and of the outside.
  fileprivate func probabilities(_ model: SiteModel) -> [RoomEstimate.Candidate] {
    var rooms = Array(repeating: 0.0, count: model.site.rooms.count)
    for cell in still.indices {
      rooms[model.grid.rooms[cell]] += Double(still[cell] + moving[cell])
    }
    return zip(model.site.rooms, rooms).map {
      RoomEstimate.Candidate(.room($0.name), probability: $1)
    } + [RoomEstimate.Candidate(.outside, probability: Double(outside))]
  }

  /// The mean of the places in a room.
  fileprivate func position(in place: Whereabouts, _ model: SiteModel) -> Site.Point? {
    var sum = Site.Point(0, 0)
    var total = 0.0
    for cell in still.indices {
      guard let point = model.grid.places[cell],
        place == .room(model.site.rooms[model.grid.rooms[cell]].name)
      else { continue }
      let weight = Double(still[cell] + moving[cell])
      sum.x += point.x * weight
      sum.y += point.y * weight
      total += weight
    }
    guard total > 0 else { return nil }
    return Site.Point(sum.x / total, sum.y / total)
  }
}
