import Positioning
import Scanning
import TestSupport
import Testing

@testable import ServiceCore

/// A location machine of a live source, and what it puts out.
private struct Bench {
  typealias Output = ServiceOutput<LocationMachine>

  var machine = LocationMachine(isRecorded: false)
  let group = ClientGroup.application
  let first = ClientIdentifier(rawValue: 1)
  let second = ClientIdentifier(rawValue: 2)

  init(_ status: AuthorizationStatus = .authorizedAlways) {
    var output = Output()
    machine.setAuthorization(status, into: &output)
  }

  static let start: Coordinate = {
    guard let place = Coordinate(latitude: 52.5, longitude: 13.4) else { fatalError("no place") }
    return place
  }()

  static func time(_ second: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(second * 1e9))
  }

  /// A fix so many meters north of the start.
  static func fix(_ second: Double, _ meters: Double = 0, accuracy: Double = 5) -> Fix {
    Fix(
      time: time(second), timestamp: WallClockTime(nanoseconds: time(second).nanoseconds),
      place: start.moved(meters, toward: 0), horizontalAccuracy: accuracy)
  }

  /// Changes the machine, and returns its events with the only client that each goes to; `nil` for several.
  mutating func recipients(
    _ change: (inout LocationMachine, inout Output) throws -> Void
  ) rethrows -> [(LocationEvent, ClientIdentifier?)] {
    var output = Output()
    try change(&machine, &output)
    return output.items.compactMap { item in
      switch item {
      case .event(let event, .client(let client)): (event, client)
      case .event(let event, _), .stored(let event, _, _, _): (event, nil)
      case .register, .unregister, .refusal: nil
      }
    }
  }

  mutating func events(
    _ change: (inout LocationMachine, inout Output) throws -> Void
  ) rethrows -> [LocationEvent] {
    try recipients(change).map(\.0)
  }

  /// Receives fixes and states of the source, then the time.
  mutating func receive(
    _ fixes: [Fix] = [], health: [LocationHealth] = [], until second: Double? = nil,
    reportsOnlyChanges: Bool = false, offset: Double = 0
  ) -> [(LocationEvent, ClientIdentifier?)] {
    recipients { machine, output in
      var input = ServiceInput<LocationMachine>(
        values: fixes.map { .fix($0) },
        progress: LocationProgress(
          reached: second.map(Self.time) ?? fixes.last?.time,
          wallClockOffset: WallClockOffset(nanoseconds: Int64(offset * 1e9)), health: health),
        reportsOnlyChanges: reportsOnlyChanges)
      #expect(machine.process(&input, into: &output))
    }
  }

  mutating func register(_ circle: MonitoredCircle) throws {
    let (group, first) = (group, first)
    _ = try events {
      try $0.circles.register(circle, in: group, assuming: nil, for: first, into: &$1)
    }
  }

  static func state(_ condition: LocationHealth.Condition, _ second: Double) -> LocationHealth {
    LocationHealth(condition, at: time(second), sentence: "it is \(condition)")
  }

  mutating func request(
    _ client: ClientIdentifier, _ accuracy: AccuracyClass = .tenMeters
  ) -> [LocationEvent] {
    events { $0.requestFix(accuracy, for: client, into: &$1) }
  }

  mutating func startUpdates(
    _ client: ClientIdentifier, _ accuracy: AccuracyClass = .best
  ) -> [LocationEvent] {
    var settings = UpdateSettings()
    settings.accuracy = accuracy
    return events { $0.startUpdates(settings, for: client, into: &$1) }
  }
}

@Suite struct LocationMachineTests {
  // MARK: Requests for one fix

  @Test(arguments: [(30.0, 5.0, false), (15, 10, true), (15, 11, false), (15.5, 5, false)])
  func aRecentFixAnswersARequest(age: Double, accuracy: Double, isAnswer: Bool) {
    var bench = Bench()
    _ = bench.startUpdates(bench.first, .threeKilometers)
    let fix = Bench.fix(0, accuracy: accuracy)
    _ = bench.receive([fix], until: age)
    #expect(bench.request(bench.second) == (isAnswer ? [.requestedFix(fix)] : []))
    // A client that has received it waits for another one.
    #expect(bench.request(bench.first) == [])
    // Updates that deliver a fix answer with it.
    let next = Bench.fix(age + 1, accuracy: 8)
    let events = bench.receive([next])
    #expect(events.filter { $0.1 == bench.first }.map(\.0) == [.fixes([next])])
    let answer: [LocationEvent] = isAnswer ? [] : [.requestedFix(next)]
    #expect(events.filter { $0.1 == bench.second }.map(\.0) == answer)
  }

