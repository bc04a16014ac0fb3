import Advertising
import FleetReports
import FleetSites
import FleetWork
import FoundationEssentials
import Fusion
import Scanning
import TestSupport

/// A recorded set: a site file, reports and true rooms, as `beaconscan-fleet replay --truth` reads them.
struct Recording: Sendable {
  private struct TruthLine: Decodable {
    var second: Int64
    var beacon: String
    var room: String
  }

  let site: Site
  private var seconds: [(second: Int64, reports: [ReceiverSecond])] = []
  private var truth: [Int64: [(beacon: BeaconIdentity, room: String)]] = [:]

  init(site: String, reports: String, truth: String) throws {
    func lines(_ path: String) throws -> [[UInt8]] {
      try [UInt8](Data(contentsOf: URL(filePath: path))).split(separator: UInt8(ascii: "\n"))
        .map(Array.init)
    }
    self.site = try Site(parsing: [UInt8](Data(contentsOf: URL(filePath: site))))
    for line in try lines(reports) {
      let report = try ReceiverSecond(unsafe ReceiverReport(parsing: line.span.bytes))
      if let last = seconds.last, report.second <= last.second {
        seconds[seconds.count - 1].reports.append(report)
      } else {
        seconds.append((report.second, [report]))
      }
    }
    for line in try lines(truth) {
      let line = try JSONDecoder().decode(TruthLine.self, from: Data(line))
      guard let beacon = BeaconConstraint(line.beacon)?.identity else { continue }
      self.truth[line.second, default: []].append((beacon, line.room))
    }
  }

  /// The seconds of a block. A rule with examples has those of the even blocks for the odd ones, and
  /// those of the odd ones for the even ones.
  private static let block: Int64 = 30

  private func isOdd(_ second: Int64) -> Bool { second / Self.block % 2 != 0 }

  /// A second of a beacon with an answer that has a probability.
  struct Forecast: Sendable {
    var probability: Double
    var isRight: Bool
  }

  struct Result: Sendable {
    var score = RoomScore()
    /// Those of each beacon, in order.
    var forecasts: [[Forecast]] = []

    mutating func merge(_ other: Result) {
      score.merge(other.score)
      forecasts += other.forecasts
    }
  }

  func run(_ rule: some RoomRule) -> Result { run(even: rule, odd: rule) }

  /// Returns the result of two rules: one for the even blocks, and one for the odd ones.
  private func run(even: some RoomRule, odd: some RoomRule) -> Result {
    var (even, odd) = (even, odd)
    var result = Result()
    var forecasts: [BeaconIdentity: [Forecast]] = [:]
    for (second, reports) in seconds {
      even.receive(reports, second: second)
      odd.receive(reports, second: second)
      for (beacon, room) in truth[second] ?? [] {
        let answer = isOdd(second) ? odd.answer(beacon) : even.answer(beacon)
        result.score.add(
          beacon, room: answer.room, best: answer.best, truth: room, second: second)
        if let best = answer.best {
          let forecast = Forecast(
            probability: best.probability, isRight: best.place == .room(room))
          forecasts[beacon, default: []].append(forecast)
        }
      }
    }
    result.forecasts = forecasts.sorted { $0.key < $1.key }.map(\.value)
    return result
  }

  /// Returns the result of the nearest fingerprints.
  func runFingerprints() -> Result {
    func rule(oddExamples: Bool) -> NearestFingerprints {
      var rule = NearestFingerprints(site)
      for (second, reports) in seconds {
        rule.receive(reports, second: second)
        for (beacon, room) in truth[second] ?? [] where isOdd(second) == oddExamples {
          rule.learn(beacon, in: room)
        }
      }
      rule.restart()
      return rule
    }
    return run(even: rule(oddExamples: true), odd: rule(oddExamples: false))
  }

  /// Returns the result of the fusion with levels, which have the same examples.
  func runSurveyed() -> Result {
    func rule(oddExamples: Bool) -> SiteFusion {
      var survey = Survey(site)
      for (second, reports) in seconds where isOdd(second) == oddExamples {
        for (beacon, room) in truth[second] ?? [] {
          for report in reports { survey.receive(report, of: beacon, in: room) }
        }
      }
      var surveyed = site
      surveyed.levels = survey.levels
      return SiteFusion(SiteModel(surveyed))
    }
    return run(even: rule(oddExamples: true), odd: rule(oddExamples: false))
  }
}

