import Advertising
import Ranging
import RealModule
import Testing

/// The distance's error against the truth in each shipped scenario that has one. docs/ranging.md
/// states the figures; these bounds are a little above them.
@Suite struct AccuracyTests {
  /// Recordings, their sites' environment factor, and the bound of the median factor. One of the
  /// lobby's two walkers sends 6 dB less than it says, a factor of 1.8 at its environment factor.
  /// Powers are those that the beacons state, and nothing shadows these sites; the prior allows for
  /// both, and draws 20 m to 14 m.
  @Test(arguments: [
    ("visitor.btsnoop", 2, 1.25), ("lobby.btsnoop", 2.3, 1.9), ("edge.btsnoop", 2.2, 1.45),
  ])
  func medianFactor(of file: String, environment: Double, most: Double) throws {
    let factors = try Self.errors(of: file, environment: environment).map(\.factor).sorted()
    #expect(factors.count > 50)
    let median = factors[factors.count / 2]
    #expect(median <= most, "a factor of \(median)")
  }

  /// The stated interval of 95 % holds the true distance as often as that, calibrated or not.
  @Test(arguments: ["visitor.btsnoop", "lobby.btsnoop", "edge.btsnoop"], [nil, 2.2])
  func intervalCovers(_ file: String, environment: Double?) throws {
    let errors = try Self.errors(of: file, environment: environment)
    let share = Double(errors.count { $0.isCovered }) / Double(errors.count)
    #expect(share >= 0.92, "\(share)")
  }

  private static func errors(of file: String, environment: Double?) throws
    -> [(factor: Double, isCovered: Bool)]
  {
    let positions = try Truth(String(file.prefix { $0 != "." })).positions
    var configuration = Ranger.Configuration()
    configuration.calibration.model = environment.map { .logDistance(exponent: $0) }
    var errors: [(Double, Bool)] = []
    for report in try Replayed(file, configuration: configuration).reports {
      for beacon in report.beacons {
        guard let estimate = beacon.estimate,
          let distance = positions[beacon.beacon]?[Int(report.second.rounded())]
        else { continue }
        let (low, high) = estimate.interval(coverage: 0.95)
        errors.append(
          (
            Double.exp(abs(Double.log(estimate.distance / distance))),
            (low...high).contains(distance)
          ))
      }
    }
    return errors
  }
}
