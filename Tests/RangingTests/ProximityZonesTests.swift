import Ranging
import Testing

@Suite struct ProximityZonesTests {
  static let calibration = Calibration(measuredPower: -59, model: .logDistance(exponent: 2))
  static let thresholds = ProximityThresholds(
    limits: .standard, calibration: calibration, advertisedPower: -59)

  /// Hysteresis alone: any excess changes the zone.
  @Test func hysteresis() throws {
    let thresholds = ProximityThresholds(
      limits: try ProximityLimits(excess: 0), calibration: Self.calibration, advertisedPower: -59)
    var zones = ProximityZones()
    #expect(zones.proximity == .unknown)
    let walk: [(Double, Proximity)] = [
      (0.6, .near), (0.501, .near), (0.49, .immediate), (0.699, .immediate), (0.71, .near),
      (4.9, .near), (4.999, .near), (5.01, .far), (4.001, .far), (3.99, .near), (9, .far),
      (0.1, .immediate), (100, .far), (0.45, .immediate),
    ]
    for (distance, zone) in walk {
      let mean = Float(Self.calibration.rssi(atDistance: distance, advertisedPower: -59))
      let now = zones.update(mean: mean, at: 0, thresholds: thresholds)
      #expect(now == zone, "at \(distance) m")
    }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func whatIsNoSignalIsUnknown(signal: Float) {
    var zones = ProximityZones()
    zones.update(mean: -59, at: 0, thresholds: Self.thresholds)
    #expect(zones.update(mean: signal, at: 1, thresholds: Self.thresholds) == .unknown)
    #expect(zones.update(mean: -72.1, at: 2, thresholds: Self.thresholds) == .far)
    zones.reset()
    #expect(zones.proximity == .unknown)
  }

  /// The limits of 4 m and 5 m are -71.04 dBm and -72.98 dBm here; 4 dB · s change the zone.
  @Test func anExcessMustAddUp() {
    var zones = ProximityZones()
    func at(_ rssi: Float, _ seconds: Double) -> Proximity {
      zones.update(mean: rssi, at: nanoseconds(seconds), thresholds: Self.thresholds)
    }
    #expect(at(-65, 0) == .near)
    // 7 dB beyond the limit: six tenths of a second.
    #expect(at(-80, 1) == .near)
    #expect(at(-80, 1.5) == .near)
    #expect(at(-80, 1.6) == .far)
    // An interruption starts the sum anew, and so does a clock that steps back.
    #expect(at(-69, 2) == .far)
    #expect(at(-69, 3.8) == .far)
    #expect(at(-72, 3.9) == .far)
    #expect(at(-69, 4) == .far)
    #expect(at(-69, 5.8) == .far)
    #expect(at(-69, 5.7) == .far)
    #expect(at(-69, 7.6) == .far)
    #expect(at(-69, 7.8) == .near)
    // A long gap counts for two seconds.
    #expect(at(-74.5, 10) == .near)
    #expect(at(-74.5, 1000) == .near)
    #expect(at(-74.5, 1002) == .far)
  }

  @Test func limitsAreChecked() throws {
    #expect(throws: RangingError.self) { try ProximityLimits(leaveImmediate: 0.5) }
    #expect(throws: RangingError.self) { try ProximityLimits(leaveNear: 4) }
    #expect(throws: RangingError.self) { try ProximityLimits(leaveNear: .infinity) }
    #expect(throws: RangingError.self) { try ProximityLimits(enterImmediate: .nan) }
    #expect(throws: RangingError.self) { try ProximityLimits(enterImmediate: -1) }
    #expect(throws: RangingError.self) { try ProximityLimits(excess: -1) }
    #expect(throws: RangingError.self) { try ProximityLimits(excess: .nan) }
    // Two zones may touch.
    let touching = try ProximityLimits(leaveImmediate: 4)
    #expect(touching.leaveImmediate == touching.enterNear)
    let strict = try ProximityLimits(enterNear: 2, leaveNear: 3, excess: 0)
    #expect(strict.enterNear == 2 && strict.leaveNear == 3)
    let error = RangingError.zoneExcess(-1)
    #expect(error.description.contains("-1.0"))
  }

  @Test func rawValuesAreCoreLocations() {
    #expect(Proximity.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(Proximity.immediate.rawValue == 1 && Proximity.far.rawValue == 3)
  }
}
