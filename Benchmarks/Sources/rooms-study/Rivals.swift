import Advertising
import FleetSites
import Fusion
import Glibc

// The rules of others, from their public descriptions. Each has the measured power and the exponent of
// the site file, as the fusion has.

/// A rule that tells the rooms of beacons from the reports of a site's receivers.
protocol RoomRule: Sendable {
  /// Takes all reports of a second.
  mutating func receive(_ reports: [ReceiverSecond], second: Int64)
  func answer(_ beacon: BeaconIdentity) -> RoomAnswer
}

/// The room of a beacon, and the most probable one, if the rule has a probability.
struct RoomAnswer: Sendable {
  var room: String?
  var best: RoomEstimate.Candidate?
}

extension SiteFusion: RoomRule {
  mutating func receive(_ reports: [ReceiverSecond], second: Int64) {
    for report in reports { _ = receive(report) }
  }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer {
    let estimate = estimate(of: beacon)
    guard case .room(let room)? = estimate?.place else { return RoomAnswer(best: estimate?.best) }
    return RoomAnswer(room: room, best: estimate?.best)
  }
}

/// The most probable room of the fusion, which it reports only from a threshold on.
struct MostProbable: RoomRule {
  private var fusion: SiteFusion

  init(_ site: Site) { fusion = SiteFusion(SiteModel(site)) }

  mutating func receive(_ reports: [ReceiverSecond], second: Int64) {
    fusion.receive(reports, second: second)
  }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer {
    let best = fusion.estimate(of: beacon)?.best
    guard case .room(let room)? = best?.place else { return RoomAnswer(best: best) }
    return RoomAnswer(room: room, best: best)
  }
}

extension NearestReceiver: RoomRule {
  mutating func receive(_ reports: [ReceiverSecond], second: Int64) { receive(reports) }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer { RoomAnswer(room: room(of: beacon)) }
}

extension Site {
  /// The distance in meters at which a signal has this strength.
  func distance(_ reception: ReceiverSecond.Reception) -> Double? {
    guard let mean = reception.mean else { return nil }
    let power = reception.measuredPower.map(Double.init) ?? propagation.measuredPower
    return pow(10, (power - mean) / (10 * propagation.exponent))
  }

  func room(of receiver: Receiver) -> String? {
    receiver.room ?? receiver.position.flatMap { room(at: $0, floor: receiver.floor) }
  }

  func room(at point: Point, floor: Int) -> String? {
    rooms.first { $0.floor == floor && $0.contains(point) }?.name
  }
}

/// The rule of Bermuda, an integration of Home Assistant: the room of the nearest receiver, by distances
/// that follow the shortest of the last 20 seconds. Another receiver takes over that is nearer by 30 %,
/// or by 15 % if its longest distance of five seconds is below the shortest of the former one.
struct Bermuda: RoomRule {
  private struct Link: Sendable {
    /// The newest distance first: those of receptions, and one for each second.
    var receptions: [(second: Int64, distance: Double)] = []
    var seconds: [Double] = []
    var distance: Double?

    mutating func update(_ received: Double?, second: Int64) {
      if let received { receptions.insert((second, received), at: 0) }
      if receptions.count > 10 { receptions.removeLast() }
      guard let newest = receptions.first, second - newest.second <= 30 else {
        distance = nil
        seconds = []
        return
      }
      guard distance != nil else {
        distance = newest.distance
        seconds = [newest.distance]
        return
      }
      // Nobody goes away at more than 3 m/s.
      let speeds = receptions.dropFirst().map {
        (newest.distance - $0.distance) / Double(max(1, newest.second - $0.second))
      }
      let isTooFast = (speeds.first ?? 0) >= 0 && (speeds.max() ?? 0) > 3
      seconds.insert(isTooFast ? seconds.first ?? newest.distance : newest.distance, at: 0)
      if seconds.count > 20 { seconds.removeLast() }
      var least = newest.distance
      let sum = seconds.reduce(0) { sum, distance in
        least = min(least, distance)
        return sum + least
      }
      distance = min(newest.distance, sum / Double(seconds.count))
    }
  }

