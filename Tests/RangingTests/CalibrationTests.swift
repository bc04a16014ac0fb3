import RealModule
import Testing

@testable import Ranging

@Suite struct CalibrationTests {
  @Test(arguments: [0, 4, 127, -101, -128, Double.nan, .infinity])
  func absurdPowersAreReplacedAndSaidSo(power: Double) {
    let used = Calibration().power(advertised: power)
    #expect(used == MeasuredPower(decibelMilliwatts: -59, source: .fallback))
    let estimate = Calibration().estimate(rssi: -79, variance: 1, advertisedPower: power)
    #expect(estimate.power.source == .fallback)
    let known = Calibration().estimate(rssi: -79, variance: 1, advertisedPower: -59)
    #expect(estimate.logDeviation > known.logDeviation)
  }

  @Test(arguments: [-100.0, -59, -1])
  func plausiblePowersAreUsed(power: Double) {
    let used = Calibration().power(advertised: power)
    #expect(used == MeasuredPower(decibelMilliwatts: power, source: .advertised))
  }

  @Test func settingsWinAndBeaconsOverRuns() {
    let run = Calibration(
      measuredPower: -65, adapterOffset: 3, model: .logDistance(exponent: 2.5))
    let beacon = Calibration(measuredPower: -70)
    let both = beacon.over(run)
    #expect(both.power(advertised: -59).decibelMilliwatts == -70)
    #expect(both.power(advertised: -59).source == .configured)
    #expect(both.adapterOffset == 3)
    #expect(both.model == .logDistance(exponent: 2.5))
    #expect(Calibration(measuredPower: 7).power(advertised: -59).source == .advertised)
  }

  /// The errors and the prior of a run count for a beacon with a calibration of its own, too.
  @Test func aBeaconHasTheBudgetOfItsRun() {
    let run = Calibration(budget: ErrorBudget(typicalDistance: 8))
    #expect(Calibration(measuredPower: -70).over(run).budget.typicalDistance == 8)
    let own = Calibration(budget: ErrorBudget(shadowing: 2))
    #expect(own.over(run).budget == ErrorBudget(shadowing: 2))
  }

  @Test func offsetIsTakenOffOnlyWhereThePowerWasNotHeardHere() {
    let offset = Calibration(adapterOffset: 6)
    #expect((offset.distance(rssi: -73, advertisedPower: -59) - 10).magnitude < 1e-9)
    let heard = Calibration(measuredPower: -53, adapterOffset: 6)
    #expect((heard.distance(rssi: -73, advertisedPower: -59) - 10).magnitude < 1e-9)
  }

  /// Without a prior, shadowing alone at n = 2: one deviation is the factor 10^(4.5/20).
  @Test func budgetInNumbers() {
    let budget = ErrorBudget(distanceFactor: .infinity)
    let known = Calibration(
      measuredPower: -59, model: .logDistance(exponent: 2), budget: budget)
    let estimate = known.estimate(rssi: -79, variance: 0, advertisedPower: 0)
    #expect((estimate.distance - 10).magnitude < 1e-9)
    #expect((estimate.factor - Double.pow(10, 4.5 / 20)).magnitude < 1e-6)
    let guessed = Calibration(model: .standard, budget: budget).estimate(
      rssi: -79, variance: 0, advertisedPower: -59)
    let decibels = (4.5 * 4.5 + 16).squareRoot()
    #expect((guessed.factor - Double.pow(10, decibels / 20)).magnitude < 1e-9)
  }

  /// The median and the deviation of the posterior against a sum over a fine grid of distances.
  @Test(arguments: [-45.0, -59, -70, -85, -95], [0.0, 4, 60])
  func theEstimateIsThePosterior(rssi: Double, variance: Double) {
    let calibration = Calibration(measuredPower: -59, model: .logDistance(exponent: 2.4))
    let estimate = calibration.estimate(rssi: rssi, variance: variance, advertisedPower: 0)
    let logs = stride(from: -6.0, to: 9, by: 0.001).map { $0 }
    let weights = logs.map { log in
      let expected = (log - Double.log(3)) / Double.log(4)
      let level = -59 - 24 / Double.log(10) * log
      return Double.exp(
        -0.5 * (expected * expected + (rssi - level) * (rssi - level) / (4.5 * 4.5 + variance)))
    }
    let sum = weights.reduce(0, +)
    let mean = zip(logs, weights).reduce(0) { $0 + $1.0 * $1.1 } / sum
    let squares = zip(logs, weights).reduce(0) { $0 + ($1.0 - mean) * ($1.0 - mean) * $1.1 } / sum
    #expect((Double.log(estimate.distance) - mean).magnitude < 1e-3)
    #expect((estimate.logDeviation - squares.squareRoot()).magnitude < 1e-3)
  }

