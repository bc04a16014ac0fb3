import Ranging
import Testing

@Suite struct ProximityZonesTests {
  @Test func hysteresis() {
    var zones = ProximityZones()
    #expect(zones.proximity == .unknown)
    let walk: [(Double, Proximity)] = [
      (0.6, .near), (0.5, .near), (0.49, .immediate), (0.7, .immediate), (0.71, .near),
      (4.9, .near), (5, .near), (5.01, .far), (4, .far), (3.99, .near), (9, .far),
      (0.1, .immediate), (100, .far), (0.45, .immediate),
    ]
    for (distance, zone) in walk {
      #expect(zones.update(distance: distance) == zone, "at \(distance) m")
    }
  }

  @Test(arguments: [Double.nan, .infinity, -1])
  func whatIsNoDistanceIsUnknown(distance: Double) {
    var zones = ProximityZones()
    _ = zones.update(distance: 1)
    #expect(zones.update(distance: distance) == .unknown)
    #expect(zones.update(distance: 4.5) == .far)
    zones.reset()
    #expect(zones.proximity == .unknown)
  }

  @Test func aChangeMustLastAndClearTheNoise() {
    let calibration = Calibration(measuredPower: -59, model: .logDistance(exponent: 2))
    func at(_ rssi: Double, variance: Double = 0.01) -> DistanceEstimate {
      calibration.estimate(rssi: rssi, variance: variance, advertisedPower: -59)
    }
    var zones = ProximityZones()
    #expect(zones.update(at(-65), at: 0) == .near)
    #expect(zones.update(at(-80), at: nanoseconds(1)) == .near)
    #expect(zones.update(at(-80), at: nanoseconds(1.9)) == .near)
    #expect(zones.update(at(-80), at: nanoseconds(2)) == .far)
    // An interruption starts the hold anew, and so does a clock that steps back.
    #expect(zones.update(at(-65), at: nanoseconds(3)) == .far)
    #expect(zones.update(at(-80), at: nanoseconds(3.5)) == .far)
    #expect(zones.update(at(-65), at: nanoseconds(4.2)) == .far)
    #expect(zones.update(at(-65), at: nanoseconds(1)) == .far)
    #expect(zones.update(at(-65), at: nanoseconds(2)) == .near)
    // 1 dB beyond 5 m is not enough where the mean is known to 2 dB.
    for second in 3..<9 {
      #expect(zones.update(at(-74, variance: 4), at: nanoseconds(Double(second))) == .near)
    }
    #expect(zones.update(at(-74), at: .min) == .near)
    #expect(zones.update(at(-74), at: .max) == .far)
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
    var zones = ProximityZones(limits: strict)
    #expect(zones.update(distance: 2.5) == .far)
    let error = RangingError.zoneGuard(margin: -1, hold: 0)
    #expect(error.description.contains("-1.0"))
  }

  @Test func rawValuesAreCoreLocations() {
    #expect(Proximity.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(Proximity.immediate.rawValue == 1 && Proximity.far.rawValue == 3)
  }
}
