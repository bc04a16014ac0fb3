import Advertising
import FleetSites
import Foundation
import Fusion
import TestSupport
import Testing

/// Fusion on simulated sites, which follow the law that it assumes. It does not know the shadowing
/// of each place and the power of each beacon.
@Suite struct SimulatedSiteTests {
  struct Scores {
    var fusion = RoomScore()
    var nearest = RoomScore()
  }

  /// The scores of a site that differs from what its site file states.
  static func scores(
    _ site: Site, real: Site? = nil, _ configuration: SiteSimulator.Configuration, seconds: Int
  ) -> Scores {
    var simulator = SiteSimulator(real ?? site, configuration)
    var fusion = SiteFusion(SiteModel(site))
    var nearest = NearestReceiver(site)
    var scores = Scores()
    for _ in 0..<seconds {
      let second = simulator.next()
      for report in second.reports { _ = fusion.receive(report) }
      nearest.receive(second.reports)
      for (beacon, truth) in second.truth {
        let number = second.reports.first?.second ?? 0
        let estimate = fusion.estimate(of: beacon)
        var room: String?
        if case .room(let name)? = estimate?.place { room = name }
        scores.fusion.add(
          beacon, room: room, best: estimate?.best, truth: truth, second: number)
        scores.nearest.add(
          beacon, room: nearest.room(of: beacon), best: nil, truth: truth, second: number)
      }
    }
    return scores
  }

  @Test(arguments: [("lying", 1e9), ("carried about", 120.0)])
  func isRightMoreOftenThanTheNearestReceiver(_ name: String, stay: Double) {
    var configuration = SiteSimulator.Configuration()
    configuration.stay = stay
    configuration.beacons = 40
    let scores = Self.scores(Site(planOf: 8), configuration, seconds: 300)
    for (rule, score) in [("fusion", scores.fusion), ("nearest", scores.nearest)] {
      print(
        "\(name), \(rule): right \(score.rightShare), wrong \(score.wrongShare), "
          + "latency \(score.latency(0.5) ?? -1) and \(score.latency(0.9) ?? -1) s, "
          + "missed \(score.missed), false changes \(score.falseChangesPerHour) an hour, "
          + "calibration error \(score.expectedCalibrationError)")
    }
    #expect(scores.fusion.wrongShare < scores.nearest.wrongShare * 0.6)
    #expect(scores.fusion.expectedCalibrationError < 0.05)
    #expect(scores.fusion.falseChangesPerHour < scores.nearest.falseChangesPerHour / 20)
  }

  /// People walk about with the beacons, and the site file says so.
  @Test func followsBeaconsThatPeopleWear() {
    var configuration = SiteSimulator.Configuration()
    configuration.stay = 5
    configuration.beacons = 20
    var worn = Site(planOf: 8)
    worn.lying = 5
    let usual = Self.scores(Site(planOf: 8), configuration, seconds: 300).fusion
    let scores = Self.scores(worn, configuration, seconds: 300).fusion
    #expect(scores.rightShare > usual.rightShare - 0.03)
    #expect(scores.wrongShare < usual.wrongShare)
  }

