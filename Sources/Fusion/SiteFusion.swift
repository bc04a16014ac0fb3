package import Advertising

/// The rooms of all beacons of one site, from the reports of its receivers.
///
/// Its results depend on the reports and their order alone, and as little as possible on the order
/// between receivers. A second is computed when every working receiver has reported it or a later
/// one, or when ``Configuration/patience`` has passed since the last of its reports.
///
/// The number of beacons and the bytes of the state are bounded. Beyond that, a beacon that has never
/// had a place is forgotten before one that has, and then the one that was received least recently. A
/// new beacon does not replace one that has had a place and was received in the last minute.
package struct SiteFusion: Sendable {
  package struct Configuration: Sendable, Hashable {
    /// The probability from which a place is reported, and the one below which it is left.
    package var entryThreshold = 0.75
    package var exitThreshold = 0.25
    /// The seconds for which the reports of a second wait for those of other receivers.
    package var patience: Int64 = 5
    /// The most beacons.
    package var limit = 20_000
    /// The most bytes of the state.
    package var maximumSize = 12_000_000
    /// The seconds after which a beacon that no receiver has received is forgotten.
    package var memory: Int64 = 3600
    /// The seconds of a step of the beacons' trends, of which a day has 1,440.
    package var trendInterval: Int64 = 60

    package init() {}
  }

  struct Beacon: Sendable {
    var filter: BeaconFilter
    var received: Int64
    var place = Whereabouts.unknown { didSet { if hasPlace { hadPlace = true } } }
    /// Whether it has had a place.
    var hadPlace = false
    var since: Int64
    var estimate: RoomEstimate?
    /// The power that the last reports state, if it is not that of the filter, and their number.
    var otherPower: Int8?
    var otherPowerReports = 0

    var hasPlace: Bool { place != .unknown }
  }

  package let model: SiteModel
  package let configuration: Configuration
  var clock: SiteClock
  var beacons: [BeaconIdentity: Beacon] = [:]
  var trends: SignalTrends
  let numbers: [String: Int]
  let rooms: [String: Int]
  /// The most bytes of the state.
  package private(set) var maximumSize: Int
  /// The bytes of the beacons in the state, and of a new one.
  var beaconsSize = 0
  private let newSize: Int
  /// The bytes of a state without clock and beacons.
  let headSize: Int
  private var workspace: Workspace
  /// The receivers that did not report ``second``.
  package private(set) var missing: [String] = []
  /// The reports that were ignored: repeated, too late, or of an unknown receiver.
  package private(set) var ignored = 0
  /// How often a beacon was forgotten for others or not taken, because there are too many, and the
  /// last second of that.
  package private(set) var excess = 0
  package private(set) var excessSecond: Int64?

  package init(_ model: SiteModel, configuration: Configuration = Configuration()) {
    self.model = model
    self.configuration = configuration
    maximumSize = configuration.maximumSize
    clock = SiteClock(
      receivers: model.receivers, patience: Double(configuration.patience),
      maximumSize: configuration.maximumSize / Self.waitingPart)
    trends = SignalTrends(
      of: model.fingerprint, maximumSize: configuration.maximumSize / Self.trendsPart)
    numbers = Dictionary(
      model.site.receivers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { $1 })
    rooms = Dictionary(
      model.site.rooms.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { $1 })
    workspace = Workspace(model.grid)
    headSize = model.site.receivers.reduce(9) { $0 + 2 + $1.name.utf8.count }
    newSize = Beacon(filter: BeaconFilter(model, measuredPower: 0), received: 0, since: 0).size
  }

  /// The last second that was computed.
  package var second: Int64? { clock.taken }

  /// The number of beacons.
  package var count: Int { beacons.count }

  /// The newest estimate of each beacon, in no order.
  package var estimates: some Sequence<RoomEstimate> { beacons.values.lazy.compactMap(\.estimate) }

  /// The signal strength at 1 m that is assumed of a beacon, in dBm.
  func measuredPower(of beacon: BeaconIdentity) -> Float? { beacons[beacon]?.filter.measuredPower }

  package func estimate(of beacon: BeaconIdentity) -> RoomEstimate? { beacons[beacon]?.estimate }

  /// The seconds by which a receiver's clock is ahead of the site's, which are subtracted from its
  /// times. They are 0 for up to 2 s, and for a receiver that the site does not have.
  package func clockDifference(of receiver: String) -> Int64 {
    numbers[receiver].map { clock.difference(of: $0) } ?? 0
  }

  /// Whether the other receivers' reports showed in the last minute that a receiver's times advance
  /// faster than time.
  package func runsAhead(_ receiver: String) -> Bool {
    numbers[receiver].map { clock.isRefuted($0, within: 60) } ?? false
  }

  /// Takes a report, and returns the transitions of the seconds that it completes.
  package mutating func receive(_ report: ReceiverSecond) -> [RoomTransition] {
    guard let index = numbers[report.receiver] else {
      ignored += 1
      return []
    }
    if !clock.receive(report, of: index) { ignored += 1 }
    var transitions: [RoomTransition] = []
    // After an outage thousands of seconds may be complete at once; the next reports compute more.
    for _ in 0..<Self.secondsOfReport {
      guard let second = clock.next() else { break }
      transitions += compute(second)
    }
    return transitions
  }

  /// Sets the most bytes of the state. Returns the transitions of what has to go for it: seconds that
  /// wait for reports are computed, and beacons are forgotten.
  package mutating func limit(to size: Int) -> [RoomTransition] {
    maximumSize = size
    clock.maximumSize = size / Self.waitingPart
    trends.maximumSize = size / Self.trendsPart
    trends.trim(second: clock.taken ?? 0)
    var transitions: [RoomTransition] = []
    while clock.isFull, let second = clock.take() { transitions += compute(second) }
    return transitions + makeRoom(second: clock.taken ?? 0)
  }

  /// The part of the state's bytes that reports may have which wait.
  private static let waitingPart = 3
  /// The part that the trends of beacons may have.
  private static let trendsPart = 8
  /// The most seconds that a report computes.
  private static let secondsOfReport = 20
  /// The most steps of beacons through seconds without a report.
  private static let stepsOfGap: Int64 = 20_000

  /// Returns the transitions of the seconds that still wait for reports, at the end of a recording.
  package mutating func finish() -> [RoomTransition] {
    var transitions: [RoomTransition] = []
    while let second = clock.take() { transitions += compute(second) }
    return transitions
  }

  /// Passes seconds of which there is no report. A beacon may have moved in them.
  private mutating func pass(_ seconds: Int64) {
    let missing = Array(repeating: BeaconFilter.Evidence.missing, count: model.receivers)
    let most = Self.stepsOfGap / Int64(max(1, beacons.count))
    for _ in 0..<max(0, min(60, seconds, most)) {
      for beacon in beacons.keys {
        beacons[beacon]?.filter.step(missing, model, &workspace)
      }
    }
  }

  private mutating func compute(_ next: SiteClock.Second) -> [RoomTransition] {
    pass(next.passed)
    let second = next.second
    let reports = next.reports.sorted { $0.key < $1.key }
    var transitions = admit(reports.flatMap(\.value.receptions), second: second)
    // Clocks that were set back leave beacons that were received later.
    let known = second - configuration.memory...second + configuration.memory
    let forgotten = beacons.filter { !known.contains($0.value.received) }
      .sorted { ($0.value.received, $0.key) < ($1.value.received, $1.key) }
    transitions += forget(forgotten, second: second)
    var none = Array(repeating: BeaconFilter.Evidence.missing, count: model.receivers)
    for (index, report) in reports where report.showsAbsence { none[index] = .absent }
    var evidence: [BeaconIdentity: [BeaconFilter.Evidence]] = [:]
    for (index, report) in reports {
      for reception in report.receptions where beacons[reception.beacon] != nil {
        let received = report.evidence(of: reception)
        evidence[reception.beacon, default: none][index] = received
      }
    }
    missing = model.site.receivers.indices.filter { next.reports[$0] == nil }
      .map { model.site.receivers[$0].name }
    for identity in beacons.keys.sorted() {
      let transition = step(identity, evidence[identity] ?? none, second: second)
      if let transition { transitions.append(transition) }
    }
    if second % configuration.trendInterval == 0 { trends.trim(second: second) }
    updateSize()
    return transitions + makeRoom(second: second)
  }

  private mutating func updateSize() {
    beaconsSize = beacons.values.reduce(0) { $0 + $1.size }
  }

  /// The bytes that more beacons may have. Those of reports that wait are reserved.
  private var freeSize: Int {
    (maximumSize - clock.maximumSize) - (size - clock.waitingSize)
  }

  /// Forgets beacons until so many new ones have room, as far as there are such that may go.
  private mutating func makeRoom(
    forNew count: Int = 0, second: Int64, where mayGo: (Beacon) -> Bool = { _ in true }
  ) -> [RoomTransition] {
    var number = beacons.count + count - configuration.limit
    var bytes = count * newSize - freeSize
    guard number > 0 || bytes > 0 else { return [] }
    // A beacon has one transition in a second.
    let order = beacons.filter { _, beacon in
      mayGo(beacon) && !(beacon.hasPlace && beacon.since == second)
    }.sorted {
      ($0.value.hadPlace ? 1 : 0, $0.value.received, $0.key)
        < ($1.value.hadPlace ? 1 : 0, $1.value.received, $1.key)
    }
    let forgotten = order.prefix { _, beacon in
      defer { (number, bytes) = (number - 1, bytes - beacon.size) }
      return number > 0 || bytes > 0
    }
    if !forgotten.isEmpty { (excess, excessSecond) = (excess + forgotten.count, second) }
    return forget(forgotten, second: second)
  }

  /// Takes the beacons that are received. For new ones beyond the limits, others are forgotten, but
  /// none that is received now, nor one that has had a place and was received in the last minute.
  private mutating func admit(
    _ receptions: [ReceiverSecond.Reception], second: Int64
  ) -> [RoomTransition] {
    // The new ones, with the number of their receivers.
    var new: [BeaconIdentity: (count: Int, measuredPower: Int8?)] = [:]
    for reception in receptions {
      if let index = beacons.index(forKey: reception.beacon) {
        beacons.values[index].received = second
        if updatePower(index, reception.measuredPower) { trends.forget(reception.beacon) }
      } else {
        new[reception.beacon, default: (0, reception.measuredPower)].count += 1
      }
    }
    guard !new.isEmpty else { return [] }
    updateSize()
    let transitions = makeRoom(forNew: new.count, second: second) {
      $0.received < second - ($0.hadPlace ? Self.protection : 0)
    }
    // One receiver that invents beacons does not displace those that several receive.
    let order = new.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    var taken = 0
    for (identity, reception) in order {
      guard beacons.count < configuration.limit, newSize <= freeSize else { break }
      let power =
        reception.measuredPower.map(Float.init) ?? Float(model.site.propagation.measuredPower)
      beacons[identity] = Beacon(
        filter: BeaconFilter(model, measuredPower: power), received: second, since: second)
      beaconsSize += newSize
      taken += 1
    }
    if taken < new.count { (excess, excessSecond) = (excess + new.count - taken, second) }
    return transitions
  }

  /// The seconds for which a beacon that has had a place does not give way to a new one.
  private static let protection: Int64 = 60

  /// Takes over the power that a beacon states, after as many reports in a row, and returns whether
  /// it does. What the filter has learned is of the former power.
  private mutating func updatePower(
    _ index: Dictionary<BeaconIdentity, Beacon>.Index, _ power: Int8?
  ) -> Bool {
    guard let power else { return false }
    if Float(power) == beacons.values[index].filter.measuredPower {
      beacons.values[index].otherPower = nil
    } else if power != beacons.values[index].otherPower {
      beacons.values[index].otherPower = power
      beacons.values[index].otherPowerReports = 1
    } else {
      beacons.values[index].otherPowerReports += 1
      guard beacons.values[index].otherPowerReports >= Self.powerReports else { return false }
      beacons.values[index].otherPower = nil
      beacons.values[index].filter = BeaconFilter(model, measuredPower: Float(power))
      return true
    }
    return false
  }

  private static let powerReports = 60

  /// Forgets beacons. One that has a place leaves it.
  private mutating func forget(
    _ forgotten: some Sequence<(key: BeaconIdentity, value: Beacon)>, second: Int64
  ) -> [RoomTransition] {
    forgotten.compactMap { identity, beacon in
      beacons[identity] = nil
      beaconsSize -= beacon.size
      trends.leave(identity)
      guard beacon.hasPlace else { return nil }
      // The last estimate is not part of the state.
      let none = RoomEstimate.Candidate(.unknown, probability: 0)
      let estimate = RoomEstimate(
        beacon: identity, place: .unknown, since: second, received: beacon.received, best: none,
        runnerUp: none, missing: [], probability: 0)
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
    if second % configuration.trendInterval == 0, case .room(let name) = beacon.place,
      let room = rooms[name],
      let (receiver, level) = workspace.nearestLevel(evidence, model.grid)
    {
      let place = SignalTrend.Place(room: room, receiver: receiver)
      trends.add(level, of: identity, at: place, second: second)
    }
    let estimate = RoomEstimate(
      beacon: identity, place: beacon.place, since: beacon.since, received: beacon.received,
      best: order[0],
      runnerUp: order.dropFirst().first ?? RoomEstimate.Candidate(.unknown, probability: 0),
      position: index(of: order[0].place).flatMap { workspace.position(inRoom: $0, model.grid) },
      missing: missing, probability: probability, fading: trends.fading(of: identity))
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

extension ReceiverSecond {
  /// Whether a beacon that it does not name was absent in its last second.
  ///
  /// A long report is that of a machine that was suspended or busy. Its radio may have been off for
  /// most of the time, so it is evidence only of what it names. The seconds before its last one have
  /// no report. A short one, the last of a process, is too short for absence.
  fileprivate var showsAbsence: Bool { isReceiving && (0.5...2).contains(seconds) }

  /// The evidence of the report's last second, in which a beacon has its share of the sightings.
  fileprivate func evidence(of reception: Reception) -> BeaconFilter.Evidence {
    let count = Int((Double(max(1, reception.count)) / max(1, seconds)).rounded())
    guard count > 0 else { return .missing }
    let mean = reception.mean.map { $0.isFinite ? Float(min(20, max(-127, $0))) : -127 }
    return .received(count: count, mean: mean)
  }
}

extension Workspace {
  /// The receiver that is nearest to the beacon, by the mean of its losses in dB, and the signal
  /// strength that it received above what these losses make of 0 dBm; `nil` if it did not receive the
  /// beacon.
  fileprivate func nearestLevel(
    _ evidence: [BeaconFilter.Evidence], _ grid: SiteGrid
  ) -> (receiver: Int, level: Float)? {
    let inside = still.reduce(0, +) + moving.reduce(0, +)
    let losses = evidence.indices.map { receiver in
      still.indices.reduce(Float(0)) { sum, cell in
        let loss = grid.losses[receiver * grid.width + cell / 8][cell % 8]
        return sum + (still[cell] + moving[cell]) * loss
      } / inside
    }
    guard let nearest = losses.indices.min(by: { losses[$0] < losses[$1] }),
      case .received(_, let mean?) = evidence[nearest]
    else { return nil }
    return (nearest, mean + losses[nearest])
  }

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
