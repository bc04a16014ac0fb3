import RealModule
import TestSupport
import Testing

@testable import Ranging

/// Levels at known places, and the calibrations that they show.
@Suite struct SurveyTests {
  /// A site, drawn at random: what a beacon's level is at each distance.
  private struct Site {
    var random: SplitMix64
    let power: Double
    let exponent: Double
    /// By how much places deviate, in dB.
    var deviation = 3.0

    init(seed: UInt64, exponents: ClosedRange<Double> = 1.5...2.7) {
      random = SplitMix64(seed: seed)
      power = -75 + 25 * random.uniform()
      exponent =
        exponents.lowerBound + (exponents.upperBound - exponents.lowerBound) * random.uniform()
    }

    mutating func survey(
      at distance: Double, _ fading: Fading, hertz: Double, seconds: Double,
      change: (Double) -> Double = { _ in 0 }
    ) -> PlaceSurvey {
      let level = power - 10 * exponent * Double.log10(distance) + deviation * random.normal()
      var radio = Radio(fading, seed: random.next())
      var survey = PlaceSurvey()
      for index in 0..<Int(seconds * hertz) {
        let time = Double(index) / hertz
        if let signal = radio.packet(after: 1 / hertz, mean: level + change(time / seconds)) {
          survey.receive(Int8(min(max(signal, -127), 20)), at: time)
        }
      }
      return survey
    }
  }

  private static let fadings = [Fading.plain, .indoor, .harsh]

  /// A hundred sites, each measured at 1, 2 and 4 m: the true power and exponent lie within the stated errors for 90 of
  /// 100 and more. Where a tenth of a minute can change the level by 5 dB, many places must be measured again.
  @Test(arguments: fadings, [2.0, 10.0])
  func truthLiesWithinTheStatedErrors(fading: Fading, hertz: Double) throws {
    var (fitted, powers, exponents, refused) = (0, 0, 0, 0)
    var widths: [Double] = []
    for seed in 0..<100 {
      var site = Site(seed: 40_000 + UInt64(seed))
      do throws(CalibrationProblem) {
        var places: [CalibrationFit.Place] = []
        for distance in [1.0, 2, 4] {
          let survey = site.survey(at: distance, fading, hertz: hertz, seconds: 30)
          places.append((distance, try survey.usableLevel()))
        }
        let fit = try CalibrationFit(places, statedPower: -59)
        fitted += 1
        powers += (fit.power.value - site.power).magnitude <= fit.power.error ? 1 : 0
        if let exponent = fit.exponent {
          exponents += (exponent.value - site.exponent).magnitude <= exponent.error ? 1 : 0
        }
        widths.append(fit.power.error)
      } catch {
        refused += 1
      }
    }
    print(
      "\(fading.name), \(hertz) Hz: of \(fitted) the power of \(powers) and the exponent of",
      "\(exponents) within their errors, median ± \(quantile(0.5, of: widths)) dB; \(refused) refused"
    )
    #expect(powers * 10 >= fitted * 9)
    #expect(exponents * 10 >= fitted * 9)
    #expect(refused <= (fading.name == Fading.harsh.name ? 60 : 8))
  }

  /// Two hundred sites from corridors to rooms with walls between, measured at 1, 2 and 4 m for 20 s each, with noise of
  /// 1.5 to 4 dB: power and exponent lie within their errors for 95 of 100, and are not drawn to the middle.
  @Test(arguments: [0.0, 3])
  func everyExponentLiesWithinItsError(deviation: Double) throws {
    var (powers, exponents, fitted) = (0, 0, 0)
    var (steep, errors): ([Double], [Double]) = ([], [])
    for seed in 0..<200 as Range<UInt64> {
      var site = Site(seed: 50_000 + seed, exponents: 1.7...3.5)
      site.deviation = deviation
      let fading = Fading(name: "noise", white: 1.5 + 2.5 * site.random.uniform())
      var places: [CalibrationFit.Place] = []
      for distance in [1.0, 2, 4] {
        let survey = site.survey(at: distance, fading, hertz: 10, seconds: 20)
        places.append((distance, try survey.usableLevel()))
      }
      // A place far from the others may be refused.
      guard let fit = try? CalibrationFit(places, statedPower: -59), let exponent = fit.exponent
      else { continue }
      fitted += 1
      powers += (fit.power.value - site.power).magnitude <= fit.power.error ? 1 : 0
      exponents += (exponent.value - site.exponent).magnitude <= exponent.error ? 1 : 0
      errors.append(exponent.error)
      if site.exponent >= 2.9 { steep.append(exponent.value - site.exponent) }
    }
    print(
      "places deviate by \(deviation) dB: of \(fitted) the power of \(powers) and the exponent of \(exponents) within",
      "their errors, median ± \(quantile(0.5, of: errors)); from 2.9 on, it is",
      "\(quantile(0.5, of: steep)) off")
    #expect(fitted >= 190)
    #expect(powers * 100 >= fitted * 95)
    #expect(exponents * 100 >= fitted * 95)
    #expect(quantile(0.5, of: steep) > -0.75)
  }

  @Test func oneDistanceGivesThePowerAlone() throws {
    var site = Site(seed: 1)
    site.deviation = 0
    let level = try site.survey(at: 1, .indoor, hertz: 10, seconds: 20).usableLevel()
    let fit = try CalibrationFit([(1, level)], statedPower: site.power + 3)
    #expect(fit.exponent == nil)
    #expect((fit.power.value - site.power).magnitude < 2)
    #expect(fit.power.error > 6, "a place deviates by 3 dB")
  }

