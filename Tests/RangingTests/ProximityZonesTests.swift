import Ranging
import Testing

@Suite struct ProximityZonesTests {
  static let calibration = Calibration(measuredPower: -59, model: .logDistance(exponent: 2))
  static let thresholds = ProximityThresholds(
    limits: .standard, calibration: calibration, advertisedPower: -59)

  /// Hysteresis alone: no margin and no hold.
  @Test func hysteresis() throws {
    let limits = try ProximityLimits(margin: 0, hold: 0)
    var zones = ProximityZones()
    #expect(zones.proximity == .unknown)
    let walk: [(Double, Proximity)] = [
      (0.6, .near), (0.501, .near), (0.49, .immediate), (0.699, .immediate), (0.71, .near),
      (4.9, .near), (4.999, .near), (5.01, .far), (4.001, .far), (3.99, .near), (9, .far),
      (0.1, .immediate), (100, .far), (0.45, .immediate),
    ]
    for (distance, zone) in walk {
      let mean = Float(Self.calibration.rssi(atDistance: distance, advertisedPower: -59))
      let now = zones.update(
        mean: mean, error: 1, at: 0, thresholds: Self.thresholds, limits: limits)
      #expect(now == zone, "at \(distance) m")
    }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func whatIsNoSignalIsUnknown(signal: Float) {
    var zones = ProximityZones()
    zones.update(mean: -59, error: 0, at: 0, thresholds: Self.thresholds)
    #expect(zones.update(mean: signal, error: 0, at: 1, thresholds: Self.thresholds) == .unknown)
    #expect(zones.update(mean: -72.1, error: 0, at: 2, thresholds: Self.thresholds) == .far)
    zones.reset()
    #expect(zones.proximity == .unknown)
  }

  @Test func aChangeMustLastAndClearTheNoise() {
    var zones = ProximityZones()
    func at(_ rssi: Float, _ time: Int64, variance: Float = 0.01) -> Proximity {
      zones.update(
        mean: rssi, error: variance.squareRoot(), at: time, thresholds: Self.thresholds)
    }
    #expect(at(-65, 0) == .near)
    #expect(at(-80, nanoseconds(1)) == .near)
    #expect(at(-80, nanoseconds(1.9)) == .near)
    #expect(at(-80, nanoseconds(2)) == .far)
    // An interruption starts the hold anew, and so does a clock that steps back.
    #expect(at(-65, nanoseconds(3)) == .far)
    #expect(at(-80, nanoseconds(3.5)) == .far)
    #expect(at(-65, nanoseconds(4.2)) == .far)
    #expect(at(-65, nanoseconds(1)) == .far)
    #expect(at(-65, nanoseconds(2)) == .near)
    // 1 dB beyond 5 m is not enough where the mean is known to 2 dB.
    for second in 3..<9 {
      #expect(at(-74, nanoseconds(Double(second)), variance: 4) == .near)
    }
    #expect(at(-74, .min) == .near)
    #expect(at(-74, .max) == .far)
  }

  @Test func limitsAreChecked() throws {
    #expect(throws: RangingError.self) { try ProximityLimits(leaveImmediate: 0.5) }
    #expect(throws: RangingError.self) { try ProximityLimits(leaveNear: 4) }
    #expect(throws: RangingError.self) { try ProximityLimits(leaveNear: .infinity) }
    #expect(throws: RangingError.self) { try ProximityLimits(enterImmediate: .nan) }
    #expect(throws: RangingError.self) { try ProximityLimits(enterImmediate: -1) }
    #expect(throws: RangingError.self) { try ProximityLimits(margin: -1) }
    #expect(throws: RangingError.self) { try ProximityLimits(hold: .nan) }
    let strict = try ProximityLimits(enterNear: 2, leaveNear: 3, margin: 0, hold: 0)
    #expect(strict.enterNear == 2 && strict.leaveNear == 3)
    let error = RangingError.zoneGuard(margin: -1, hold: 0)
    #expect(error.description.contains("-1.0"))
  }

  @Test func rawValuesAreCoreLocations() {
    #expect(Proximity.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(Proximity.immediate.rawValue == 1 && Proximity.far.rawValue == 3)
  }
}