  /// The same where neither the power nor the exponent is known: a sum over distances and exponents
  /// against the three nodes of the quadrature.
  @Test(arguments: [-40.0, -59, -70, -85, -95])
  func unknownPowerAndExponentAreIntegratedOver(rssi: Double) {
    let estimate = Calibration().estimate(rssi: rssi, variance: 2, advertisedPower: -59)
    var (sum, logs, squares) = (0.0, 0.0, 0.0)
    for exponent in stride(from: 0.5, through: 3.5, by: 0.05) {
      let deviant = (exponent - 2) / 0.38
      for log in stride(from: -6.0, to: 9, by: 0.01) {
        let expected = (log - Double.log(3)) / Double.log(4)
        let error = rssi - (-59 - 10 * exponent / Double.log(10) * log)
        let weight = Double.exp(
          -0.5
            * (deviant * deviant + expected * expected + error * error / (4.5 * 4.5 + 16 + 2)))
        sum += weight
        logs += weight * log
        squares += weight * log * log
      }
    }
    let mean = logs / sum
    let deviation = (squares / sum - mean * mean).squareRoot()
    #expect((Double.log(estimate.distance) - mean).magnitude < 0.03, "\(estimate) for \(mean)")
    #expect((estimate.logDeviation / deviation - 1).magnitude < 0.06, "\(deviation)")
  }

  /// A level that contradicts a narrow prior has an estimate all the same, with each model.
  @Test(arguments: [nil, PathLossModel.logDistance(exponent: 8), .standard, .android2013])
  func aContradictionHasAnEstimate(model: PathLossModel?) {
    let budget = ErrorBudget(typicalDistance: 100, distanceFactor: 1.1)
    let calibration = Calibration(measuredPower: -90, model: model, budget: budget)
    for level in [-20.0, 10, -128] {
      let estimate = calibration.estimate(level: level, variance: 0.1, advertisedPower: -59)
      #expect(estimate.distance.isFinite && estimate.logDeviation.isFinite, "\(estimate)")
    }
  }

  /// A prior without meaning is none.
  @Test(arguments: [(3.0, 1.0), (3, .nan), (0, 4), (.nan, 4), (.infinity, 4), (-1, 4)])
  func noPrior(typicalDistance: Double, distanceFactor: Double) {
    let budget = ErrorBudget(typicalDistance: typicalDistance, distanceFactor: distanceFactor)
    let estimate = Calibration(model: .standard, budget: budget).estimate(
      rssi: -79, variance: 1, advertisedPower: -59)
    #expect((estimate.distance - 10).magnitude < 1e-9)
  }

  /// Median, deviation and interval of a log-normal distribution against the textbook's.
  @Test func logNormal() {
    let estimate = DistanceEstimate(
      distance: 3, logDeviation: 0.5,
      power: Calibration().power(advertised: -59))
    #expect((estimate.standardDeviation - 1.8116).magnitude < 1e-3)
    let (low, high) = estimate.interval(coverage: 0.95)
    #expect((low - 3 / 2.664408).magnitude < 1e-4 && (high - 3 * 2.664408).magnitude < 1e-4)
    let nothing = estimate.interval(coverage: 0)
    #expect((nothing.low - 3).magnitude < 1e-6 && (nothing.high - 3).magnitude < 1e-6)
    #expect(estimate.interval(coverage: 1).high.isFinite)
    #expect(estimate.interval(coverage: .nan).high.isFinite)
  }

  @Test func extremesStayFinite() {
    let values = [-Double.infinity, .infinity, .nan, -1e300, 1e300, 0, -128, 127]
    let calibrations = [
      Calibration(), Calibration(measuredPower: .nan, adapterOffset: .infinity),
      Calibration(adapterOffset: 1e300, model: .android2013),
      Calibration(model: .logDistance(exponent: .nan), budget: ErrorBudget(shadowing: .nan)),
    ]
    for calibration in calibrations {
      for rssi in values {
        for variance in values {
          let estimate = calibration.estimate(
            rssi: rssi, variance: variance, advertisedPower: -59)
          #expect(PathLossModel.distanceRange.contains(estimate.distance))
          #expect(estimate.standardDeviation.isFinite && estimate.standardDeviation >= 0)
        }
      }
    }
  }
}
