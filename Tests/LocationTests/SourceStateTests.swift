import Positioning
import Scanning
import TestSupport
import Testing

@testable import ServiceCore

/// The states of the compass and of the source of locations.
@Suite struct SourceStateTests {
  private static func time(_ second: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(second * 1e9))
  }

  private static func fix(_ second: Double) -> Fix? {
    Coordinate(latitude: 52.5, longitude: 13.4).map {
      Fix(
        time: time(second), timestamp: WallClockTime(nanoseconds: 0), place: $0,
        horizontalAccuracy: 5)
    }
  }

  /// A client receives headings while it needs them, in the order of the clients, and the report of the magnetic model
  /// comes once.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func headingsGoToThoseThatNeedThem(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var compass = CompassState()
    var needing: Set<ClientIdentifier> = []
    var latest: [ClientIdentifier: Heading] = [:]
    var reports = 0
    for second in 0..<500 {
      let client = ClientIdentifier(rawValue: UInt64.random(in: 1...5, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        compass.start(
          filter: nil, HeadingOrientation.allCases.randomElement(using: &random) ?? .portrait,
          for: client)
        needing.insert(client)
      case 2:
        compass.stop(for: client)
        needing.remove(client)
      case 3:
        compass.remove(client)
        needing.remove(client)
        latest[client] = nil
      default:
        let reading = CompassReading(
          time: Self.time(Double(second)), timestamp: WallClockTime(nanoseconds: 0),
          magneticHeading: random.uniform(0, 360))
        let hasPlace = random.uniform() < 0.5
        let result = compass.receive(reading, at: hasPlace ? Self.fix(0) : nil)
        #expect(
          result.headings.map(\.0) == needing.sorted { $0.rawValue < $1.rawValue })
        #expect(result.headings.allSatisfy { ($0.1.trueHeading != nil) == hasPlace })
        for (client, heading) in result.headings { latest[client] = heading }
        // 1970 is before the model's time.
        if result.expiry != nil { reports += 1 }
        #expect(!hasPlace || reports == 1)
      }
      #expect(compass.isNeeded == !needing.isEmpty)
      #expect(compass.isNeeded(by: client) == needing.contains(client))
      #expect(compass.latestHeading(of: client) == latest[client])
    }
    #expect(reports == 1)
  }

  /// The receiver is taken to rest where it was only while the source works and reports changes alone.
  @Test(.timeLimit(.minutes(10)), arguments: 0..<50 as Range<UInt64>)
  func aRestIsKnownOnlyWhileTheSourceWorks(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var source = LocationSourceState()
    var second = 0.0
    /// When the receiver was last seen, or taken to rest; `nil` where the source has rested or lost the place since.
    var seen: Double?
    for _ in 0..<1000 {
      second += random.uniform(0, 40)
      let now = Self.time(second)
      source.advance(to: now)
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        source.rest()
        seen = nil
      case 1:
        let condition = LocationHealth.Condition.allCases.randomElement(using: &random) ?? .denied
        let change = LocationHealth(condition, at: now, sentence: "it is \(condition)")
        let isNew = source.health?.condition != condition
        #expect(source.receive(change) == isNew)
        #expect(source.health?.condition == condition)
        if condition != .receiving { seen = nil }
        if condition == .denied { #expect(source.isRefused) }
        #expect(source.currentRefusal == source.refusal)
      case 2, 3, 4:
        let fix = try #require(Self.fix(second))
        source.receive(fix)
        seen = second
        #expect(source.isFixRecent && source.validFix == fix && !source.isRefused)
      case 5: source.reportsOnlyChanges.toggle()
      default:
        let mayRest = source.reportsOnlyChanges && seen.map { second - $0 >= 60 } ?? false
        let fix = source.restingFix(at: now)
        #expect((fix != nil) == mayRest)
        if let fix {
          #expect(fix.time == now)
          seen = second
        }
      }
      let isValid = source.isFixRecent || source.reportsOnlyChanges && seen != nil
      #expect((source.validFix != nil) == isValid)
      #expect(seen != nil || !source.isFixRecent)
      #expect((source.restDeadline != nil) == (source.reportsOnlyChanges && seen != nil))
    }
  }
}