  /// The error of a level holds the truth, though packets fade together.
  @Test(arguments: fadings)
  func levelErrorsHold(fading: Fading) {
    var held = 0
    for seed in 0..<100 {
      var site = Site(seed: 50_000 + UInt64(seed))
      site.deviation = 0
      // What dips and channels do to the level of a place is the place's, so the truth is measured too.
      let long = site
      var (a, b) = (long, long)
      let short = a.survey(at: 1, fading, hertz: 10, seconds: 30).level
      let truth = b.survey(at: 1, fading, hertz: 10, seconds: 300).level
      guard let short, let truth else { continue }
      held += (short.mean - truth.mean).magnitude <= 2.26 * short.error ? 1 : 0
    }
    #expect(held >= 88, "\(held) of 100 within 95 %")
  }

  // MARK: Refusals

  private static func fit(
    _ site: inout Site, _ distances: [Double], statedPower: Double? = nil,
    seconds: Double = 30, change: (Int, Double) -> Double
  ) throws(CalibrationProblem) -> CalibrationFit {
    var places: [CalibrationFit.Place] = []
    for (index, distance) in distances.enumerated() {
      let survey = site.survey(at: distance, .indoor, hertz: 10, seconds: seconds) {
        change(index, $0)
      }
      places.append((distance, try survey.usableLevel()))
    }
    return try CalibrationFit(places, statedPower: statedPower ?? site.power)
  }

  /// A beacon that is carried away, a step, and somebody who stands in the way for a third of the time.
  @Test(
    arguments: [
      { share in -20 * Double.log10(1 + 2 * share) }, { share in share < 0.6 ? 0 : -9 },
      { share in (0.3...0.6).contains(share) ? -9 : 0 },
    ] as [@Sendable (Double) -> Double])
  func movementIsRefused(change: @Sendable (Double) -> Double) {
    var refused = 0
    for seed in 0..<50 {
      var site = Site(seed: 60_000 + UInt64(seed))
      do throws(CalibrationProblem) {
        _ = try Self.fit(&site, [1]) { change($1) }
      } catch {
        if case .changed = error { refused += 1 }
      }
    }
    #expect(refused >= 45, "\(refused) of 50")
  }

  @Test func aStillBeaconIsNoMovement() {
    for fading in [Fading.plain, .indoor] {
      var refused = 0
      for seed in 0..<100 {
        var site = Site(seed: 70_000 + UInt64(seed))
        let survey = site.survey(at: 1, fading, hertz: 10, seconds: 30)
        refused += survey.change > PlaceSurvey.greatestChange ? 1 : 0
      }
      print("\(fading.name): \(refused) of 100 still beacons pass for moved")
      #expect(refused <= 5)
    }
  }

  /// A body takes 15 dB at one place, or at the only one.
  @Test(arguments: [[1.0], [1.0, 2, 4]])
  func aBodyInTheWayIsRefused(distances: [Double]) {
    var refused = 0
    for seed in 0..<50 {
      var site = Site(seed: 80_000 + UInt64(seed))
      site.deviation = 1
      do throws(CalibrationProblem) {
        _ = try Self.fit(&site, distances) { index, _ in index == distances.count / 2 ? -15 : 0 }
      } catch {
        if case .obstructed = error { refused += 1 }
      }
    }
    #expect(refused >= 45, "\(refused) of 50")
  }

  @Test func exchangedDistancesAreRefused() {
    var site = Site(seed: 3)
    site.deviation = 0
    #expect(throws: CalibrationProblem.self) {
      try Self.fit(&site, [1, 4]) { index, _ in index == 0 ? -12 : 12 }
    }
  }

  @Test func tooLittleIsRefused() {
    var site = Site(seed: 4)
    let survey = site.survey(at: 1, .plain, hertz: 1, seconds: 19)
    #expect(throws: CalibrationProblem.tooFewPackets(19)) { try survey.usableLevel() }
    #expect(!survey.isEnough)
    #expect(throws: CalibrationProblem.tooFewPackets(0)) { try PlaceSurvey().usableLevel() }
  }

  @Test func enoughIsEnough() {
    var site = Site(seed: 5)
    #expect(site.survey(at: 1, .indoor, hertz: 10, seconds: 60).isEnough)
    #expect(!site.survey(at: 1, .indoor, hertz: 10, seconds: 5).isEnough)
    // What is beyond the bound changes nothing.
    let long = site.survey(at: 1, .indoor, hertz: 10, seconds: 2000)
    #expect(long.count == PlaceSurvey.maximumPackets && long.isEnough)
  }

  @Test func theSecondsAreThoseSinceTheFirstPacket() {
    var survey = PlaceSurvey()
    #expect(survey.seconds == 0)
    for second in 0..<4 { survey.receive(-60, at: 100 + Double(second)) }
    #expect(survey.seconds == 3)
  }

  @Test func impossiblePowersAreRefused() {
    let level = PlaceSurvey.Level(mean: -30, error: 0.3)
    #expect(throws: CalibrationProblem.self) {
      try CalibrationFit([(900, level)], statedPower: 4)
    }
  }

  // MARK: Boundaries

  @Test func aBoundaryLiesAtItsEdge() throws {
    func level(_ mean: Double) -> PlaceSurvey.Level { .init(mean: mean, error: 0.5) }
    let fit = try BoundaryFit(edge: level(-67), inside: level(-60), outside: level(-73))
    #expect(fit.level == .init(value: -67, error: 0.98))
    #expect(fit.inside == 7 && fit.outside == 6)
    #expect(throws: CalibrationProblem.sidesAlike(4)) {
      try BoundaryFit(edge: level(-67), inside: level(-65), outside: level(-69))
    }
    #expect(throws: CalibrationProblem.edgeIsNoEdge(edge: -75, inside: -60, outside: -73)) {
      try BoundaryFit(edge: level(-75), inside: level(-60), outside: level(-73))
    }
  }
}
