import Foundation
import Positioning
import Scanning
import Testing

/// Simulated days with labelled stays. `STAY_DAYS=60 STAY_DAYS_FILE=/tmp/days.csv` runs more of them and writes
/// them for the independent computation, `Benchmarks/Studies/stay-points.py`.
@Suite struct VisitDayTests {
  static let environment = ProcessInfo.processInfo.environment
  static let count = environment["STAY_DAYS"].flatMap { UInt64($0) } ?? 4
  /// The rules were found with other days.
  static let firstSeed: UInt64 = 7000

  @Test(arguments: [
    (1.0, 0.93, 1.0), (10, 0.93, 0.93), (30, 0.93, 0.9), (60, 0.93, 0.85), (120, 0.93, 0.8),
  ])
  func theStaysOfSimulatedDaysAreFound(interval: Double, precision: Double, recall: Double) throws {
    var score = VisitScore()
    var lines: [String] = []
    for seed in Self.firstSeed..<(Self.firstSeed + Self.count) {
      let day = SimulatedDay(seed: seed, interval: interval)
      score.add(day)
      if Self.environment["STAY_DAYS_FILE"] != nil { lines += day.lines(seed) }
    }
    if let path = Self.environment["STAY_DAYS_FILE"] {
      let text = lines.joined(separator: "\n") + "\n"
      try text.write(toFile: "\(path).\(Int(interval))", atomically: true, encoding: .utf8)
    }
    let faults = Comment(rawValue: score.faults.joined(separator: "\n"))
    #expect(score.precision >= precision, faults)
    #expect(score.recall >= recall, faults)
    #expect(VisitScore.quantile(score.arrivalErrors.map(abs), 0.5) <= 60)
    #expect(VisitScore.quantile(score.departureErrors.map(abs), 0.5) <= 60)
    #expect(VisitScore.quantile(score.distances, 0.5) <= 30)
    #expect(VisitScore.quantile(score.distances, 0.95) <= 120)
    // The stated accuracy is that of 68 % of the places.
    #expect(Double(score.within) >= 0.6 * Double(score.found))
  }

  @Test func aRestartContinuesADay() throws {
    let day = SimulatedDay(seed: 3, interval: 30)
    var detector = VisitDetector()
    var other = detector
    var shift: Int64 = 0
    var reported = 0
    for (index, fix) in day.fixes.enumerated() {
      var shifted = fix
      shifted.time = fix.time.advanced(by: shift)
      let changes = detector.receive(fix)
      reported += changes.count
      #expect(other.receive(shifted).map { $0.moved(by: -shift) } == changes)
      if index % 100 == 0 {
        let data = try JSONEncoder().encode(other)
        #expect(data.count < 64 * 200 + 2000)
        other = try JSONDecoder().decode(VisitDetector.self, from: data)
        other.move(by: 1_000_000_007)
        shift += 1_000_000_007
      }
    }
    #expect(reported >= 10)
  }
}

extension VisitDetector.Change {
  /// Returns the change with times on another line.
  fileprivate func moved(by nanoseconds: Int64) -> Self {
    func moved(_ visit: Visit) -> Visit {
      var visit = visit
      visit.arrival = visit.arrival?.advanced(by: nanoseconds)
      visit.departure = visit.departure?.advanced(by: nanoseconds)
      return visit
    }
    switch self {
    case .arrived(let visit): return .arrived(moved(visit))
    case .departed(let visit): return .departed(moved(visit))
    }
  }
}

extension SimulatedDay {
  /// Returns the fixes, the labels and what the detector found, as lines of CSV.
  fileprivate func lines(_ seed: UInt64) -> [String] {
    func line(_ kind: String, _ start: Double, _ place: Coordinate, _ rest: Any...) -> String {
      ([seed, kind, start, place.latitude, place.longitude] + rest).map { "\($0)" }
        .joined(separator: ",")
    }
    return fixes.map { line("fix", $0.time.secondsOfDay, $0.place, $0.horizontalAccuracy) }
      + labels.map { label in
        let place = Self.fix(at: 0, place: label.place, accuracy: 0, from: origin).place
        return line("label", label.arrival, place, label.departure, label.name)
      }
      + visits().map { visit in
        let departure = visit.departure?.secondsOfDay ?? labels.last?.departure ?? 0
        return line(
          "visit", visit.arrival?.secondsOfDay ?? 0, visit.place, departure,
          visit.horizontalAccuracy)
      }
  }
}
