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

  struct Receiver: Sendable {
    var boot: UInt64 = 0
    var number: UInt64 = 0
    /// The last second that it reported.
    var second: Int64 = .min
  }

  struct Beacon: Sendable {
    var filter: BeaconFilter
    var received: Int64
    var place = Whereabouts.unknown
    var since: Int64
    var estimate: RoomEstimate?
  }

  package let model: SiteModel
  package let configuration: Configuration
  var receivers: [Receiver]
  var beacons: [BeaconIdentity: Beacon] = [:]
  /// The reports of the seconds after ``second``, by their receivers.
  var waiting: [Int64: [Int: ReceiverSecond]] = [:]
  /// The last second that is computed.
  package internal(set) var second: Int64?
  let numbers: [String: Int]
  let rooms: [String: Int]
  private var workspace: Workspace
  /// The receivers that did not report ``second``.
  package private(set) var missing: [String] = []
  /// The reports that were ignored: repeated, too late, or of an unknown receiver.
  package private(set) var ignored = 0

  package init(_ model: SiteModel, configuration: Configuration = Configuration()) {
    self.model = model
    self.configuration = configuration
    receivers = Array(repeating: Receiver(), count: model.receivers)
    numbers = Dictionary(
      model.site.receivers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { $1 })
    rooms = Dictionary(
      model.site.rooms.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { $1 })
    workspace = Workspace(model.grid)
  }

  /// The newest estimate of each beacon, in no order.
  package var estimates: some Sequence<RoomEstimate> { beacons.values.lazy.compactMap(\.estimate) }

  /// The number of beacons.
  package var count: Int { beacons.count }

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
        add(reception, second: second)
        let mean = reception.mean.map { $0.isFinite ? Float(min(20, max(-127, $0))) : -127 }
        evidence[reception.beacon, default: none][index] = .received(
          count: max(1, reception.count), mean: mean)
      }
    }
    missing = model.site.receivers.indices.filter { none[$0] == .missing }
      .map { model.site.receivers[$0].name }
    var transitions: [RoomTransition] = []
    for identity in beacons.keys.sorted() {
      let transition = step(identity, evidence[identity] ?? none, second: second)
      if let transition { transitions.append(transition) }
    }
    return transitions + forget(second: second)
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

  /// Forgets the beacons that are away for long, and those beyond the limit. One that has a place
  /// leaves it.
  private mutating func forget(second: Int64) -> [RoomTransition] {
    let oldest = second - configuration.memory
    guard
      beacons.count > configuration.limit
        || beacons.values.contains(where: { $0.received < oldest })
    else { return [] }
    let order = beacons.sorted { ($0.value.received, $0.key) < ($1.value.received, $1.key) }
    let isOld = order.prefix { $0.value.received < oldest }.count
    let count = max(isOld, beacons.count - configuration.limit)
    return order.prefix(max(0, count)).compactMap { identity, beacon in
      beacons[identity] = nil
      guard beacon.place != .unknown, var estimate = beacon.estimate else { return nil }
      estimate.place = .unknown
      estimate.since = second
      estimate.probability = 0
      return RoomTransition(second: second, former: beacon.place, estimate: estimate)
    }
  }

  private mutating func step(
    _ identity: BeaconIdentity, _ evidence: [BeaconFilter.Evidence], second: Int64
  ) -> RoomTransition? {
    guard var beacon = beacons[identity] else { return nil }
    beacon.filter.step(evidence, model, &workspace)
    let sums = workspace.roomSums(model.grid)
    let order = sums.indices.sorted { (sums[$1], $0) < (sums[$0], $1) }
      .prefix(2).map { RoomEstimate.Candidate(place(at: $0), probability: sums[$0]) }
    var former: Whereabouts?
    let current = index(of: beacon.place).map { sums[$0] } ?? 0
    let isEntered = order[0].probability >= configuration.entryThreshold
    let next: Whereabouts =
      isEntered ? order[0].place : current < configuration.exitThreshold ? .unknown : beacon.place
    if next != beacon.place {
      former = beacon.place
      beacon.place = next
      beacon.since = second
    }
    let probability = index(of: beacon.place).map { sums[$0] } ?? 0
    let estimate = RoomEstimate(
      beacon: identity, place: beacon.place, since: beacon.since, received: beacon.received,
      best: order[0],
      runnerUp: order.dropFirst().first ?? RoomEstimate.Candidate(.unknown, probability: 0),
      position: index(of: order[0].place).flatMap { workspace.position(inRoom: $0, model.grid) },
      missing: missing, probability: probability)
    beacon.estimate = estimate
    beacons[identity] = beacon
    return former.map {
      RoomTransition(second: second, former: $0, estimate: estimate)
    }
  }
}

extension SiteFusion {
  /// The places by their index: the rooms, then the outside.
  private func place(at index: Int) -> Whereabouts {
    index < model.site.rooms.count ? .room(model.site.rooms[index].name) : .outside
  }

  func index(of place: Whereabouts) -> Int? {
    switch place {
    case .room(let name): rooms[name]
    case .outside: model.site.rooms.count
    case .unknown: nil
    }
  }
}

extension Workspace {
  /// The probability of each room, then of the outside.
  fileprivate func roomSums(_ grid: SiteGrid) -> [Double] {
    var sums = Array(repeating: 0.0, count: grid.roomCount + 1)
    for cell in still.indices { sums[grid.rooms[cell]] += Double(still[cell] + moving[cell]) }
    sums[grid.roomCount] = Double(outside)
    return sums
  }

  /// The mean of the places in a room that a plan has.
  fileprivate func position(inRoom room: Int, _ grid: SiteGrid) -> Site.Point? {
    var sum = Site.Point(0, 0)
    var total = 0.0
    for cell in still.indices where grid.rooms[cell] == room {
      guard let point = grid.places[cell] else { continue }
      let weight = Double(still[cell] + moving[cell])
      sum.x += point.x * weight
      sum.y += point.y * weight
      total += weight
    }
    return total > 0 ? Site.Point(sum.x / total, sum.y / total) : nil
  }
}