  /// Each receiver is a little surer of a beacon that lies. Together they must not hold one that
  /// walks slowly through a hall, where its shadowing stays for a while.
  @Test func followsABeaconThatManyReceiversHave() {
    let columns: [Double] = [0, 5, 10, 15]
    let rows: [Double] = [0, 5, 10]
    var site = Site(
      "hall",
      rooms: columns.flatMap { x in
        rows.map { y in
          Site.Room(
            "\(x) \(y)",
            outline: [.init(x, y), .init(x + 5, y), .init(x + 5, y + 5), .init(x, y + 5)])
        }
      },
      receivers: columns.flatMap { x in
        rows.map { y in Site.Receiver("\(x) \(y)", at: .init(x + 1, y + 2.5)) }
      })
    site.propagation.sensitivity = -110
    let beacon = BeaconIdentity(uuid: ProximityUUID(high: 1, low: 1), major: 1, minor: 1)
    var score = RoomScore()
    for seed in 1...20 {
      var random = SplitMix64(seed: UInt64(seed))
      var fusion = SiteFusion(SiteModel(site))
      let shadows = site.receivers.map { _ in 5 * random.normal() }
      for second in 0..<50 {
        let place = Site.Point(19.8 - 0.4 * Double(second), 7.5)
        for (index, receiver) in site.receivers.enumerated() {
          guard let position = receiver.position else { continue }
          let distance = max(1, Site.Point(position.x - place.x, position.y - place.y).length)
          let mean = -59 - 25 * log10(distance) + shadows[index] + 4 * random.normal()
          _ = fusion.receive(
            ReceiverSecond(
              receiver: receiver.name, boot: 1, number: UInt64(second) + 1,
              time: 1_700_000_000_000 + Int64(second) * 1000,
              receptions: [.init(beacon, count: 2, mean: mean, measuredPower: -59)]))
        }
        let estimate = fusion.estimate(of: beacon)
        var room: String?
        if case .room(let name)? = estimate?.place { room = name }
        let truth = "\(columns[min(3, max(0, Int(place.x / 5)))]) 5.0"
        score.add(beacon, room: room, best: estimate?.best, truth: truth, second: Int64(second))
      }
    }
    print(
      "a hall: right \(score.rightShare), wrong \(score.wrongShare), "
        + "calibration error \(score.expectedCalibrationError)")
    #expect(score.wrongShare < 0.22)
  }

  /// A beacon that they do not receive may be inside.
  @Test(arguments: [0.9, 0.6]) func learnsThatReceiversAreWorse(rate: Double) {
    var real = Site(planOf: 8)
    real.propagation.sensitivity += 10
    for index in real.receivers.indices { real.receivers[index].rate = rate }
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = 20
    let scores = Self.scores(Site(planOf: 8), real: real, configuration, seconds: 300)
    print(
      "worse receivers, rate \(rate): right \(scores.fusion.rightShare), "
        + "wrong \(scores.fusion.wrongShare), nearest wrong \(scores.nearest.wrongShare), "
        + "calibration error \(scores.fusion.expectedCalibrationError)")
    #expect(scores.fusion.rightShare > scores.nearest.rightShare)
    #expect(scores.fusion.wrongShare < scores.nearest.wrongShare * 0.6)
    #expect(scores.fusion.expectedCalibrationError < 0.08)
  }

  /// One receiver receives it weakly, and all others nothing.
  @Test(arguments: [-92, -88, -84], [0, 3, 6])
  func aBeaconInTheStreetIsInNoRoom(rssi: Double, number: Int) {
    let site = Site(planOf: 8)
    var fusion = SiteFusion(SiteModel(site))
    let beacon = BeaconIdentity(uuid: SiteSimulator.uuid, major: 1, minor: 1)
    for second in 1...300 as ClosedRange<Int64> {
      for (index, receiver) in site.receivers.enumerated() {
        let isReceived = index == number && second % 3 != 0
        let mean = rssi + Double(second % 5) - 2
        _ = fusion.receive(
          ReceiverSecond(
            receiver: receiver.name, boot: 1, number: UInt64(second), time: second * 1000,
            receptions: isReceived ? [.init(beacon, count: 2, mean: mean)] : []))
      }
      if case .room(let name)? = fusion.estimate(of: beacon)?.place {
        Issue.record("in \(name) after \(second) s")
      }
    }
  }

