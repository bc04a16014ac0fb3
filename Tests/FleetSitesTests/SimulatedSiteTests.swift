import Advertising
import FleetSites
import Fusion
import Testing

/// Fusion on simulated sites, which follow the law that it assumes. It does not know the shadowing
/// of each place and the power of each beacon.
@Suite struct SimulatedSiteTests {
  struct Scores {
    var fusion = RoomScore()
    var nearest = RoomScore()
  }

  static func scores(
    _ site: Site, _ configuration: SiteSimulator.Configuration, seconds: Int
  ) -> Scores {
    var simulator = SiteSimulator(site, configuration)
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
    #expect(scores.fusion.expectedCalibrationError < 0.08)
    #expect(scores.fusion.falseChangesPerHour < scores.nearest.falseChangesPerHour / 20)
  }
}