  @Test func aFixOfBeforeARestAnswersNothing() {
    var bench = Bench()
    _ = bench.startUpdates(bench.first)
    _ = bench.receive([Bench.fix(0)])
    _ = bench.events { machine, _ in machine.rest() }
    #expect(bench.request(bench.second) == [])
  }

  /// A fix that is too inaccurate or, where the source delivers changes only, too old answers if no other one comes.
  @Test(arguments: [(5.0, 20.0, false), (500, 5, true)])
  func theKnownFixIsTheAnswerIfNoOtherComes(age: Double, accuracy: Double, onlyChanges: Bool) {
    var bench = Bench()
    _ = bench.startUpdates(bench.first, .threeKilometers)
    let fix = Bench.fix(0, accuracy: accuracy)
    _ = bench.receive([fix], until: age, reportsOnlyChanges: onlyChanges)
    #expect(bench.request(bench.second) == [])
    _ = bench.receive(until: age, reportsOnlyChanges: onlyChanges)
    #expect(bench.receive(until: age + 9, reportsOnlyChanges: onlyChanges).isEmpty)
    let events = bench.receive(until: age + 10, reportsOnlyChanges: onlyChanges)
    #expect(events.map(\.0) == [.requestedFix(fix)])
  }

  @Test func theEndDeliversTheBestFix() {
    var bench = Bench()
    _ = bench.request(bench.first)
    let fix = Bench.fix(1, accuracy: 40)
    #expect(bench.receive([fix]).isEmpty)
    let events = bench.events { $0.end("it is over", isFailure: false, into: &$1) }
    #expect(events == [.requestedFix(fix), .ended("it is over", isFailure: false)])
  }

  @Test(arguments: [LocationHealth.Condition.denied, .notPermitted, .notRunning])
  func aRefusalEndsARequest(condition: LocationHealth.Condition) {
    var bench = Bench()
    _ = bench.request(bench.first)
    let state = Bench.state(condition, 1)
    let events = bench.receive(health: [state], until: 1).map(\.0)
    guard condition != .notRunning else {
      #expect(events == [.health(state, at: WallClockTime(nanoseconds: 1_000_000_000))])
      #expect(bench.receive(until: 59).isEmpty)
      return #expect(bench.receive(until: 61).map(\.0) == [.requestTimedOut])
    }
    #expect(events.last == .requestFailed(state))
    #expect(bench.request(bench.first) == [.requestFailed(state)])
    // After a rest the source has ten seconds to deliver.
    _ = bench.events { machine, _ in machine.rest() }
    #expect(bench.request(bench.first) == [])
    _ = bench.receive(until: 100)
    #expect(bench.receive(until: 110).map(\.0) == [.requestFailed(state)])
    #expect(bench.request(bench.first) == [])
    let fix = Bench.fix(111)
    let states = [Bench.state(.receiving, 111)]
    #expect(bench.receive([fix], health: states).last?.0 == .requestedFix(fix))
  }

  @Test func updatesEndARequest() {
    var bench = Bench()
    _ = bench.request(bench.first)
    _ = bench.startUpdates(bench.first)
    #expect(bench.receive([Bench.fix(1)]).map(\.0) == [.fixes([Bench.fix(1)])])
  }

  // MARK: Authorization