extension Recording.Result {
  /// Returns the calibrations that a calibrated rule with the same probabilities is below in 50 and in 95
  /// of 100 recordings of this length, if its answers of so many seconds are right or wrong together.
  func chance(block: Int) -> (median: Double, high: Double) {
    var random = SplitMix64(seed: 1)
    var errors: [Double] = []
    for _ in 0..<2000 {
      var calibration = Calibration()
      for forecasts in forecasts {
        var draw = 0.0
        let start = Int.random(in: 0..<block, using: &random)
        for (index, forecast) in forecasts.enumerated() {
          if index == 0 || (index + start) % block == 0 {
            draw = Double.random(in: 0..<1, using: &random)
          }
          calibration.add(forecast.probability, isRight: draw < forecast.probability)
        }
      }
      errors.append(calibration.error)
    }
    errors.sort()
    return (errors[errors.count / 2], errors[errors.count * 95 / 100])
  }

  /// The seconds for which an answer stays right or wrong: the sum of the autocorrelation of the errors
  /// up to the first one that is not positive.
  var persistence: Double {
    var sum = 1.0
    for lag in 1..<300 {
      var (products, squares) = (0.0, 0.0)
      for forecasts in forecasts {
        let errors = forecasts.map { ($0.isRight ? 1 : 0) - $0.probability }
        products += zip(errors, errors.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 }
        squares += errors.reduce(0) { $0 + $1 * $1 }
      }
      guard squares > 0, products > 0 else { break }
      sum += 2 * products / squares
    }
    return sum
  }
}

extension Recording {
  /// The results of the fusion and of the rules of others, the fusion's first.
  func results() -> [(name: String, result: Result)] {
    [
      ("fusion", run(SiteFusion(SiteModel(site)))),
      ("its most probable", run(MostProbable(site))),
      ("fusion, surveyed", runSurveyed()),
      ("nearest", run(NearestReceiver(site))),
      ("Bermuda", run(Bermuda(site))),
      ("kNN", runFingerprints()),
      ("ESPresense node", run(ESPresense(site, .nearestNode))),
      ("ESPresense solver", run(ESPresense(site, .nelderMead))),
      ("and its filter", run(ESPresense(site, .filtered))),
    ]
  }
}

/// Prints the rooms of recorded sets by the fusion and by the rules of others.
func study(_ recordings: [Recording]) {
  var all: [(name: String, result: Recording.Result)] = []
  for recording in recordings {
    let results = recording.results()
    print(recording.site.name, results)
    if all.isEmpty {
      all = results
    } else {
      for index in all.indices { all[index].result.merge(results[index].result) }
    }
  }
  if recordings.count > 1 { print("all", all) }
}

private func print(_ title: String, _ results: [(name: String, result: Recording.Result)]) {
  guard let fusion = results.first?.result else { return }
  print("\(title), \(fusion.score.seconds) s\n")
  row(["", "right %", "wrong %", "unknown", "latency", "missed", "false/h", "ECE %"])
  for (name, result) in results {
    let score = result.score
    row([
      name, percent(score.rightShare), percent(score.wrongShare),
      percent(Double(score.unknown) / Double(max(1, score.seconds))),
      "\(score.latency(0.5) ?? -1)/\(score.latency(0.9) ?? -1)", "\(score.missed)",
      "\((score.falseChangesPerHour * 10).rounded() / 10)",
      result.forecasts.isEmpty ? "–" : percent(score.expectedCalibrationError),
    ])
  }
  print()
  row(["probability", "seconds", "stated %", "right %"])
  for (index, bin) in fusion.score.bins.enumerated() where bin.count > 0 {
    let count = Double(bin.count)
    let right = Double(bin.right) / count
    row([
      "\(index * 10)–\(index * 10 + 10) %", "\(bin.count)", percent(bin.probability / count),
      percent(right), String(repeating: "▇", count: Int(right * 40)),
    ])
  }
  print("\nAn answer stays right or wrong for \(fusion.persistence.rounded()) s.")
  for block in [1, 5, 10, 20] {
    let chance = fusion.chance(block: block)
    print(
      "If all of \(block) s are right or wrong together, a calibrated rule has an ECE above "
        + "\(percent(chance.median)) % in half of such recordings, and above "
        + "\(percent(chance.high)) % in one of 20.")
  }
  print()
}
