import Advertising
import TestSupport
import Testing

@testable import Fusion

/// Receivers whose clocks are wrong, whose reports come late, or near the end of a second.
@Suite struct SiteTimeTests {
  /// Rooms in a row, 4 m each, with a receiver in the middle of each.
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

  private static let models = (1...4).map { SiteModel(site($0)) }
  private static let start: Int64 = 1_800_000_000

  private static func beacon(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(
      uuid: ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0),
      major: UInt16(number >> 16), minor: UInt16(number & 0xFFFF))
  }

  /// The report of a receiver about a second after ``start``. The beacon is in the room of receiver
  /// `room`.
  private static func report(
    _ receiver: Int, _ second: Int64, room: Int, ahead: Int64 = 0, delay: Double = 0
  ) -> ReceiverSecond {
    ReceiverSecond(
      receiver: "r\(receiver)", boot: 1, number: UInt64(second + 1),
      time: (start + second + ahead) * 1000 + 400, delay: delay,
      receptions: [
        .init(
          beacon(1), count: 5, mean: receiver == room ? -58 : -80, measuredPower: -59)
      ])
  }

  private struct Run {
    var fusion: SiteFusion
    var transitions: [RoomTransition] = []

    init(_ receivers: Int) { fusion = SiteFusion(models[receivers - 1]) }

    mutating func receive(_ report: ReceiverSecond) {
      transitions += fusion.receive(report)
    }

    /// The room that is reported.
    var room: Int? {
      guard case .room(let name)? = fusion.estimate(of: beacon(1))?.place else { return nil }
      return Int(name.dropFirst(5))
    }

    var missing: [String]? { fusion.estimate(of: beacon(1))?.missing }
  }

  // MARK: Clocks

  @Test(arguments: [(0, 600), (1, 600), (2, 600), (1, -600), (2, 5), (2, 1_000_000)])
  func `a receiver whose clock is wrong is evidence as the others`(index: Int, ahead: Int64) {
    var run = Run(3)
    for second in 0..<Int64(60) {
      for receiver in 0..<3 {
        run.receive(
          Self.report(receiver, second, room: index, ahead: receiver == index ? ahead : 0))
      }
      // The two others are enough to go on.
      if second > 2 { #expect(run.fusion.estimate(of: Self.beacon(1)) != nil) }
    }
    #expect(run.fusion.clockDifference(of: "r\(index)") == ahead)
    #expect(run.fusion.clockDifference(of: "r\((index + 1) % 3)") == 0)
    #expect(run.missing == [] && run.room == index)
    // The transitions are of the time of the majority.
    for transition in run.transitions.dropFirst(index == 0 ? 1 : 0) {
      #expect((Self.start..<Self.start + 60).contains(transition.second))
    }
    #expect(run.fusion.ignored < 20)
  }

  @Test func `a clock that is set right is followed`() {
    var run = Run(3)
    for second in 0..<Int64(120) {
      for receiver in 0..<3 {
        let ahead: Int64 = receiver == 1 && second < 60 ? 3000 : 0
        run.receive(Self.report(receiver, second, room: 1, ahead: ahead))
      }
      if second == 59 { #expect(run.fusion.clockDifference(of: "r1") == 3000) }
    }
    #expect(run.fusion.clockDifference(of: "r1") == 0)
    #expect(run.missing == [] && run.room == 1)
  }

  @Test(arguments: 20..<Int64(26)) func `a clock that leaps for a moment is no trouble`(leap: Int64)
  {
    var run = Run(3)
    var clock = SiteClock(receivers: 3, patience: 5)
    for second in 0..<Int64(60) {
      // One receiver is away, so that seconds are computed without it.
      for receiver in 0..<3 where receiver < 2 || second < 15 {
        let ahead: Int64 = receiver == 1 && (leap..<leap + 8).contains(second) ? 600 : 0
        var report = Self.report(receiver, second, room: 1, ahead: ahead)
        // It reports later in each second.
        if receiver == 1 { report.time += 580 }
        run.receive(report)
        #expect(run.fusion.clockDifference(of: "r1") == 0)
        _ = clock.receive(report, of: receiver)
        while let next = clock.next() { #expect(next.second <= Self.start + second) }
      }
    }
    // The others do not wait for its first report after the leap.
    #expect(run.fusion.ignored <= 1 && run.missing == ["r2"])
  }

  @Test func `what a wrong clock said of later seconds is not evidence in them`() {
    var run = Run(3)
    for second in 0..<Int64(150) {
      for receiver in 0..<3 where receiver != 1 || second < 40 {
        run.receive(Self.report(receiver, second, room: 1, ahead: receiver == 1 ? 100 : 0))
      }
      if second > 60 { #expect(run.missing == ["r1"]) }
    }
    #expect(run.fusion.clockDifference(of: "r1") == 100)
  }

  @Test func `a difference of up to two seconds is none`() {
    var run = Run(3)
    for second in 0..<Int64(30) {
      for receiver in 0..<3 {
        run.receive(Self.report(receiver, second, room: 1, ahead: receiver == 1 ? 2 : 0))
      }
    }
    #expect(run.fusion.clockDifference(of: "r1") == 0)
  }

  @Test(arguments: [3600, -3600]) func `a receiver alone is right`(step: Int64) {
    var run = Run(1)
    for second in 0..<Int64(60) {
      run.receive(Self.report(0, second, room: 0, ahead: second < 20 ? 0 : step))
    }
    #expect(run.fusion.clockDifference(of: "r0") == 0)
    let second = Self.start + 60 + step
    var other = Self.report(0, 60, room: 0, ahead: step)
    other.receptions = []
    for _ in 0..<200 {
      run.receive(other)
      other.number += 1
      other.time += 1000
    }
    // It is followed at once, or within a minute where it was set back.
    #expect(run.fusion.ignored <= (step > 0 ? 0 : 60))
    #expect(run.transitions.last.map { (second..<second + 200).contains($0.second) } == true)
  }

  @Test func `all receivers follow a step of all`() {
    var run = Run(2)
    for second in 0..<Int64(60) {
      for receiver in 0..<2 {
        run.receive(
          Self.report(receiver, second, room: second < 30 ? 0 : 1, ahead: second < 30 ? 0 : 900))
      }
    }
    for receiver in ["r0", "r1"] { #expect(run.fusion.clockDifference(of: receiver) == 0) }
    #expect(run.room == 1 && run.fusion.ignored == 0)
    #expect(run.transitions.last.map { $0.second > Self.start + 900 } == true)
  }

  @Test func `a receiver that is left alone keeps its difference`() {
    var run = Run(3)
    // It is believed that the others are silent after 60 reports.
    for second in 0..<Int64(120) {
      for receiver in 0..<3 where receiver == 2 || second < 40 {
        run.receive(Self.report(receiver, second, room: 2, ahead: receiver == 2 ? 600 : 0))
      }
    }
    #expect(run.fusion.clockDifference(of: "r2") == 600 && run.room == 2)
    #expect(run.fusion.estimate(of: Self.beacon(1))?.missing == ["r0", "r1"])
    #expect(run.fusion.ignored < 20)
  }

  // MARK: Delays

  /// The streams of an outage from second 30 to 90, with the live time in which each report is sent.
  private static func outage(
    _ receivers: Int, _ generator: inout SplitMix64
  ) -> [(sent: Double, report: ReceiverSecond)] {
    (0..<receivers).flatMap { receiver in
      // Each connects again at another time.
      let connected = 90 + Double.random(in: 0..<14, using: &generator)
      var sent = 0.0
      return (0..<Int64(150)).map { second in
        let made = Double(second) + 0.4
        let isKept = (30..<90).contains(made) || made >= 90 && made < connected
        sent = max(
          sent,
          isKept ? connected : made + Double.random(in: 0..<0.5, using: &generator))
        let delay = sent - made
        return (
          sent,
          report(
            receiver, second, room: Int(second / 20) % receivers, delay: delay < 2 ? 0 : delay)
        )
      }
    }
  }

  private func transitions(_ reports: some Sequence<ReceiverSecond>, _ receivers: Int)
    -> [RoomTransition]
  {
    var run = Run(receivers)
    for report in reports { run.receive(report) }
    #expect(run.fusion.ignored == 0)
    return run.transitions + run.fusion.finish()
  }

  @Test(arguments: 0..<20)
  func `after an outage, each receiver's reports are evidence`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let receivers = 2 + Int(seed % 3)
    let streams = Self.outage(receivers, &generator)
    let inOrder = streams.map(\.report).sorted { ($0.time, $0.receiver) < ($1.time, $1.receiver) }
      .map { report in
        var report = report
        report.delay = 0
        return report
      }
    // What each receiver sends at once arrives in one go, or in turns with that of the others.
    let arrived = streams.map {
      ($0.sent + Double.random(in: 0..<0.3, using: &generator), $0.report)
    }
    var latest: [String: Double] = [:]
    let shuffled = arrived.map { time, report in
      latest[report.receiver] = max(latest[report.receiver] ?? 0, time)
      return (time: latest[report.receiver] ?? 0, report: report)
    }.sorted {
      ($0.time, $0.report.receiver, $0.report.number) < (
        $1.time, $1.report.receiver, $1.report.number
      )
    }
    let expected = transitions(inOrder, receivers)
    #expect(expected.count > 6)
    #expect(transitions(shuffled.map(\.report), receivers) == expected)
  }

  @Test func `the order of the reports of a second changes nothing`() {
    var generator = SplitMix64(seed: 5)
    let seconds = (0..<Int64(100)).map { second in
      (0..<4).map { Self.report($0, second, room: Int(second / 15) % 4) }
    }
    let expected = transitions(seconds.joined(), 4)
    #expect(expected.count > 4)
    for _ in 0..<5 {
      let shuffled = seconds.map { $0.shuffled(using: &generator) }
      #expect(transitions(shuffled.joined(), 4) == expected)
    }
  }

  @Test func `nobody waits for a receiver that stays away`() {
    var run = Run(3)
    for second in 0..<Int64(60) {
      for receiver in 0..<3 where receiver > 0 || second < 20 {
        run.receive(Self.report(receiver, second, room: second == 59 ? 2 : 1))
      }
      if second == 40 { #expect(run.missing == ["r0"] && run.fusion.ignored == 0) }
    }
    // The last second is computed.
    var next = run.fusion
    #expect(next.finish() == [])
    #expect(next.estimates.map { $0 } == run.fusion.estimates.map { $0 })
  }

  @Test func `the end of a recording computes what waits`() {
    var run = Run(2)
    for second in 0..<Int64(20) { run.receive(Self.report(0, second, room: 0)) }
    var short = Run(2)
    for second in 0..<Int64(4) { short.receive(Self.report(0, second, room: 0)) }
    #expect(short.transitions.isEmpty)
    let end = short.fusion.finish()
    #expect(end.map(\.estimate.place) == [.room("room 0")])
    #expect(end == Array(run.transitions.prefix(1)))
  }

  @Test func `what waits is bounded`() {
    var clock = SiteClock(receivers: 3, patience: 5)
    var (taken, refused, count, receptions) = (0, 0, 0, 0)
    func receive(_ report: ReceiverSecond, _ index: Int) {
      if !clock.receive(report, of: index) { refused += 1 }
      while clock.next() != nil { taken += 1 }
    }
    // Two receivers send what they kept for two hours, and the third one has not connected yet.
    for index in 0..<3 { receive(Self.report(index, 0, room: 0), index) }
    for second in 1...Int64(7200) {
      for index in 0..<2 {
        receive(Self.report(index, second, room: 0, delay: 7200 - Double(second)), index)
      }
    }
    #expect(refused == 0 && taken == 7201 - SiteClock.maximumSeconds)
    // A clock that leaps about, with many beacons, takes no one's place.
    for number in 7201..<Int64(12_000) {
      var report = Self.report(0, number, room: 0, ahead: number * 1777 % 5000)
      report.receptions = Array(repeating: report.receptions[0], count: 1000)
      receive(report, 0)
    }
    while let second = clock.take() {
      count += 1
      receptions += second.reports.values.reduce(0) { $0 + $1.receptions.count }
    }
    #expect(count <= SiteClock.maximumSeconds && 34 * receptions <= clock.maximumSize)
  }

  @Test func `any numbers are taken, and seconds come in order`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SplitMix64(seed: seed)
    let edges: [Double] = [0, 1, 30, 3600, 1e7, -1, 1e300, .nan, .infinity]
    var clock = SiteClock(receivers: 3, patience: 5)
    var taken = 0
    for number in 0..<Int64(20_000) {
      var report = Self.report(0, number / 3, room: 0)
      report.boot = UInt64(number / 300)
      switch generator.next() % 64 {
      case 0: report.time = Int64(bitPattern: generator.next())
      case 1: report.time = .random(in: 0..<10_000_000_000_000, using: &generator)
      case 2: report.number = generator.next() >> (generator.next() % 64)
      case 3: report.boot = generator.next()
      case 4: report.delay = edges.randomElement(using: &generator) ?? 0
      case 5: report.seconds = edges.randomElement(using: &generator) ?? 0
      default: break
      }
      let before = clock.taken
      let isEvidence = clock.receive(report, of: Int(number % 3))
      // Only clocks that are set back begin anew.
      if let before, let now = clock.taken, now < before { #expect(now < before - 5) }
      var last = clock.taken ?? .min
      while let second = clock.next() {
        #expect(second.second > last && !second.reports.isEmpty)
        last = second.second
        taken += 1
      }
      if !(0...1e7).contains(report.delay) || !(0.001...3600).contains(report.seconds) {
        #expect(!isEvidence)
      }
    }
    var left = 0
    while clock.take() != nil { left += 1 }
    print("\(taken) seconds, \(left) left")
    #expect(left <= SiteClock.maximumSeconds)
  }

  /// A receiver sends 20 reports without an acknowledgment at most, in order. After a failure of its
  /// connection it sends all of them again, also those from before its last start.
  @Test func `reports from before a restart are taken once`() {
    var run = Run(2)
    var whole = Run(2)
    func report(_ index: Int, _ number: Int) -> ReceiverSecond {
      // Four boots. The reports are near the end of a second.
      var report = Self.report(index, Int64(number), room: number < 15 ? 0 : 1)
      report.boot = index == 0 ? UInt64(number / 8 + 10) : 1
      report.number = index == 0 ? UInt64(number % 8 + 1) : UInt64(number + 1)
      report.time += number % 2 == 0 ? 590 : 605
      return report
    }
    var repeated = 0
    for number in 0..<32 {
      for index in 0..<2 {
        whole.receive(report(index, number))
        run.receive(report(index, number))
      }
      // Its connection fails now and then.
      if number % 5 == 4 {
        for earlier in max(0, number - 19)...number {
          run.receive(report(0, earlier))
          repeated += 1
        }
      }
    }
    #expect(run.fusion.encodedState() == whole.fusion.encodedState())
    #expect(run.transitions == whole.transitions && run.transitions.count >= 2)
    #expect(run.fusion.ignored == whole.fusion.ignored + repeated)
    #expect(whole.fusion.ignored == 0)
  }

  /// The reports that a receiver kept before its restart come first, and are not too late.
  @Test func `reports from before a restart are not dropped`() {
    var run = Run(2)
    for second in 0..<Int64(20) {
      for index in 0..<2 { run.receive(Self.report(index, second, room: 0)) }
    }
    // The connection is away, and the receivers start again after half of that time.
    for second in 20..<Int64(80) {
      for index in 0..<2 {
        var report = Self.report(index, second, room: 1, delay: Double(80 - second))
        if second >= 50 { (report.boot, report.number) = (2, UInt64(second - 49)) }
        run.receive(report)
      }
    }
    for second in 80..<Int64(90) {
      for index in 0..<2 {
        var report = Self.report(index, second, room: 1)
        (report.boot, report.number) = (2, UInt64(second - 49))
        run.receive(report)
      }
    }
    #expect(run.fusion.ignored == 0 && run.room == 1 && run.missing == [])
    let change = run.transitions.last
    #expect((Self.start + 20...Self.start + 35).contains(change?.second ?? 0))
  }

  // MARK: Seconds

  /// The seconds that a clock takes from one receiver.
  private func seconds(_ reports: [ReceiverSecond]) -> [Int64] {
    var clock = SiteClock(receivers: 1, patience: 5)
    var seconds: [Int64] = []
    for report in reports {
      let isTaken = clock.receive(report, of: 0)
      #expect(isTaken)
      while let second = clock.next() { seconds.append(second.second - Self.start) }
    }
    return seconds
  }

  private static func report(number: UInt64, at milliseconds: Int64) -> ReceiverSecond {
    ReceiverSecond(
      receiver: "r0", boot: 1, number: number, time: start * 1000 + milliseconds, receptions: [])
  }

  @Test func `reports near the end of a second have a second each`() {
    let times: [Int64] = [998, 2001, 2999, 3998, 5000, 6001, 6999]
    let reports = times.enumerated().map { Self.report(number: UInt64($0 + 1), at: $1) }
    #expect(seconds(reports) == [0, 1, 2, 3, 4, 5, 6])
  }

  @Test func `a clock that drifts by a second skips one second`() {
    // It gains a millisecond each second.
    let reports = (0..<Int64(2000)).map {
      Self.report(number: UInt64($0 + 1), at: 500 + $0 * 1001)
    }
    let seconds = seconds(reports)
    #expect(Set(seconds).count == 2000)
    #expect(seconds.last == 2000 || seconds.last == 2001)
    for (second, report) in zip(seconds, reports) {
      let error = report.time - (Self.start + second) * 1000
      #expect((-800..<1800).contains(error))
    }
  }

  @Test func `the time decides after a gap`() {
    let reports = [
      Self.report(number: 1, at: 500), Self.report(number: 2, at: 1500),
      // Reports were dropped.
      Self.report(number: 5, at: 4600),
      // The machine was suspended.
      Self.report(number: 6, at: 60_700), Self.report(number: 7, at: 61_700),
    ]
    #expect(seconds(reports) == [0, 1, 4, 60, 61])
  }

  // MARK: Long reports

  @Test func `a long report is not one second of many sightings, nor of absence`() {
    for (length, count, isReceived) in [(30.0, 90, true), (30, 5, false), (2, 1, true)] {
      var fusions = (0..<3).map { _ in SiteFusion(Self.models[1]) }
      for second in 0..<Int64(10) {
        for index in fusions.indices {
          var reports = (0..<2).map { Self.report($0, second, room: 0) }
          if second == 9 {
            // A long report; the same as of one second; none.
            reports[0].receptions[0].count = index == 0 ? count : 3
            if index == 0 { reports[0].seconds = length }
            if index == 2 { reports[0].isReceiving = false }
            if index == 2 || index == 1 && !isReceived { reports[0].receptions = [] }
            if index == 1, !isReceived { reports[0].isReceiving = false }
            if index == 1, isReceived { reports[0].receptions[0].count = length == 2 ? 1 : 3 }
          }
          for report in reports { _ = fusions[index].receive(report) }
        }
      }
      let estimates = fusions.map { $0.estimate(of: Self.beacon(1))?.best.probability }
      #expect(estimates[0] == estimates[1])
      #expect((estimates[0] == estimates[2]) == !isReceived)
    }
    // A beacon that a long report does not name was not absent.
    var (long, lost) = (SiteFusion(Self.models[1]), SiteFusion(Self.models[1]))
    for second in 0..<Int64(10) {
      for index in 0..<2 {
        var report = Self.report(index, second, room: 0)
        if second == 9, index == 0 { report.receptions = [] }
        var other = report
        if second == 9, index == 0 {
          report.seconds = 30
          other.isReceiving = false
        }
        _ = long.receive(report)
        _ = lost.receive(other)
      }
    }
    #expect(long.estimate(of: Self.beacon(1)) == lost.estimate(of: Self.beacon(1)))
  }

  // MARK: Beacons

  @Test func `the beacons are bounded within one second too`() {
    var configuration = SiteFusion.Configuration()
    configuration.limit = 100
    var fusion = SiteFusion(Self.models[0], configuration: configuration)
    for second in 0..<Int64(70) {
      var report = Self.report(0, second, room: 0)
      // Not those in the room for a minute, then 50 others, for whom those that have not been
      // received for the longest time go.
      let first = second < 63 ? min(Int(second), 1) * 50 : Int(second) * 50
      report.receptions = (first..<first + 4000).map {
        .init(Self.beacon($0), count: 1, mean: -60)
      }
      _ = fusion.receive(report)
      #expect(fusion.count == 100)
      let beacons = Set(fusion.estimates.map(\.beacon))
      switch second {
      case ..<61: #expect(beacons == Set((0..<100).map(Self.beacon)))
      case 61, 62: #expect(beacons == Set((50..<150).map(Self.beacon)))
      default: break
      }
    }
    #expect(fusion.excess > 3800 * 70)
  }

  @Test func `the state is bounded, and the beacons of least value go first`() {
    var configuration = SiteFusion.Configuration()
    configuration.maximumSize = 100_000
    var fusion = SiteFusion(Self.models[2], configuration: configuration)
    var places = 0
    for second in 0..<Int64(200) {
      for receiver in 0..<3 {
        var report = Self.report(receiver, second, room: 1)
        // Each second has its own strangers, far away. The beacon in the room is received seldom.
        let known = second < 20 || second % 7 == 0 ? report.receptions : []
        let strangers = second < 20 ? 0..<0 : 0..<4000
        report.receptions =
          known
          + strangers.map {
            .init(Self.beacon(4000 * Int(second) + $0 + 10), count: 1, mean: -91)
          }
        for transition in fusion.receive(report)
        where transition.estimate.beacon == Self.beacon(1) {
          places += 1
        }
      }
      #expect(fusion.size <= configuration.maximumSize)
      #expect(fusion.encodedState().count == fusion.size)
    }
    #expect(fusion.count > 10 && fusion.excess > 100_000 && fusion.excessSecond != nil)
    #expect(fusion.estimate(of: Self.beacon(1))?.place == .room("room 1") && places == 1)
  }

  @Test func `a receiver that has not received a beacon takes few bytes of its state`() throws {
    let sizes = try (1...4).map { receivers in
      var fusion = SiteFusion(Self.models[3])
      for second in 0..<Int64(30) {
        for receiver in 0..<4 {
          var report = Self.report(receiver, second, room: 0)
          if receiver >= receivers { report.receptions = [] }
          _ = fusion.receive(report)
        }
      }
      let state = fusion.encodedState()
      #expect(state.count == fusion.size)
      var other = try unsafe SiteFusion(
        Self.models[3], state: state.span.bytes, isSameSite: true)
      #expect(other.encodedState() == state && other.size == fusion.size)
      #expect(other.finish() == fusion.finish())
      let filter = try #require(fusion.beacons[Self.beacon(1)]).filter
      return filter.size - 4 * filter.weights.count
    }
    #expect(sizes == (1...4).map { 72 + 28 * $0 })
  }

  @Test func `reports that wait are bounded by their bytes`() {
    var configuration = SiteFusion.Configuration()
    configuration.maximumSize = 300_000
    var fusion = SiteFusion(Self.models[2], configuration: configuration)
    for second in 0..<Int64(30) {
      // The third receiver reports no more, and is waited for.
      for receiver in 0..<(second < 5 ? 3 : 2) {
        var report = Self.report(receiver, second, room: 1)
        report.receptions += (0..<1000).map { .init(Self.beacon($0 + 2), count: 1, mean: -91) }
        _ = fusion.receive(report)
        #expect(fusion.encodedState().count == fusion.size)
        #expect(fusion.size <= configuration.maximumSize)
      }
    }
    #expect(fusion.second ?? 0 >= Self.start + 27)
    _ = fusion.limit(to: 20_000)
    #expect(fusion.encodedState().count <= 20_000 && fusion.count > 0)
  }

  @Test func `a changed power is taken over, and two powers do not flap`() {
    var changed = SiteFusion(Self.models[1])
    var both = SiteFusion(Self.models[1])
    for second in 0..<Int64(200) {
      for index in 0..<2 {
        var report = Self.report(index, second, room: 0)
        report.receptions[0].measuredPower = second < 20 ? -59 : -70
        _ = changed.receive(report)
        report.receptions[0].measuredPower = second % 20 < 19 ? -70 : -59
        _ = both.receive(report)
      }
      if second == 30 { #expect(changed.measuredPower(of: Self.beacon(1)) == -59) }
    }
    #expect(changed.measuredPower(of: Self.beacon(1)) == -70)
    #expect(changed.estimate(of: Self.beacon(1))?.place == .room("room 0"))
    // It is that of the first report.
    #expect(both.measuredPower(of: Self.beacon(1)) == -70)
  }
}