  private let site: Site
  private var links: [BeaconIdentity: [Link]] = [:]
  private var incumbents: [BeaconIdentity: Int] = [:]

  init(_ site: Site) { self.site = site }

  mutating func receive(_ reports: [ReceiverSecond], second: Int64) {
    var distances: [BeaconIdentity: [String: Double]] = [:]
    for report in reports {
      for reception in report.receptions {
        distances[reception.beacon, default: [:]][report.receiver] = site.distance(reception)
      }
    }
    for beacon in Set(links.keys).union(distances.keys) {
      var own = links[beacon] ?? site.receivers.map { _ in Link() }
      for index in own.indices {
        own[index].update(distances[beacon]?[site.receivers[index].name], second: second)
      }
      links[beacon] = own
      incumbents[beacon] = nearest(own, incumbents[beacon], second: second)
    }
  }

  private func nearest(_ links: [Link], _ incumbent: Int?, second: Int64) -> Int? {
    var incumbent = incumbent
    for index in links.indices where index != incumbent {
      let challenger = links[index]
      guard let distance = challenger.distance, distance < 20,
        let newest = challenger.receptions.first, second - newest.second <= 10
      else { continue }
      guard let former = incumbent, let formerDistance = links[former].distance else {
        incumbent = index
        continue
      }
      guard distance < formerDistance else { continue }
      let difference = (formerDistance - distance) / ((formerDistance + distance) / 2)
      let longest = challenger.seconds.prefix(5).max() ?? .infinity
      let shortest = links[former].seconds.prefix(5).min() ?? .infinity
      let isLonger = challenger.seconds.count > 3 && longest < shortest && difference > 0.15
      if isLonger || difference >= 0.3 { incumbent = index }
    }
    return incumbent.flatMap { links[$0].distance == nil ? nil : $0 }
  }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer {
    RoomAnswer(room: incumbents[beacon].flatMap { site.room(of: site.receivers[$0]) })
  }
}

/// The signals of the last seconds at each receiver.
struct RecentSignals: Sendable {
  private let length: Int64
  private var signals: [BeaconIdentity: [String: [(second: Int64, value: Double)]]] = [:]
  private var second: Int64 = 0

  init(seconds: Int64) { length = seconds }

  mutating func receive(
    _ reports: [ReceiverSecond], second: Int64,
    _ value: (ReceiverSecond.Reception) -> Double? = { $0.mean }
  ) {
    self.second = second
    for report in reports {
      for reception in report.receptions {
        guard let value = value(reception) else { continue }
        var own = signals[reception.beacon]?[report.receiver] ?? []
        own.removeAll { $0.second <= second - length }
        own.append((second, value))
        signals[reception.beacon, default: [:]][report.receiver] = own
      }
    }
  }

  func values(_ beacon: BeaconIdentity, _ receiver: String) -> [Double] {
    signals[beacon]?[receiver]?.filter { $0.second > second - length }.map(\.value) ?? []
  }

  var beacons: some Collection<BeaconIdentity> { signals.keys }
}

/// The rooms of the five most similar seconds of a walk with known rooms, by the signals of all
/// receivers: means over three seconds, or -100 dBm. The probability is the share of the five.
struct NearestFingerprints: RoomRule {
  private let site: Site
  private var recent = RecentSignals(seconds: 3)
  private var examples: [(signals: [Double], room: String)] = []

  init(_ site: Site) { self.site = site }

  private func fingerprint(_ beacon: BeaconIdentity) -> [Double] {
    site.receivers.map { receiver in
      let values = recent.values(beacon, receiver.name)
      return values.isEmpty ? -100 : values.reduce(0, +) / Double(values.count)
    }
  }

  mutating func receive(_ reports: [ReceiverSecond], second: Int64) {
    recent.receive(reports, second: second)
  }

  /// Takes the second of the last reports as an example.
  mutating func learn(_ beacon: BeaconIdentity, in room: String) {
    examples.append((fingerprint(beacon), room))
  }

