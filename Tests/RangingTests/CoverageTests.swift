import Ranging
import RealModule
import TestSupport
import Testing

/// How often a 95 % interval holds the true distance, over many rooms.
@Suite struct CoverageTests {
  @Test func calibrated() {
    let share = coverage { _, exponent, offset in
      Calibration(
        measuredPower: -59 + offset, model: .logDistance(exponent: exponent))
    }
    #expect(share >= 0.92, "\(share)")
  }

  @Test func onlyThePowerKnown() {
    let share = coverage { _, _, _ in Calibration() }
    #expect(share >= 0.87, "\(share)")
  }

  /// Honest in white noise; slow fading of which a minute shows little is still underrated.
  @Test(arguments: [(Fading.plain, 0.92), (.indoor, 0.92)])
  func standardErrorHoldsTheMean(fading: Fading, goal: Double) {
    var (inside, all) = (0, 0)
    for seed in 0..<40 {
      var radio = Radio(fading.withoutChannels, seed: UInt64(seed))
      var filter = RSSIFilter()
      for index in 0..<400 {
        if let rssi = radio.packet(after: 0.2, mean: -70) {
          filter.update(rssi: rssi, at: nanoseconds(Double(index) * 0.2))
        }
        guard index > 50, index % 10 == 0 else { continue }
        let bias = -13 * fading.dips
        let error = Double(filter.mean) - (-70 + bias)
        all += 1
        if error.magnitude <= 2 * Double(filter.standardError) { inside += 1 }
      }
    }
    let share = Double(inside) / Double(all)
    #expect(share >= goal, "two standard errors hold \(share)")
  }

  private func coverage(
    _ calibration: (_ room: Int, _ exponent: Double, _ offset: Double) -> Calibration
  ) -> Double {
    var random = SplitMix64(seed: 42)
    var inside = 0
    let rooms = 400
    for room in 0..<rooms {
      let distance = 0.5 * Double.pow(40, random.uniform())
      let exponent = 1.4 + 1.3 * random.uniform()
      let offset = 4 * random.normal()
      let shadowing = 4.5 * random.normal()
      let mean = -59 + offset + shadowing - 10 * exponent * Double.log10(distance)
      var radio = Radio(.indoor, seed: UInt64(room))
      var filter = RSSIFilter()
      for index in 0..<60 {
        if let rssi = radio.packet(after: 0.2, mean: mean) {
          filter.update(rssi: rssi, at: nanoseconds(Double(index) * 0.2))
        }
      }
      let estimate = calibration(room, exponent, offset).estimate(
        rssi: Double(filter.mean), variance: Double(filter.variance), advertisedPower: -59)
      let (low, high) = estimate.interval(coverage: 0.95)
      if low <= distance, distance <= high { inside += 1 }
    }
    return Double(inside) / Double(rooms)
  }
}

extension Fading {
  var withoutChannels: Fading {
    var copy = self
    copy.channels = 0
    return copy
  }
}