  @Test func isCalibratedWhereTheSiteFileIsWrong() {
    var cases: [(String, Site, SiteSimulator.Configuration)] = []
    func add(
      _ name: String, _ change: (inout Site.Propagation, inout SiteSimulator.Configuration) -> Void
    ) {
      var real = Site(planOf: 8)
      var configuration = SiteSimulator.Configuration()
      configuration.beacons = 20
      configuration.seed = UInt64(cases.count + 1)
      change(&real.propagation, &configuration)
      cases.append((name, real, configuration))
    }
    add("shadowing of 3 dB") { $1.shadowing = 3 }
    add("shadowing of 8 dB") { $1.shadowing = 8 }
    add("exponent of 2") { law, _ in law.exponent = 2 }
    add("exponent of 3.5") { law, _ in law.exponent = 3.5 }
    add("walls of 1 dB") { law, _ in law.wallLoss = 1 }
    add("walls of 8 dB") { law, _ in law.wallLoss = 8 }
    add("powers that differ by 6 dB") { $1.power = 6 }
    add("an advertisement in 3 s") { $1.advertisements = 0.33 }
    var all = Scores()
    for (name, real, configuration) in cases {
      let scores = Self.scores(Site(planOf: 8), real: real, configuration, seconds: 200)
      print(
        "\(name): right \(scores.fusion.rightShare), wrong \(scores.fusion.wrongShare), "
          + "nearest wrong \(scores.nearest.wrongShare), "
          + "calibration error \(scores.fusion.expectedCalibrationError)")
      #expect(scores.fusion.wrongShare < scores.nearest.wrongShare, "\(name)")
      all.fusion.merge(scores.fusion)
      all.nearest.merge(scores.nearest)
    }
    print("all: calibration error \(all.fusion.expectedCalibrationError)")
    #expect(all.fusion.wrongShare < all.nearest.wrongShare * 0.5)
    #expect(all.fusion.expectedCalibrationError < 0.05)
  }

  @Test func `follows beacons through rooms that no plan has`() {
    let real = Site(planOf: 8)
    var site = real
    for index in site.rooms.indices { site.rooms[index].outline = [] }
    for (index, receiver) in real.receivers.enumerated() {
      let place = receiver.position.flatMap { place in real.rooms.first { $0.contains(place) } }
      site.receivers[index].room = place?.name
      site.receivers[index].position = nil
    }
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = 20
    let scores = Self.scores(site, real: real, configuration, seconds: 600)
    print(
      "no plan: right \(scores.fusion.rightShare), wrong \(scores.fusion.wrongShare), "
        + "nearest wrong \(scores.nearest.wrongShare), latency \(scores.fusion.latency(0.9) ?? -1) s, "
        + "calibration error \(scores.fusion.expectedCalibrationError)")
    #expect(scores.fusion.wrongShare < scores.nearest.wrongShare * 0.6)
    // Nothing says how the corridor, which has no receiver, differs from the rooms.
    #expect(scores.fusion.expectedCalibrationError < 0.14)
    #expect(scores.fusion.falseChangesPerHour < scores.nearest.falseChangesPerHour / 20)
  }

  /// Returns the seconds after which the rooms of vanished beacons were left, in order.
  static func departures(advertisements: Double) -> [Int] {
    let site = Site(planOf: 8)
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = 20
    configuration.advertisements = advertisements
    var simulator = SiteSimulator(site, configuration)
    var fusion = SiteFusion(SiteModel(site))
    for _ in 0..<120 { for report in simulator.next().reports { _ = fusion.receive(report) } }
    var rooms: [BeaconIdentity: Whereabouts] = [:]
    for estimate in fusion.estimates {
      if case .room = estimate.place { rooms[estimate.beacon] = estimate.place }
    }
    var departures: [Int] = []
    for passed in 1...240 {
      for receiver in site.receivers {
        _ = fusion.receive(
          ReceiverSecond(
            receiver: receiver.name, boot: 1, number: UInt64(120 + passed),
            time: Int64(120 + passed) * 1000, receptions: []))
      }
      for (beacon, room) in rooms where fusion.estimate(of: beacon)?.place != room {
        departures.append(passed)
        rooms[beacon] = nil
      }
    }
    return departures + rooms.map { _ in 240 }
  }

  @Test func leavesTheRoomOfABeaconThatVanishes() {
    let often = Self.departures(advertisements: 3)
    let seldom = Self.departures(advertisements: 0.33)
    print("left after, 3 advertisements in a second: \(often), one in 3 s: \(seldom)")
    #expect(often.count >= 15 && often[often.count / 2] <= 8 && often.allSatisfy { $0 < 30 })
    // A beacon does not leave in its usual gaps.
    #expect(seldom.count >= 10 && seldom[seldom.count / 2] >= 10)
    #expect(seldom.allSatisfy { $0 < 120 })
  }
}
