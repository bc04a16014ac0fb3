import RealModule
import Testing

@testable import Ranging

@Suite struct PathLossModelTests {
  static let models: [PathLossModel] = [
    .standard, .logDistance(exponent: 1.4), .logDistance(exponent: 2.7), .androidNexus5,
    .android2013,
  ]

  /// Worked by hand from the published formulas, for a measured power of -59 dBm.
  @Test(
    arguments: [
      (PathLossModel.logDistance(exponent: 2), -59.0, 1.0),
      (.logDistance(exponent: 2), -79, 10),
      (.logDistance(exponent: 2), -39, 0.1),
      (.logDistance(exponent: 2.7), -86, 10),
      (.androidNexus5, -59, 0.97085),
      (.androidNexus5, -75, 2.779453883),
      (.androidNexus5, -50, 0.191064467),
      (.android2013, -59, 1.01076),
      (.android2013, -75, 5.832737223),
      (.android2013, -50, 0.191064467),
    ])
  func published(model: PathLossModel, rssi: Double, metres: Double) {
    let distance = model.distance(rssi: rssi, measuredPower: -59)
    #expect((distance - metres).magnitude < 1e-5 * metres, "\(distance)")
  }

  @Test(arguments: models, [-100.0, -59, -1])
  func monotoneFiniteAndInRange(model: PathLossModel, power: Double) {
    var last = Double.infinity
    for step in -1300...300 {
      let rssi = Double(step) / 10
      let distance = model.distance(rssi: rssi, measuredPower: power)
      #expect(PathLossModel.distanceRange.contains(distance))
      #expect(distance <= last, "at \(rssi) dBm: \(distance) m after \(last) m")
      last = distance
      let slope = model.slope(rssi: rssi, measuredPower: power)
      #expect(slope.isFinite && slope > 0)
    }
  }

  @Test(arguments: models, [-Double.infinity, .infinity, .nan, -1e300, 1e300, 0, 1e-300])
  func extremes(model: PathLossModel, value: Double) {
    for other in [-59, 0, value] {
      for (rssi, power) in [(value, other), (other, value)] {
        let distance = model.distance(rssi: rssi, measuredPower: power)
        #expect(PathLossModel.distanceRange.contains(distance))
        #expect(model.slope(rssi: rssi, measuredPower: power).isFinite)
      }
    }
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, 0, -3, 1e-300, 1e300])
  func absurdExponents(exponent: Double) {
    let model = PathLossModel.logDistance(exponent: exponent)
    #expect(PathLossModel.distanceRange.contains(model.distance(rssi: -80, measuredPower: -59)))
    #expect(model.slope(rssi: -80, measuredPower: -59).isFinite)
  }

  /// ln 10 / 10n, and the curve's own derivative.
  @Test func slopes() {
    let law = PathLossModel.logDistance(exponent: 2).slope(rssi: -70, measuredPower: -59)
    #expect((law - 0.1151292546).magnitude < 1e-9)
    let power = 0.42093 * Double.pow(75.0 / 59, 6.9476)
    let exact = 6.9476 * power / (power + 0.54992) / 75
    let curve = PathLossModel.androidNexus5.slope(rssi: -75, measuredPower: -59)
    #expect((curve - exact).magnitude < 1e-4, "\(curve) for \(exact)")
  }

  @Test func names() {
    for name in PathLossModel.names { #expect(PathLossModel(name: name)?.name == name) }
    #expect(PathLossModel(name: "log-distance", exponent: 3) == .logDistance(exponent: 3))
    #expect(PathLossModel(name: "curved") == nil)
  }

  /// From tables of the normal distribution.
  @Test(
    arguments: [
      (0.5, 0.0), (0.84134475, 1.0), (0.975, 1.959964), (0.995, 2.575829), (0.0001, -3.719016),
      (0.9999995, 4.891638),
    ])
  func normalQuantiles(share: Double, value: Double) {
    #expect((Normal.quantile(share) - value).magnitude < 2e-6, "\(Normal.quantile(share))")
  }
}
