import Glibc
import Positioning
import Scanning
import Synchronization
import TestSupport
import Testing

@testable import LocationSources

/// A source that does as the test says.
final class ScriptedSource: LocationSource {
  let name: String
  let state = Mutex(
    (availability: ScannerAvailability.available, progress: LocationProgress(), isResting: true))
  var isRecorded: Bool { false }
  var availability: ScannerAvailability {
    looks.withLock { $0 += 1 }
    return state.withLock { $0.availability }
  }
  /// How often the availability was read.
  let looks = Mutex(0)
  var isResting: Bool { state.withLock { $0.isResting } }

  private let script = Mutex(
    (hangs: false, turns: 0, fixes: [PositionInput](), demand: LocationDemand?.none))

  /// The latest demand; `nil` before the first.
  var demand: LocationDemand? { script.withLock { $0.demand } }

  /// Whether it does not answer, each time that its turn begins.
  var hangs: Bool {
    get { script.withLock { $0.hangs } }
    set { script.withLock { $0.hangs = newValue } }
  }
  /// How often its turn began.
  var turns: Int { script.withLock { $0.turns } }

  init(_ name: String) { self.name = name }

  /// Delivers a fix with the next call.
  func deliver(at clock: SourceChoiceTimeTests.TestClock) {
    guard let place = Coordinate(latitude: 48, longitude: 11) else { return }
    let fix = Fix(
      time: clock.time, timestamp: WallClockTime(nanoseconds: 0), place: place,
      horizontalAccuracy: 5)
    script.withLock { $0.fixes = [.fix(fix)] }
  }

  func set(_ availability: ScannerAvailability, _ health: LocationHealth.Condition? = nil) {
    state.withLock { state in
      state.availability = availability
      if let health {
        state.progress.health = [
          LocationHealth(health, at: MonotonicTime.now, sentence: "\(name) is \(health)")
        ]
      }
    }
  }

  func receive(
    for demand: LocationDemand, until deadline: MonotonicTime?, into inputs: inout [PositionInput]
  ) throws -> LocationProgress {
    // Its client may ask again and again.
    usleep(1000)
    inputs = script.withLock { script in
      script.demand = demand
      defer { script.fixes = [] }
      return script.fixes
    }
    return state.withLock { state in
      if state.isResting {
        script.withLock { $0.turns += 1 }
        if hangs {
          state.progress.health = [
            LocationHealth(
              .notAnswering, at: MonotonicTime.now, sentence: "\(name) is notAnswering")
          ]
        }
      }
      state.isResting = false
      defer { state.progress = LocationProgress() }
      return state.progress
    }
  }

  func wake() {}
  func rest() { state.withLock { $0.isResting = true } }
}

@Suite(.blocking) struct SourceChoiceTests {
  let first = ScriptedSource("gpsd")
  let second = ScriptedSource("GeoClue")
  let fixed: FixedSource
  let client: SourceClient
  let source: AutomaticSource

  init() throws {
    fixed = FixedSource(
      try #require(Coordinate(latitude: 48, longitude: 11)), altitude: 500, accuracy: 3)
    source = AutomaticSource([first, second, fixed])
    client = SourceClient(source)
  }

  @Test func theFirstThatIsAvailableIsUsed() throws {
    #expect(try client.receive { true })
    #expect(source.choice.name == "gpsd")
    #expect(source.choice.sentence == "gpsd is used, which comes first")
    #expect(second.isResting)
  }

  @Test func aFaultLeadsToTheNextOneAtOnce() throws {
    first.set(.unavailable("no gpsd answers"))
    #expect(source.look() == "GeoClue is used, because no gpsd answers")
    #expect(try client.receive { true })
    #expect(source.choice.name == "GeoClue")
    second.set(.notPermitted("GeoClue refuses"), .denied)
    #expect(try client.receive { !client.fixes.isEmpty })
    #expect(second.isResting)
    #expect(
      source.choice.sentence
        == "the configured position is used, because no gpsd answers; GeoClue is denied")
    #expect(source.availability == .available)
    #expect(client.health.map(\.sentence).contains(source.choice.sentence))
  }

