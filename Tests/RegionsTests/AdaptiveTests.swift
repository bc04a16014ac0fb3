import RealModule
import Regions
import Testing

/// The goal of the adaptive limit: aiming at one false exit a day, at most two a day in 95 % of cases,
/// with limits of at most 1.1 times the shortest possible (1.25 in nine of ten cases).
///
/// `regions-trace goals` does the same for more cases and longer.
@Suite struct AdaptiveTests {
  static let ceiling: Float = 900

  static func limit(_ learner: GapLearner) -> Float {
    learner.count == 0 ? 30 : min(max(learner.tail.timeout(falseExitsPerDay: 1), 2), ceiling)
  }

  /// False exits a day and the mean limit, from the second day on.
  static func measure(_ air: Air, days: Double) -> (falseExits: Double, limit: Double) {
    var air = air
    var learner = GapLearner()
    var limit = limit(learner)
    var (time, sum, falseExits) = (0.0, 0.0, 0.0)
    while time < days * 86400 {
      let gap = air.gap()
      if time > 86400 {
        sum += Double(limit) * gap
        if gap > Double(limit) { falseExits += 1 }
      }
      time += gap
      if learner.learn(gap: Float(gap)) { limit = Self.limit(learner) }
    }
    return (falseExits / (days - 1), sum / (time - 86400))
  }

  /// The shortest limit with one false exit a day, for independent loss: the first multiple of the
  /// interval that gaps exceed at most once a day.
  static func shortest(_ interval: Double, _ loss: Double) -> Double {
    let mean = interval + 0.005
    let heard = 86400 / mean * (1 - loss)
    return max(2, mean * (Double.log(1 / heard) / Double.log(loss)).rounded(.up))
  }

  @Test func independentLoss() {
    var ratios: [Double] = []
    var kept = 0
    for interval in [0.5, 1, 3, 10] {
      for loss in [0.1, 0.3, 0.5, 0.7, 0.9] {
        let seed = UInt64(interval * 1000 + loss * 100)
        let air = Air(interval: interval, loss: loss, seed: seed)
        let result = Self.measure(air, days: 3)
        if result.falseExits <= 2 { kept += 1 }
        ratios.append(result.limit / Self.shortest(interval, loss))
      }
    }
    ratios.sort()
    #expect(kept >= 19, "\(kept) of 20")
    #expect(ratios[10] <= 1.1, "\(ratios)")
    #expect(ratios[18] <= 1.25, "\(ratios)")
  }

  /// Of bad losses, the shortest limit is that of a long run of the same air.
  @Test(arguments: [
    (1.0, 0.1, 0.05, 0.98, 52.3), (1.0, 0.5, 0.1, 0.95, 50.3), (3.0, 0.5, 0.02, 1.0, 63.1),
    (10.0, 0.3, 0.05, 0.98, 100.0), (10.0, 0.7, 0.1, 0.95, 250.1),
  ])
  func badSpells(
    interval: Double, loss: Double, badShare: Double, badLoss: Double, shortest: Double
  ) {
    let air = Air(interval: interval, loss: loss, badShare: badShare, badLoss: badLoss, seed: 1)
    let result = Self.measure(air, days: 4)
    #expect(result.falseExits <= 2)
    #expect(result.limit <= 1.25 * shortest)
  }

  @Test(arguments: [0.1, 0.2, 1.0, 10.0])
  func aNewBeaconHasASoundLimitAtOnce(interval: Double) {
    var learner = GapLearner()
    for _ in 0..<5 { learner.learn(gap: Float(interval)) }
    let limit = Double(Self.limit(learner))
    #expect(limit <= max(4, 40 * interval), "\(limit) s")
    #expect(limit >= 6 * interval, "\(limit) s")
  }

  @Test func absencesTeachNothing() {
    var air = Air(interval: 0.1, loss: 0.5, seed: 3)
    var learner = GapLearner()
    for _ in 0..<200 {
      for _ in 0..<1000 { learner.learn(gap: Float(air.gap())) }
      learner.learn(gap: 600)
    }
    #expect(Self.limit(learner) < 4)
  }

  @Test func aChangedIntervalIsFound() {
    var learner = GapLearner()
    for _ in 0..<10_000 { learner.learn(gap: 0.1) }
    for _ in 0..<70_000 { learner.learn(gap: 2) }
    #expect((learner.interval - 2).magnitude < 0.1)
    for _ in 0..<200_000 { learner.learn(gap: 0.3) }
    #expect((learner.interval - 0.3).magnitude < 0.03)
  }

  @Test func thePriceOfRarerFalseExitsIsKnown() {
    var air = Air(interval: 1, loss: 0.5, seed: 4)
    var learner = GapLearner()
    for _ in 0..<50_000 { learner.learn(gap: Float(air.gap())) }
    let limits = [10, 1, 0.1].map { learner.tail.timeout(falseExitsPerDay: $0) }
    for (left, right) in zip(limits, limits.dropFirst()) {
      // A tenth costs ln 10 · 1.44 intervals, and a margin.
      #expect((2.8...5).contains(right - left), "\(limits)")
    }
  }

  @Test func itIsSmallAndSwallowsAnything() {
    #expect(MemoryLayout<GapLearner>.size <= 330)
    var learner = GapLearner()
    for gap in [
      0, -1, .nan, .infinity, -.infinity, 1e30, .leastNonzeroMagnitude, 1 / 64, 1024, 120,
    ]
      as [Float]
    {
      learner.learn(gap: gap)
      #expect(learner.tail.timeout(falseExitsPerDay: 1).isFinite)
    }
  }
}