  /// Forgets the last reports, but not the examples.
  mutating func restart() { recent = RecentSignals(seconds: 3) }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer {
    let own = fingerprint(beacon)
    let nearest = examples.map { example in
      let squares = zip(own, example.signals).map { ($0 - $1) * ($0 - $1) }
      return (distance: squares.reduce(0, +), room: example.room)
    }.sorted { $0.distance < $1.distance }.prefix(5)
    let votes = Dictionary(nearest.map { ($0.room, 1.0) }, uniquingKeysWith: +)
    guard let best = votes.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else {
      return RoomAnswer()
    }
    let share = best.value / Double(nearest.count)
    return RoomAnswer(
      room: best.key, best: RoomEstimate.Candidate(.room(best.key), probability: share))
  }
}

/// The nodes of ESPresense and its companion: a distance to each node, from the median of the last
/// seconds, and a place that explains them.
struct ESPresense: RoomRule {
  enum Locator: Sendable {
    /// The room of the nearest node.
    case nearestNode
    /// Weighted least squares by Nelder and Mead's method: a place, and a scale of all distances.
    case nelderMead
    /// The same, followed by its Kalman filter of places.
    case filtered
  }

  private let site: Site
  private let locator: Locator
  private var recent: RecentSignals
  private var places: [BeaconIdentity: Track] = [:]
  private var rooms: [BeaconIdentity: String] = [:]

  init(_ site: Site, _ locator: Locator, seconds: Int64 = 5) {
    self.site = site
    self.locator = locator
    recent = RecentSignals(seconds: seconds)
  }

  mutating func receive(_ reports: [ReceiverSecond], second: Int64) {
    recent.receive(reports, second: second) { site.distance($0) }
    for beacon in recent.beacons {
      var nodes: [(node: Site.Receiver, distance: Double)] = []
      for receiver in site.receivers where receiver.position != nil {
        let values = recent.values(beacon, receiver.name).sorted()
        if !values.isEmpty { nodes.append((receiver, values[values.count / 2])) }
      }
      nodes.sort { $0.distance < $1.distance }
      // The room stays while nothing is received, and while there is one node only.
      guard let first = nodes.first else { continue }
      if locator == .nearestNode {
        rooms[beacon] = site.room(of: first.node)
        continue
      }
      nodes.removeAll { $0.node.floor != first.node.floor }
      guard nodes.count > 1, let place = locate(nodes, from: places[beacon]?.place) else {
        continue
      }
      var track = places[beacon] ?? Track(place)
      track.update(place, second: second, isFiltered: locator == .filtered)
      places[beacon] = track
      rooms[beacon] = site.room(at: track.place, floor: first.node.floor)
    }
  }

  func answer(_ beacon: BeaconIdentity) -> RoomAnswer { RoomAnswer(room: rooms[beacon]) }

  private func locate(
    _ nodes: [(node: Site.Receiver, distance: Double)], from former: Site.Point?
  ) -> Site.Point? {
    let points = nodes.compactMap(\.node.position)
    let middle = Site.Point((points[0].x + points[1].x) / 2, (points[0].y + points[1].y) / 2)
    let start = former ?? middle
    guard nodes.count > 2 else { return start }
    let corners = site.rooms.filter { $0.floor == nodes[0].node.floor }.flatMap(\.outline)
    guard let left = corners.map(\.x).min(), let right = corners.map(\.x).max(),
      let bottom = corners.map(\.y).min(), let top = corners.map(\.y).max()
    else { return start }
    let bounds = [left...right, bottom...top, 0...site.propagation.floorHeight, 0.5...1.5]
    // A Gaussian weight of the rank, with a standard deviation of 0.3.
    let weights: [Double] = nodes.indices.map { index in
      let rank = Double(index) / Double(nodes.count - 1) / 0.3
      return exp(-rank * rank / 2)
    }
    let sum = weights.reduce(0, +)
    let minimum = nelderMead(from: [start.x, start.y, site.propagation.beaconHeight, 1]) { x in
      var outside = 0.0
      for (value, bounds) in zip(x, bounds) {
        let excess = max(0, bounds.lowerBound - value, value - bounds.upperBound)
        outside += excess * excess
      }
      var value = 25 * (1 - x[3]) * (1 - x[3])
      if outside > 0 { value += pow(5, 1 + outside.squareRoot()) }
      for (index, (node, distance)) in nodes.enumerated() {
        let plan = Site.Point(x[0], x[1]) - points[index]
        let rise = x[2] - node.height
        let modeled = (plan.length * plan.length + rise * rise).squareRoot() * x[3]
        value += weights[index] / sum * (modeled - distance) * (modeled - distance)
      }
      return value
    }
    return Site.Point(min(right, max(left, minimum[0])), min(top, max(bottom, minimum[1])))
  }