  @Test func withoutAnySourceThereIsOneSentence() throws {
    let source = AutomaticSource([first, second])
    let client = SourceClient(source)
    first.set(.unavailable("no gpsd answers"))
    second.set(.unavailable("GeoClue is not installed"))
    source.wake()
    #expect(try client.receive { true })
    source.wake()
    #expect(try client.receive { true })
    #expect(client.conditions == [.notRunning])
    #expect(
      client.health[0].sentence
        == "no location source can be used: no gpsd answers; GeoClue is not installed")
    #expect(source.availability == .unavailable(client.health[0].sentence))
    second.set(.notPermitted("refused"))
    #expect(source.availability == .notPermitted("refused"))
    second.set(.available)
    #expect(try client.receive { source.choice.name == "GeoClue" })
  }

  @Test func aFixedPositionIsOneFixForEachDemand() throws {
    let client = SourceClient(fixed)
    #expect(try client.receive { client.fixes.count == 1 })
    let fix = client.fixes[0]
    #expect(fix.place == Coordinate(latitude: 48, longitude: 11))
    #expect(fix.altitude == 500 && fix.horizontalAccuracy == 3 && fix.speed == 0)
    fixed.wake()
    #expect(try client.receive { true })
    #expect(client.fixes.count == 1)
    client.demand.fixes?.interval = 10
    #expect(try client.receive { client.fixes.count == 2 })
    client.demand.needsHeading = true
    fixed.wake()
    #expect(try client.receive { true })
    #expect(client.fixes.count == 2)
    fixed.rest()
    #expect(try client.receive { client.fixes.count == 3 })
    // After a rest the state is reported again.
    #expect(client.conditions == [.receiving, .receiving])
  }
}

/// The rules of the choice by the time, with a clock that the test sets.
@Suite struct SourceChoiceTimeTests {
  let first = ScriptedSource("gpsd")
  let second = ScriptedSource("GeoClue")
  let now = TestClock()
  let source: AutomaticSource

  /// A clock that stands still until it is set.
  final class TestClock: Sendable {
    let seconds = Mutex(0.0)
    var time: MonotonicTime {
      MonotonicTime(nanoseconds: seconds.withLock { Int64($0 * 1e9) })
    }
  }

  init() {
    source = AutomaticSource([first, second]) { [now] in now.time }
  }

  /// Receives at a second, and returns which source is used then and what was reported.
  @discardableResult
  private func receive(
    at second: Double,
    _ demand: LocationDemand.Fixes? = .init(accuracy: 0, interval: 1, distance: 0)
  ) throws -> (name: String?, health: [LocationHealth.Condition]) {
    now.seconds.withLock { $0 = second }
    var inputs: [PositionInput] = []
    let progress = try source.receive(
      for: LocationDemand(fixes: demand), until: nil, into: &inputs)
    return (source.choice.name, progress.health.map(\.condition))
  }

  /// The name of the source that is used at a second, after those that lose their turn then have lost it.
  private func name(at second: Double, _ demand: LocationDemand.Fixes) throws -> String? {
    try receive(at: second, demand)
    return try receive(at: second, demand).name
  }

  private let fixes = LocationDemand.Fixes(accuracy: 0, interval: 1, distance: 0)

  @Test func aSourceWithoutAFixLosesItsTurnAfterAMinuteAndForLongerEachTime() throws {
    #expect(try name(at: 0, fixes) == "gpsd")
    #expect(try name(at: 59.9, fixes) == "gpsd")
    #expect(try name(at: 60, fixes) == "GeoClue")
    #expect(source.choice.sentence == "GeoClue is used, because gpsd had no fix for 60 s")
    #expect(first.isResting)
    // GeoClue finds the place, and gpsd gets its turn again after a minute, then two, four, up to an hour.
    var turn = 60.0
    for minutes in [1.0, 2, 4, 8, 16, 32, 60, 60] {
      let back = turn + minutes * 60
      for time in stride(from: turn, to: back, by: 20) {
        second.deliver(at: now)
        #expect(try receive(at: time).name == "GeoClue", "at \(time) s")
      }
      #expect(try name(at: back, fixes) == "gpsd", "at \(back) s")
      #expect(second.isResting)
      turn = back + 60
      #expect(try name(at: turn, fixes) == "GeoClue", "at \(turn) s")
    }
    // A fix ends the doubling.
    let back = turn + 3600
    #expect(try name(at: back, fixes) == "gpsd")
    first.deliver(at: now)
    try receive(at: back + 1)
    #expect(try name(at: back + 60.9, fixes) == "gpsd")
    #expect(try name(at: back + 62, fixes) == "GeoClue")
    second.deliver(at: now)
    #expect(try name(at: back + 121, fixes) == "GeoClue")
    #expect(try name(at: back + 122, fixes) == "gpsd")
  }

