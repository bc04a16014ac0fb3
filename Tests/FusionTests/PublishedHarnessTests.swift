import Advertising
import RealModule
import TestSupport
import Testing

@testable import Fusion

/// The accuracy harness that the documentation of ESPresense-companion describes: four receivers in
/// a flat of 6 m by 4 m, and two walks. Published for its best solver: 6.6 % and 22.3 % wrong rooms,
/// median errors of 0.60 m.
@Suite struct PublishedHarnessTests {
  struct Walk: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var points: [Site.Point]
    /// The published share of wrong rooms.
    var published: Double
  }

  static let walks = [
    Walk(
      testDescription: "diagonal",
      points: [Site.Point(0.5, 0.5), Site.Point(3, 2), Site.Point(5.5, 3.5)], published: 0.066),
    Walk(
      testDescription: "through the wall",
      points: [
        Site.Point(1, 2), Site.Point(3, 2), Site.Point(3.9, 2), Site.Point(4.1, 2),
        Site.Point(5, 2),
      ], published: 0.223),
  ]

  static let site: Site = {
    var propagation = Site.Propagation()
    propagation.exponent = 3
    propagation.wallLoss = 0
    propagation.shadowing = 0
    propagation.noise = 2.5
    propagation.beaconHeight = 2.4
    func room(_ name: String, _ left: Double, _ right: Double) -> Site.Room {
      Site.Room(
        name,
        outline: [
          Site.Point(left, 0), Site.Point(right, 0), Site.Point(right, 4), Site.Point(left, 4),
        ])
    }
    func receiver(_ name: String, _ x: Double, _ y: Double) -> Site.Receiver {
      Site.Receiver(name, at: Site.Point(x, y), height: 2.4)
    }
    var site = Site(
      "flat", rooms: [room("living room", 0, 4), room("bedroom", 4, 6)],
      receivers: [
        receiver("nw", 0.2, 3.8), receiver("sw", 0.2, 0.2), receiver("ne", 5.8, 3.8),
        receiver("se", 5.8, 0.2),
      ], propagation: propagation)
    // No wall stands between the rooms, and a sample, taken for a second, is 7 to 97 mm of the walk.
    site.opening = 1
    site.walkingSpeed = 0.12
    return site
  }()

  /// The places of a walk, thirty for each segment.
  static func places(_ points: [Site.Point]) -> [Site.Point] {
    zip(points, points.dropFirst()).flatMap { start, end in
      (0..<30).map {
        let share = Double($0) / 30
        return Site.Point(
          start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)
      }
    } + points.suffix(1)
  }

  @Test(arguments: walks) func hasFewerWrongRooms(_ walk: Walk) {
    let model = SiteModel(Self.site)
    var random = SplitMix64(seed: 20_260_530)
    let places = Self.places(walk.points)
    var wrong = 0
    var errors: [Double] = []
    let runs = 40
    for _ in 0..<runs {
      var fusion = SiteFusion(model)
      for (second, place) in places.enumerated() {
        for receiver in Self.site.receivers {
          let way = receiver.position! - place
          var rssi = -59 - 30 * Double.log10(way.length) + 2.5 * random.normal()
          if Double.random(in: 0..<1, using: &random) < 0.1 { rssi -= 6 }
          _ = fusion.receive(
            ReceiverSecond(
              receiver: receiver.name, boot: 1, number: UInt64(second + 1),
              time: Int64(second) * 1000,
              receptions: [.init(Self.beacon, count: 1, mean: rssi, measuredPower: -59)]))
        }
        let estimate = fusion.estimate(of: Self.beacon)!
        let truth = place.x <= 4 ? "living room" : "bedroom"
        if estimate.best.place != .room(truth) { wrong += 1 }
        errors.append((estimate.position! - place).length)
      }
    }
    errors.sort()
    let share = Double(wrong) / Double(runs * places.count)
    print(
      "\(walk.testDescription): wrong rooms \(share), published \(walk.published); "
        + "error: median \(errors[errors.count / 2]) m, 95 % \(errors[errors.count * 95 / 100]) m")
    #expect(share <= walk.published * 0.5)
    #expect(errors[errors.count / 2] < 0.4)
  }

  static let beacon = BeaconIdentity(
    uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 1,
    minor: 2)
}