  /// A Kalman filter with constant speed, which both axes share. A step faster than 0.5 m/s counts less.
  private struct Track: Sendable {
    private(set) var place: Site.Point
    private var velocity = Site.Point(0, 0)
    private var variance = (place: 1.0, both: 0.0, velocity: 1.0)
    private var second: Int64?

    init(_ place: Site.Point) { self.place = place }

    mutating func update(_ new: Site.Point, second: Int64, isFiltered: Bool) {
      defer { self.second = second }
      guard isFiltered, let former = self.second else { return place = new }
      let dt = Double(max(1, second - former))
      let excess = max(1, (new - place).length / (0.5 * dt))
      let noise = 0.1 * excess * excess
      let q = 0.01
      place = Site.Point(place.x + velocity.x * dt, place.y + velocity.y * dt)
      variance.place += 2 * dt * variance.both + dt * dt * variance.velocity + q * pow(dt, 4) / 4
      variance.both += dt * variance.velocity + q * pow(dt, 3) / 2
      variance.velocity += q * dt * dt
      let gain = variance.place / (variance.place + noise)
      let velocityGain = variance.both / (variance.place + noise)
      let error = new - place
      place = Site.Point(place.x + gain * error.x, place.y + gain * error.y)
      velocity = Site.Point(
        velocity.x + velocityGain * error.x, velocity.y + velocityGain * error.y)
      variance.velocity -= velocityGain * variance.both
      variance.place *= 1 - gain
      variance.both *= 1 - gain
      let speed = velocity.length
      if speed > 0.5 { velocity = Site.Point(velocity.x / speed / 2, velocity.y / speed / 2) }
    }
  }
}

/// Returns the place of a minimum (Nelder and Mead, *A simplex method for function minimization*, The
/// Computer Journal 7, 1965).
private func nelderMead(from start: [Double], _ value: ([Double]) -> Double) -> [Double] {
  var simplex =
    [start]
    + start.indices.map { index in
      var point = start
      point[index] += index == 3 ? 0.05 : 0.5
      return point
    }
  var values = simplex.map(value)
  let last = start.count
  for _ in 0..<1000 {
    let order = values.indices.sorted { values[$0] < values[$1] }
    simplex = order.map { simplex[$0] }
    values = order.map { values[$0] }
    guard values[last] - values[0] > 1e-7 else { break }
    let center = start.indices.map { axis in
      simplex.prefix(last).reduce(0) { $0 + $1[axis] } / Double(last)
    }
    func point(_ factor: Double) -> [Double] {
      start.indices.map { center[$0] + factor * (simplex[last][$0] - center[$0]) }
    }
    func replace(_ point: [Double]) { (simplex[last], values[last]) = (point, value(point)) }
    let reflected = point(-1)
    let reflectedValue = value(reflected)
    if reflectedValue < values[0] {
      let expanded = point(-2)
      replace(value(expanded) < reflectedValue ? expanded : reflected)
    } else if reflectedValue < values[last - 1] {
      replace(reflected)
    } else {
      let contracted = point(reflectedValue < values[last] ? -0.5 : 0.5)
      if value(contracted) < min(reflectedValue, values[last]) {
        replace(contracted)
      } else {
        for index in 1...last {
          simplex[index] = zip(simplex[0], simplex[index]).map { ($0 + $1) / 2 }
          values[index] = value(simplex[index])
        }
      }
    }
  }
  return simplex[values.indices.min { values[$0] < values[$1] } ?? 0]
}