  @Test func aDaemonThatHangsAgainAndAgainIsTriedLessOften() throws {
    first.hangs = true
    #expect(try name(at: 0, fixes) == "GeoClue")
    #expect(source.choice.sentence == "GeoClue is used, because gpsd is notAnswering")
    var trials: [Double] = []
    for time in stride(from: 5.0, through: 4000, by: 5) {
      second.deliver(at: now)
      let before = first.turns
      try receive(at: time)
      if first.turns > before { trials.append(time) }
    }
    // The better ones are looked at every minute.
    #expect(trials == [60, 185, 430, 915, 1880, 3805])
  }

  /// A source may rest for longer than a minute where the demand allows it, and a device that rests need not report.
  @Test(arguments: [
    (LocationDemand.Fixes(accuracy: 3000, interval: 180, distance: 0), 239.0, 241.0),
    (LocationDemand.Fixes(accuracy: 1000, interval: 300, distance: 0), 359, 361),
    (LocationDemand.Fixes(accuracy: 100, interval: 60, distance: 100), 86_400, nil),
  ])
  func aSourceThatNeedNotDeliverKeepsItsTurn(
    demand: LocationDemand.Fixes, kept: Double, lost: Double?
  ) throws {
    first.deliver(at: now)
    // One that receives, as far as it reports, need not deliver while nothing moves.
    if lost == nil { first.set(.available, .receiving) }
    try receive(at: 0, demand)
    #expect(try name(at: kept, demand) == "gpsd")
    if let lost { #expect(try name(at: lost, demand) == "GeoClue") }
  }

  /// One that searches loses its turn a minute after a fix was due.
  @Test func aSourceThatSearchesLosesItsTurn() throws {
    let demand = LocationDemand.Fixes(accuracy: 100, interval: 60, distance: 100)
    first.deliver(at: now)
    try receive(at: 0, demand)
    first.set(.available, .searching)
    try receive(at: 1, demand)
    #expect(try name(at: 119, demand) == "gpsd")
    #expect(try name(at: 120, demand) == "GeoClue")
  }

  @Test func worseSourcesAreAskedOnlyWhereOneIsNeededAndSeldom() throws {
    second.set(.unavailable("GeoClue is not installed"))
    for second in stride(from: 0.0, to: 300, by: 1) {
      first.deliver(at: now)
      try receive(at: second)
    }
    #expect(second.looks.withLock { $0 } == 0)
    first.set(.unavailable("no gpsd answers"), .notRunning)
    for second in stride(from: 300.0, to: 400, by: 1) { try receive(at: second) }
    #expect(second.looks.withLock { $0 } == 10)
    // The fault lasts, and is not reported again; another source is used as soon as there is one.
    second.set(.available)
    #expect(try name(at: 410, fixes) == "GeoClue")
    #expect(source.choice.sentence == "GeoClue is used, because gpsd is notRunning")
  }

  @Test func aRefusalIsReportedAsOneWhereNoSourceCanBeUsed() throws {
    first.set(.unavailable("no gpsd answers"))
    second.set(.notPermitted("GeoClue refuses"))
    var inputs: [PositionInput] = []
    source.wake()
    let progress = try source.receive(
      for: LocationDemand(fixes: fixes), until: nil, into: &inputs)
    #expect(progress.health.map(\.condition) == [.notPermitted])
  }

  @Test func headingsAloneTakeNoSourceItsTurn() throws {
    try receive(at: 0, nil)
    #expect(try receive(at: 600, nil).name == "gpsd")
  }
}