  @Test func withoutAuthorizationThereIsNoLatestFix() {
    var bench = Bench()
    let first = bench.first
    _ = bench.startUpdates(bench.first)
    _ = bench.events { machine, _ in machine.compass.start(filter: nil, .portrait, for: first)
    }
    _ = bench.receive([Bench.fix(0)])
    _ = bench.recipients { machine, output in
      let reading = CompassReading(
        time: Bench.time(1), timestamp: WallClockTime(nanoseconds: 0), magneticHeading: 5)
      var input = ServiceInput<LocationMachine>(
        values: [.compass(reading)], progress: LocationProgress(reached: Bench.time(1)))
      _ = machine.process(&input, into: &output)
    }
    #expect(bench.machine.latestFix != nil)
    #expect(bench.machine.compass.latestHeading(of: bench.first) != nil)
    _ = bench.events { $0.setAuthorization(.denied, into: &$1) }
    #expect(bench.machine.latestFix == nil)
    // Headings need no authorization.
    #expect(bench.machine.compass.latestHeading(of: bench.first) != nil)
    #expect(bench.startUpdates(bench.second) == [])
  }

  // MARK: Stops and pauses

  @Test func heldFixesComeWithTheEndOfTheirDeferral() {
    var bench = Bench()
    _ = bench.startUpdates(bench.first)
    let client = bench.first
    _ = bench.events {
      $0.allowDeferral(untilTraveled: 1000, timeout: 1000, for: client, into: &$1)
    }
    let held = (0..<3).map { Bench.fix(Double($0)) }
    #expect(bench.receive(held).isEmpty)
    #expect(
      bench.events { $0.modify(client, into: &$1) { $0.stop() } }
        == [.deferralFinished(.notUpdatingLocation, held: held)])
  }

  @Test func aDeferralEndsBeforeThePause() {
    var bench = Bench()
    _ = bench.startUpdates(bench.first)
    let client = bench.first
    _ = bench.events {
      $0.allowDeferral(untilTraveled: 1000, timeout: 10_000, for: client, into: &$1)
    }
    let held = (0...90).map { Bench.fix(Double($0) * 10) }
    #expect(
      held.flatMap { bench.receive([$0]).map(\.0) } == [
        .deferralFinished(.notUpdatingLocation, held: held), .paused,
      ]
    )
  }

  // MARK: Batches

  /// A recording's fixes come many at once to a client that allows it, and nothing overtakes them.
  @Test func fixesOfARecordingComeInBatches() {
    var bench = Bench()
    bench.machine = LocationMachine(isRecorded: true)
    let (group, first) = (bench.group, bench.first)
    _ = bench.events { machine, output in
      machine.setAuthorization(.authorizedAlways, into: &output)
      machine.startVisits(in: group, into: &output)
      var settings = UpdateSettings()
      (settings.takesBatches, settings.pausesAutomatically) = (true, false)
      machine.startUpdates(settings, for: first, into: &output)
    }
    let fixes = (0..<1000).map { Bench.fix(Double($0) * 10, max(0, 20 - Double($0)) * 100) }
    var input = ServiceInput<LocationMachine>(
      values: fixes.map { .fix($0) }, progress: LocationProgress(reached: fixes.last?.time))
    var (events, isDone): ([LocationEvent], Bool) = ([], false)
    while !isDone {
      events += bench.events { isDone = $0.process(&input, into: &$1) }
    }
    let batches = events.compactMap { if case .fixes(let fixes) = $0 { fixes } else { nil } }
    #expect(batches.flatMap(\.self) == fixes)
    #expect(batches.count <= 7 && batches.allSatisfy { $0.count <= 256 })
    // The arrival is found some minutes after it, between two fixes.
    let place = events.firstIndex { if case .visit = $0 { true } else { false } }
    let before = events[..<(place ?? 0)].reduce(0) { count, event in
      if case .fixes(let fixes) = event { count + fixes.count } else { count }
    }
    #expect((40..<70).contains(before), "\(before)")
  }

  // MARK: Sources that report only changes

  @Test(arguments: [false, true])
  func silenceIsRestWhereOnlyChangesAreReported(onlyChanges: Bool) {
    var bench = Bench()
    let group = bench.group
    _ = bench.events { $0.startVisits(in: group, into: &$1) }
    _ = bench.startUpdates(bench.first)
    let way = (0..<40).map { Bench.fix(Double($0) * 10, Double($0) * 100, accuracy: 20) }
    _ = bench.receive(
      way, health: [Bench.state(.receiving, 0)], reportsOnlyChanges: onlyChanges)
    var events: [LocationEvent] = []
    for minute in 7..<40 {
      events += bench.receive(until: Double(minute) * 60, reportsOnlyChanges: onlyChanges).map(\.0)
    }
    let visits = events.count { if case .visit = $0 { true } else { false } }
    #expect(visits == (onlyChanges ? 1 : 0))
    #expect(events.contains(.paused) == onlyChanges)
    #expect(!events.contains { if case .fixes = $0 { true } else { false } })
    // A source that has lost the place is not at rest.
    _ = bench.receive(
      health: [Bench.state(.searching, 2400)], until: 2400, reportsOnlyChanges: onlyChanges)
    #expect(bench.machine.demand?.deadline == nil)
  }

  /// How long the receiver has been where an old location was is not known.
  @Test func anOldLocationDoesNotPauseUpdates() {
    var bench = Bench()
    _ = bench.startUpdates(bench.first)
    let events = bench.receive(
      [Bench.fix(0)], health: [Bench.state(.receiving, 3600)], until: 3600, reportsOnlyChanges: true
    ).map(\.0)
    #expect(events.contains(.fixes([Bench.fix(0)])) && !events.contains(.paused))
    let later = (61..<80).flatMap {
      bench.receive(until: Double($0) * 60, reportsOnlyChanges: true).map(\.0)
    }
    #expect(later == [.paused])
  }

  /// A laptop that woke up elsewhere has one new location, and none after it.
  @Test func oneLocationElsewhereResumesUpdates() {
    var bench = Bench()
    _ = bench.startUpdates(bench.first)
    _ = bench.receive([Bench.fix(0)], reportsOnlyChanges: true)
    var events: [LocationEvent] = []
    for minute in 1..<20 {
      events += bench.receive(until: Double(minute) * 60, reportsOnlyChanges: true).map(\.0)
    }
    #expect(events == [.paused])
    events = bench.receive([Bench.fix(1200, 5000)], reportsOnlyChanges: true).map(\.0)
    for minute in 21..<23 {
      events += bench.receive(until: Double(minute) * 60, reportsOnlyChanges: true).map(\.0)
    }
    let fixes = events.compactMap { if case .fixes(let fixes) = $0 { fixes } else { nil } }
    #expect(events.first == .resumed && fixes.map(\.last?.place) == [Bench.fix(0, 5000).place])
  }

  /// The source's time stands still during a suspend, and the distance to wall-clock time grows.
  @Test func anArrivalKeepsItsDateThroughASuspend() throws {
    var bench = Bench()
    let group = bench.group
    _ = bench.events { $0.startVisits(in: group, into: &$1) }
    let way = (0..<60).map { Bench.fix(Double($0) * 10, max(0, 20 - Double($0)) * 100) }
    var events = bench.receive(way, offset: 1000).map(\.0)
    for second in stride(from: 600.0, to: 1200, by: 10) {
      events += bench.receive([Bench.fix(second)], offset: 1000).map(\.0)
    }
    for second in stride(from: 1200.0, to: 1600, by: 10) {
      let fix = Bench.fix(second, (second - 1200) * 10)
      events += bench.receive([fix], offset: 26_200).map(\.0)
    }
    let visits = events.compactMap { if case .visit(let visit) = $0 { visit } else { nil } }
    try #require(visits.count == 2)
    #expect(visits[0].arrival != nil && visits[0].arrival == visits[1].arrival)
    let departure = try #require(visits[1].departure)
    #expect(departure.nanoseconds > 27_000_000_000_000)
  }

  // MARK: Circles

  /// Neither while the app is refused, nor while the source has a fault: the state may be another one by now.
  @Test func whatWasDeterminedIsNotToldWhereItMayNotOrDoesNotHold() throws {
    var bench = Bench()
    let (group, first) = (bench.group, bench.first)
    let region = try CircularRegion(identifier: "c", center: Bench.start, radius: 500)
    try bench.register(MonitoredCircle(region))
    _ = bench.receive((0..<20).map { Bench.fix(Double($0)) }, health: [Bench.state(.receiving, 0)])
    func state() -> [LocationEvent] {
      bench.events {
        $0.requestState(of: region, in: group, for: first, hasSource: true, into: &$1)
      }
    }
    #expect(state() == [.circleState(region, .inside)])
    _ = bench.receive(health: [Bench.state(.notRunning, 21)], until: 21)
    #expect(state() == [.circleState(region, .unknown)])
    _ = bench.receive(health: [Bench.state(.receiving, 22)], until: 22)
    #expect(state() == [.circleState(region, .inside)])
    _ = bench.events { $0.setAuthorization(.denied, into: &$1) }
    #expect(state() == [.circleState(region, .unknown)])
  }

  // MARK: Significant changes and visits

  @Test func theFirstStartOfAProcessDeliversAFix() {
    var bench = Bench()
    let (group, first, second) = (bench.group, bench.first, bench.second)
    var rule = SignificantChange()
    _ = rule.start(cached: Bench.fix(-1000))
    bench.machine.restore([
      StoredRegistration(
        group: group, identifier: "significantChanges", registration: .significantChanges,
        state: .significantChanges(rule, .zero))
    ])
    func start(_ client: ClientIdentifier) -> [LocationEvent] {
      bench.events { $0.startSignificantChanges(in: group, for: client, into: &$1) }
    }
    #expect(start(first) == [])
    let events = bench.receive([Bench.fix(1, 100)])
    #expect(events.map(\.0) == [.significantChange(Bench.fix(1, 100))])
    #expect(events.map(\.1) == [first])
    #expect(start(first) == [])
    #expect(start(second) == [.significantChange(Bench.fix(1, 100))])
    #expect(bench.receive([Bench.fix(2, 100)]).isEmpty)
    // 500 m count from the fix before the restart.
    #expect(bench.receive([Bench.fix(3, 600)]).map(\.1) == [nil])
  }

  /// The clock was set back between two processes, or is not set yet.
  @Test(arguments: [-3000.0, -1_700_000_000])
  func storedTimesOfTheFutureHoldNothingUp(offset: Double) {
    var bench = Bench()
    let group = bench.group
    var (rule, visits) = (SignificantChange(), VisitDetector())
    _ = rule.start(cached: Bench.fix(-60))
    for second in stride(from: -2000.0, to: -60, by: 10) {
      let meters = second < -1500 ? (second + 1500) * 5 : 0
      _ = visits.receive(Bench.fix(second, meters))
    }
    #expect(visits.isStaying)
    bench.machine.restore([
      StoredRegistration(
        group: group, identifier: "significantChanges", registration: .significantChanges,
        state: .significantChanges(rule, .zero)),
      StoredRegistration(
        group: group, identifier: "visits", registration: .visits, state: .visits(visits, .zero)),
    ])
    var events: [LocationEvent] = []
    for second in stride(from: 0.0, through: 400, by: 10) {
      events += bench.receive([Bench.fix(second, 2000 + second)], offset: offset).map(\.0)
    }
    #expect(events.contains { if case .significantChange = $0 { true } else { false } })
    let departure = events.compactMap { event in
      if case .visit(let visit) = event { visit.departure } else { nil }
    }
    #expect(departure.count == 1)
  }

  // MARK: Circles

  @Test func eachRequestForAStateIsAnswered() throws {
    var bench = Bench()
    let (group, first, second) = (bench.group, bench.first, bench.second)
    let place = Bench.fix(0).place
    let region = try CircularRegion(identifier: "here", center: place, radius: 1000)
    for client in [first, first, second] {
      #expect(
        bench.events {
          $0.requestState(of: region, in: group, for: client, hasSource: true, into: &$1)
        } == [])
    }
    let events = bench.receive((0..<3).map { Bench.fix(Double($0)) })
    #expect(events.map(\.1) == [first, first, second])
    #expect(events.allSatisfy { $0.0 == .circleState(region, .inside) })
    #expect(bench.machine.demand == nil)
    // One that is removed waits no longer.
    _ = bench.events {
      $0.requestState(of: region, in: group, for: first, hasSource: true, into: &$1)
    }
    bench.machine.remove(first)
    #expect(bench.machine.demand == nil)
  }

  @Test func requestsForAStateAreBounded() throws {
    var bench = Bench()
    let (group, first) = (bench.group, bench.first)
    let region = try CircularRegion(identifier: "here", center: Bench.fix(0).place, radius: 1000)
    let events = bench.events { machine, output in
      for _ in 0...LocationCircles.maximumRequests {
        machine.requestState(of: region, in: group, for: first, hasSource: true, into: &output)
      }
    }
    #expect(events == [.circleState(region, .unknown)])
  }

  /// The receiver may be nearer to the boundary than the fix, by its accuracy.
  @Test(arguments: [(5.0, 1195.0 / 70), (300.0, 900.0 / 70)] as [(Double, Double)])
  func theAccuracyOfAFixShortensTheRest(accuracy: Double, interval: Double) throws {
    var bench = Bench()
    let (group, first) = (bench.group, bench.first)
    let region = try CircularRegion(
      identifier: "far", center: Bench.fix(0, 2200).place, radius: 1000)
    _ = try bench.events {
      try $0.circles.register(
        MonitoredCircle(region), in: group, assuming: nil, for: first, into: &$1)
    }
    _ = bench.receive((0..<5).map { Bench.fix(Double($0), accuracy: accuracy) })
    let demand = try #require(bench.machine.demand?.demand.fixes)
    #expect(abs(demand.interval - interval) < 0.1)
  }

  // MARK: Requests for one fix

  /// A location of an hour ago is not where the machine is: a newer one is waited for, and the old one is the answer only
  /// where none comes.
  @Test(arguments: [5.0, 3000])
  func anOldFixIsNoAnswerAtOnce(accuracy: Double) {
    var bench = Bench()
    let first = bench.first
    #expect(bench.request(first).isEmpty)
    var old = Bench.fix(0, accuracy: accuracy)
    #expect(bench.receive([old], until: 3600).isEmpty)
    old.time = Bench.time(3604)
    let new = Bench.fix(3604, accuracy: 5)
    #expect(bench.receive([new], until: 3604).map(\.0) == [.requestedFix(new)])
    #expect(bench.request(first).isEmpty)
    #expect(bench.receive([Bench.fix(0, accuracy: accuracy)], until: 7200).isEmpty)
    #expect(bench.receive(until: 7209).isEmpty)
    #expect(
      bench.receive(until: 7211).map(\.0).contains {
        if case .requestedFix = $0 { true } else { false }
      })
  }

  /// The best accuracy is reached when it gets no better; of equal fixes the newest is the answer.
  @Test func theBestAccuracyIsWhatFixesSettleAt() {
    var bench = Bench()
    _ = bench.request(bench.first, .best)
    var answers: [LocationEvent] = []
    for (second, accuracy) in [(1.0, 40.0), (2, 20), (3, 9), (4, 9), (5, 9), (6, 9)] {
      answers += bench.receive([Bench.fix(second, accuracy: accuracy)]).map(\.0)
      if second < 6 { #expect(answers.isEmpty, "at \(second) s") }
    }
    #expect(answers == [.requestedFix(Bench.fix(6, accuracy: 9))])
  }

  // MARK: Headings

  @Test(arguments: [(1_893_456_000.0, 1), (1_893_000_000.0, 0), (0.0, 1)])
  func anExpiredModelIsReportedOnce(timestamp: Double, reports: Int) {
    var bench = Bench()
    let first = bench.first
    _ = bench.startUpdates(first)
    _ = bench.events { machine, _ in machine.compass.start(filter: nil, .portrait, for: first) }
    _ = bench.receive([Bench.fix(0)])
    let events = bench.events { machine, output in
      for second in 1...3 {
        let reading = CompassReading(
          time: Bench.time(Double(second)),
          timestamp: WallClockTime(nanoseconds: Int64(timestamp * 1e9)), magneticHeading: 5)
        var input = ServiceInput<LocationMachine>(
          values: [.compass(reading)], progress: LocationProgress(reached: reading.time))
        _ = machine.process(&input, into: &output)
      }
    }
    let states = events.compactMap { event in
      if case .health(let health, at: _) = event { health } else { nil }
    }
    #expect(states.map(\.sentence) == Array(repeating: MagneticModel.expiry, count: reports))
    #expect(states.allSatisfy { $0.subject == .headings && !$0.condition.isFault })
    #expect(bench.machine.health == nil)
    #expect(bench.machine.compass.latestHeading(of: first)?.trueHeading != nil)
  }
}
