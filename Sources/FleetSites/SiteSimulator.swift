package import Advertising
package import Fusion
internal import RealModule

/// A site with people who carry beacons, and what its receivers report.
///
/// The signal falls by the law of the site. Shadowing is a Gauss-Markov process over the way of each
/// beacon to each receiver, with a correlation of 2 m and of a minute, and each advertisement has
/// noise and, one in ten, a body in its way.
package struct SiteSimulator: Sendable {
  package struct Configuration: Sendable, Hashable {
    package var beacons = 10
    package var seed: UInt64 = 1
    /// The advertisements of a beacon in a second.
    package var advertisements = 3.0
    /// The mean time in a room, in seconds.
    package var stay = 120.0
    /// The standard deviations of the shadowing, of an advertisement, and of the beacons' power, in dB.
    package var shadowing = 5.0
    package var noise = 3.0
    package var power = 3.0
    /// The share of time in which a receiver is down, for two minutes each.
    package var faults = 0.0

    package init() {}
  }

  /// A second of the site.
  package struct Second: Sendable {
    /// The seconds since the start.
    package var second: Int64
    package var reports: [ReceiverSecond]
    /// The room of each beacon.
    package var truth: [BeaconIdentity: String]
  }

  private struct Carrier: Sendable {
    var beacon: BeaconIdentity
    var place: Site.Point
    var floor: Int
    var way: [Site.Point] = []
    var rest: Double
    var power: Double
    var shadows: [Double]
  }

  private let site: Site
  private let losses: SiteLosses
  private let configuration: Configuration
  private var random: RandomNumbers
  private var carriers: [Carrier] = []
  /// The seconds for which each receiver is still down.
  private var down: [Int]
  private var second: Int64 = 0

  package init(_ site: Site, _ configuration: Configuration) {
    self.site = site
    self.configuration = configuration
    losses = SiteLosses(site)
    random = RandomNumbers(seed: configuration.seed)
    down = Array(repeating: 0, count: site.receivers.count)
    for number in 0..<configuration.beacons {
      let room = site.rooms[Int(random.next() % UInt64(site.rooms.count))]
      carriers.append(
        Carrier(
          beacon: BeaconIdentity(
            uuid: Self.uuid, major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF)),
          place: random.place(in: room), floor: room.floor,
          rest: random.exponential(configuration.stay),
          power: configuration.power * random.normal(),
          shadows: site.receivers.map { _ in configuration.shadowing * random.normal() }))
    }
  }

  package static let uuid = ProximityUUID(
    high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  /// Returns the next second.
  package mutating func next() -> Second {
    second += 1
    var receptions = Array(repeating: [ReceiverSecond.Reception](), count: site.receivers.count)
    var truth: [BeaconIdentity: String] = [:]
    for index in carriers.indices {
      var carrier = carriers[index]
      let moved = move(&carrier)
      truth[carrier.beacon] = room(of: carrier)
      for receiver in site.receivers.indices {
        if let reception = receive(&carrier, receiver, moved: moved) {
          receptions[receiver].append(reception)
        }
      }
      carriers[index] = carrier
    }
    var reports: [ReceiverSecond] = []
    for (index, receiver) in site.receivers.enumerated() {
      if down[index] > 0 {
        down[index] -= 1
        continue
      }
      if random.uniform() < configuration.faults / 120 { down[index] = 120 }
      reports.append(
        ReceiverSecond(
          receiver: receiver.name, boot: 1, number: UInt64(second), time: second * 1000,
          receptions: receptions[index]))
    }
    return Second(second: second, reports: reports, truth: truth)
  }

  /// Moves a carrier for a second, and returns the way in meters.
  private mutating func move(_ carrier: inout Carrier) -> Double {
    carrier.rest -= 1
    guard carrier.rest <= 0 else { return 0 }
    if carrier.way.isEmpty {
      let room = site.rooms[Int(random.next() % UInt64(site.rooms.count))]
      carrier.floor = room.floor
      carrier.way = [random.place(in: room)]
    }
    var left = 1.0
    while left > 0, let goal = carrier.way.first {
      let distance = (goal - carrier.place).length
      guard distance <= left else {
        let share = left / distance
        carrier.place.x += (goal.x - carrier.place.x) * share
        carrier.place.y += (goal.y - carrier.place.y) * share
        return 1
      }
      carrier.place = goal
      carrier.way.removeFirst()
      left -= distance
    }
    if carrier.way.isEmpty { carrier.rest = random.exponential(configuration.stay) }
    return 1 - left
  }

  private func room(of carrier: Carrier) -> String? {
    site.rooms.first { $0.floor == carrier.floor && $0.contains(carrier.place) }?.name
  }

  private mutating func receive(
    _ carrier: inout Carrier, _ receiver: Int, moved: Double
  ) -> ReceiverSecond.Reception? {
    let kept = Double.exp(-moved / 2 - 1 / 60.0)
    carrier.shadows[receiver] =
      kept * carrier.shadows[receiver]
      + (1 - kept * kept).squareRoot() * configuration.shadowing * random.normal()
    let mean =
      site.propagation.measuredPower + carrier.power + carrier.shadows[receiver]
      - losses.loss(to: receiver, from: carrier.place, floor: carrier.floor)
    var count = 0
    var sum = 0.0
    for _ in 0..<random.rounded(configuration.advertisements) {
      var rssi = mean + configuration.noise * random.normal()
      if random.uniform() < 0.1 { rssi -= 6 }
      let above = rssi - site.propagation.sensitivity
      guard random.uniform() < site.receivers[receiver].rate / (1 + Double.exp(-above / 1.5))
      else { continue }
      count += 1
      sum += rssi.rounded()
    }
    guard count > 0 else { return nil }
    return ReceiverSecond.Reception(
      carrier.beacon, count: count, mean: sum / Double(count),
      measuredPower: Int8(site.propagation.measuredPower))
  }
}

/// Random numbers from a seed (Steele, Lea and Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014).
private struct RandomNumbers: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 up to 1.
  mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A normal number with deviation 1 (Box and Muller, Ann. Math. Stat. 29, 1958).
  mutating func normal() -> Double {
    let radius = (-2 * Double.log(1 - uniform())).squareRoot()
    return radius * Double.cos(2 * .pi * uniform())
  }

  mutating func exponential(_ mean: Double) -> Double { -mean * Double.log(1 - uniform()) }

  /// A number rounded down or up at random, so that the mean stays.
  mutating func rounded(_ mean: Double) -> Int {
    Int(mean.rounded(.down)) + (uniform() < mean - mean.rounded(.down) ? 1 : 0)
  }

  /// A place in a room that a plan has.
  mutating func place(in room: Site.Room) -> Site.Point {
    let columns = room.outline.map(\.x)
    let rows = room.outline.map(\.y)
    guard let left = columns.min(), let right = columns.max(), let low = rows.min(),
      let high = rows.max()
    else { return Site.Point(0, 0) }
    for _ in 0..<1000 {
      let place = Site.Point(
        left + (right - left) * uniform(), low + (high - low) * uniform())
      if room.contains(place) { return place }
    }
    return room.outline[0]
  }
}
