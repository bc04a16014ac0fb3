import Advertising
import TestSupport
import Testing

@testable import Fusion

/// One receiver, or a thief of its password, that sends far more reports than one a second.
@Suite struct FloodTests {
  enum Flood: CaseIterable {
    case seconds, doubleSeconds, backward, leaps, boots, delays, slow
  }

  private static let start: Int64 = 1_800_000_000
  private static let length: Int64 = 160

  private static let models = Dictionary(
    uniqueKeysWithValues: [3, 5, 30].map { ($0, SiteModel(site($0 + 1))) })

  /// Rooms in a row with a receiver in each. The last receiver floods.
  private static func site(_ count: Int) -> Site {
    var propagation = Site.Propagation()
    propagation.shadowing = 2
    let rooms = (0..<count).map { index in
      let left = Double(4 * index)
      return Site.Room(
        "room \(index)",
        outline: [
          Site.Point(left, 0), Site.Point(left + 4, 0), Site.Point(left + 4, 4),
          Site.Point(left, 4),
        ])
    }
    let receivers = (0..<count).map {
      Site.Receiver("r\($0)", at: Site.Point(Double(4 * $0) + 2, 2))
    }
    return Site("row", rooms: rooms, receivers: receivers, propagation: propagation)
  }

  private static let beacon = BeaconIdentity(
    uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0), major: 0, minor: 1
  )

  /// The report of a receiver near the beacon, which moves each 20 s, or without it.
  private static func report(
    _ receiver: Int, number: Int64, time: Int64, receives: Bool = true
  ) -> ReceiverSecond {
    let room = Int(number / 20) % 3
    return ReceiverSecond(
      receiver: "r\(receiver)", boot: 1, number: UInt64(number + 1), time: time,
      receptions: receives
        ? [.init(beacon, count: 5, mean: receiver == room ? -58 : -80, measuredPower: -59)] : [])
  }

  /// The reports of honest receivers in the order in which they arrive, with those of a flood.
  private static func reports(
    _ honest: Int, _ flood: Flood?, _ floods: Range<Int64>, seed: UInt64, rate: Int = 50
  ) -> [(index: Int, report: ReceiverSecond)] {
    var generator = SplitMix64(seed: seed)
    // All report in the same moment, or each in its own.
    let phases = (0..<honest).map { _ in
      seed % 3 == 0 ? Int64(400) : .random(in: 100..<900, using: &generator)
    }
    var reports: [(at: Double, index: Int, report: ReceiverSecond)] = []
    for index in 0..<honest {
      for second in 0..<length {
        let time = (start + second) * 1000 + phases[index]
        let taken = Double.random(in: 0..<0.05, using: &generator)
        reports.append(
          (
            Double(second) + Double(phases[index]) / 1000 + taken, index,
            report(index, number: second, time: time, receives: index < 3)
          ))
      }
    }
    var time = start * 1000 + 500
    for second in 0..<length {
      let isFlood = flood != nil && floods.contains(second)
      if !isFlood { time = (start + second) * 1000 + 500 }
      let count = !isFlood ? 1 : flood == .slow ? 3 : rate
      for step in 0..<count {
        var report = report(honest, number: second * 100 + Int64(step), time: time, receives: false)
        if isFlood {
          switch flood {
          case .doubleSeconds: time += 2000
          case .backward: time -= 1000
          case .leaps: time = start * 1000 + .random(in: 0..<3_600_000, using: &generator)
          case .boots:
            time += 1000
            report.boot = generator.next()
          case .delays:
            time += 1000
            report.delay = [0, 1, 30, 5000, 1e7].randomElement(using: &generator) ?? 0
          default: time += 1000
          }
        } else {
          report.boot = 7 + UInt64(second >= floods.upperBound ? 1 : 0)
        }
        reports.append((Double(second) + (Double(step) + 0.5) / Double(count), honest, report))
      }
    }
    return reports.sorted { $0.at < $1.at }.map { ($0.index, $0.report) }
  }

  /// The share of the honest receivers' reports that are taken in their seconds, of those after a
  /// second.
  private static func share(
    _ reports: [(index: Int, report: ReceiverSecond)], _ honest: Int, after first: Int64
  ) -> Double {
    var clock = SiteClock(receivers: honest + 1, patience: 5)
    var seconds: [Int64: Int] = [:]
    func count(_ second: SiteClock.Second) {
      let right = second.reports.filter { $0.key < honest && $0.value.second == second.second }
      seconds[second.second - start, default: 0] += right.count
    }
    for (index, report) in reports {
      _ = clock.receive(report, of: index)
      while let second = clock.next() { count(second) }
    }
    while let second = clock.take() { count(second) }
    let right = (first..<length).reduce(0) { $0 + (seconds[$1] ?? 0) }
    return Double(right) / Double(honest * Int(length - first))
  }

  private static func transitions(
    _ reports: [(index: Int, report: ReceiverSecond)], _ honest: Int
  ) throws -> [RoomTransition] {
    var fusion = SiteFusion(try #require(models[honest]))
    return reports.flatMap { fusion.receive($0.report) } + fusion.finish()
  }

  @Test(arguments: Flood.allCases, [3, 5, 30])
  func `a flood of one receiver takes nothing from the others`(flood: Flood, honest: Int) throws {
    for seed in 0..<UInt64(3) {
      let reports = Self.reports(honest, flood, 40..<100, seed: seed)
      let share = Self.share(reports, honest, after: 0)
      #expect(share == 1, "\(flood) \(honest) \(seed)")
      guard honest < 30 else { continue }
      let expected = try Self.transitions(
        Self.reports(honest, nil, 40..<100, seed: seed), honest)
      let transitions = try Self.transitions(reports, honest)
      #expect(expected.count > 7)
      #expect(
        transitions.map { "\($0.second) \($0.estimate.place)" }
          == expected.map { "\($0.second) \($0.estimate.place)" }, "\(flood) \(honest) \(seed)")
    }
  }

  @Test(arguments: Flood.allCases, [3, 5, 30])
  func `a flood from the first report on is overcome`(flood: Flood, honest: Int) {
    for seed in 0..<UInt64(3) {
      let reports = Self.reports(honest, flood, 0..<100, seed: seed)
      let share = Self.share(reports, honest, after: 45)
      #expect(share == 1, "\(flood) \(honest) \(seed)")
    }
  }

  /// More than 60 reports between two of the others look as if those were silent, until these show
  /// that the flood runs ahead.
  @Test(arguments: Flood.allCases, [3, 5, 30])
  func `a flood of 400 reports in a second costs the others little`(flood: Flood, honest: Int) {
    for seed in 0..<UInt64(3) {
      let reports = Self.reports(honest, flood, 40..<100, seed: seed, rate: 400)
      let share = Self.share(reports, honest, after: 0)
      #expect(share > 0.9, "\(flood) \(honest) \(seed)")
      #expect(Self.share(reports, honest, after: 101) == 1, "\(flood) \(honest) \(seed)")
    }
  }
}
