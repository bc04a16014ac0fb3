import Advertising
import Clocks
import FleetEngine
import FleetPicture
import FleetReports
import FleetSites
import Foundation
import Fusion
import Synchronization
import TestSupport
import Testing

@testable import FleetWork

/// A shard of simulated sites, without the engine.
@Suite struct SiteShardTests {
  private let scratch: Scratch
  private let library: SiteLibrary

  init() throws {
    scratch = try Scratch()
    try scratch.write(Array(Site(planOf: 4, name: "museum").toml.utf8), "museum.toml")
    library = SiteLibrary(SiteDirectory(scratch.folder.path))
  }

  private static let number = FleetTopic.shard(ofSite: "museum")

  private func shard(state: [UInt8]? = nil) throws -> SiteShard {
    try SiteShard(shard: Self.number, state: state, context: library)
  }

  /// The reports of a site's receivers in the order in which they come.
  private static func reports(
    seconds: Int, beacons: Int = 6, stay: Double = 20, faults: Double = 0, seed: UInt64 = 1
  ) -> [ReceiverReport] {
    var configuration = SiteSimulator.Configuration()
    configuration.beacons = beacons
    configuration.faults = faults
    configuration.stay = stay
    configuration.seed = seed
    var simulator = SiteSimulator(Site(planOf: 4, name: "museum"), configuration)
    return (0..<seconds).flatMap { _ in
      simulator.next().reports.map { report(of: $0, site: "museum") }
    }
  }

  /// Seconds count from 2026-01-01.
  static func report(of second: ReceiverSecond, site: String) -> ReceiverReport {
    ReceiverReport(
      site: site, receiver: second.receiver, boot: second.boot, number: Int(second.number),
      time: WallClockTime(second: 1_767_225_600 + second.second),
      reception: second.isReceiving ? .receiving : .lost("the adapter is off"),
      beacons: second.receptions.map { reception in
        ReceiverReport.Beacon(
          reception.beacon, sightings: reception.count,
          signal: reception.mean.map {
            ReceiverReport.Signal(
              mean: $0, variance: 0, maximum: Int8(max(-127, min(20, $0.rounded(.up)))))
          }, measuredPower: reception.measuredPower ?? -59)
      })
  }

  private static func key(_ report: ReceiverReport) -> String {
    FleetTopic.routingKey(ofSite: report.site, receiver: report.receiver)
  }

  private static func pictures(_ messages: [FleetMessage]) throws -> [SitePicture] {
    try messages.filter { $0.stream == .pictures }.map { try SitePicture(json: $0.body) }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func aWorkerThatTakesOverGoesOnAsIfNothingHappened(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let reports = Self.reports(seconds: 90, faults: 0.1, seed: seed)
    var whole = try shard()
    var parts = try shard()
    var transitions = 0
    for report in reports {
      let expected = whole.process(report.json, routingKey: Self.key(report))
        .filter { $0.stream == .transitions }
      let actual = parts.process(report.json, routingKey: Self.key(report))
        .filter { $0.stream == .transitions }
      #expect(actual == expected)
      transitions += actual.count
      if Int.random(in: 0..<20, using: &random) == 0 {
        parts = try shard(state: parts.encodedState())
        #expect(parts.encodedState() == whole.encodedState())
      }
    }
    #expect(transitions > 10)

    // Beacons that are forgotten leave their rooms, also right after the change of workers.
    var later = reports.suffix(4).map { report in
      var report = report
      report.time = WallClockTime(nanoseconds: report.time.nanoseconds + 7200 * 1_000_000_000)
      report.number += 10_000
      report.beacons = []
      return report
    }
    later += later.map { report in
      var report = report
      report.time = WallClockTime(nanoseconds: report.time.nanoseconds + 1_000_000_000)
      report.number += 1
      return report
    }
    parts = try shard(state: parts.encodedState())
    var forgotten = 0
    for report in later {
      let expected = whole.process(report.json, routingKey: Self.key(report))
        .filter { $0.stream == .transitions }
      let actual = parts.process(report.json, routingKey: Self.key(report))
        .filter { $0.stream == .transitions }
      #expect(actual == expected)
      forgotten += expected.count
    }
    #expect(forgotten > 0)
  }

  @Test func repeatsAreIgnored() throws {
    let reports = Self.reports(seconds: 40)
    var shard = try shard()
    let once = reports.flatMap { shard.process($0.json, routingKey: Self.key($0)) }
      .filter { $0.stream == .transitions }
    let state = shard.encodedState()
    for report in reports.suffix(40) {
      #expect(
        shard.process(report.json, routingKey: Self.key(report))
          .allSatisfy { $0.stream == .pictures })
    }
    #expect(shard.encodedState() == state)
    #expect(Set(once.map(\.id)).count == once.count)
  }

  @Test func aPictureHasTheReceiversAndTheBeacons() throws {
    let reports = Self.reports(seconds: 60)
    var shard = try shard()
    var pictures: [SitePicture] = []
    for report in reports where report.receiver != "receiver-2" {
      pictures += try Self.pictures(shard.process(report.json, routingKey: Self.key(report)))
    }
    let last = try #require(pictures.last)
    #expect(last.site == "museum" && last.parts == 1 && last.fault == nil)
    #expect(last.receivers.map(\.name) == (1...4).map { "receiver-\($0)" })
    #expect(last.receivers.map(\.isMissing) == [false, true, false, false])
    #expect(last.receivers[1].lastReport == nil && last.receivers[0].lastReport != nil)
    #expect(last.beacons.count == 6)
    #expect(last.beacons.contains { $0.room != nil && $0.probability > 0.75 && $0.x != nil })
    // Every two seconds.
    #expect((25...35).contains(pictures.count))
  }

  @Test func aReceiverSpeaksForItselfOnly() throws {
    let reports = Self.reports(seconds: 30)
    var shard = try shard()
    var pictures: [SitePicture] = []
    for report in reports {
      let messages = shard.process(report.json, routingKey: Self.key(report))
      pictures += try Self.pictures(messages)
      // With the credentials of receiver-3 someone writes reports of receiver-1, and of another site.
      var forged = report
      forged.beacons = []
      forged.number += 1000
      for site in ["museum", "bank"] where report.receiver == "receiver-1" {
        forged.site = site
        let key = FleetTopic.routingKey(ofSite: "museum", receiver: "receiver-3")
        #expect(shard.process(forged.json, routingKey: key).isEmpty)
      }
    }
    var honest = try self.shard()
    for report in reports { _ = honest.process(report.json, routingKey: Self.key(report)) }
    #expect(shard.encodedState() == honest.encodedState())
    #expect(
      pictures.contains {
        $0.receivers[2].refusal?.contains("receiver-1") == true && $0.ignored > 0
      })
  }

  @Test func whatIsNotAReportIsCountedAndNamed() throws {
    var shard = try shard()
    let key = FleetTopic.routingKey(ofSite: "museum", receiver: "receiver-3")
    // No other report has come that could be shown.
    let first = try Self.pictures(shard.process(Array("{".utf8), routingKey: key))
    #expect(first.map { $0.receivers[2].refusal?.contains("JSON") } == [true])
    #expect(first.first?.receivers.allSatisfy(\.isMissing) == true)
    #expect(shard.process(Array("{".utf8), routingKey: key).isEmpty, "not with each report")
    for key in ["", "fleet.44.museum", "fleet.44.museum.a.b.seen", "fleet.44..a.seen", "a.b.c.d.e"]
    {
      #expect(shard.process([0xFF], routingKey: key).isEmpty)
    }
    var pictures: [SitePicture] = []
    for report in Self.reports(seconds: 10) where report.receiver != "receiver-3" {
      pictures += try Self.pictures(shard.process(report.json, routingKey: Self.key(report)))
    }
    #expect(pictures.last?.receivers[2].refusal?.contains("JSON") == true)
  }

  /// Otherwise it would be called silent.
  @Test(arguments: [false, true])
  func aSiteThatWorkedAndIsRefusedNowIsShown(isTakenOver: Bool) throws {
    let time = Mutex(MonotonicTime.now)
    let library = SiteLibrary(SiteDirectory(scratch.folder.path)) { time.withLock { $0 } }
    func pass(_ seconds: Double) { time.withLock { $0 = $0.advanced(bySeconds: seconds) } }
    var shard = try SiteShard(shard: Self.number, state: nil, context: library)
    let reports = Self.reports(seconds: 20)
    for report in reports { _ = shard.process(report.json, routingKey: Self.key(report)) }
    if isTakenOver {
      shard = try SiteShard(shard: Self.number, state: shard.encodedState(), context: library)
    }
    let key = FleetTopic.routingKey(ofSite: "museum", receiver: "receiver-3")
    func refused() throws -> [SitePicture] {
      try Self.pictures(shard.process(Array("{".utf8), routingKey: key))
    }
    pass(9.9)
    #expect(try refused().isEmpty, "another receiver may report")
    pass(0.2)
    let pictures = try refused()
    #expect(pictures.map { $0.receivers[2].refusal?.contains("JSON") } == [true])
    #expect(pictures.first?.receivers.allSatisfy(\.isMissing) == true)
    #expect(try refused().isEmpty, "not with each report")
    pass(10)
    #expect(try refused().count == 1)
    // A refusal is shown for a minute.
    let next = Self.reports(seconds: 30).dropFirst(reports.count)
    func last(_ reports: some Sequence<ReceiverReport>) throws -> SitePicture? {
      try Self.pictures(
        reports.flatMap { shard.process($0.json, routingKey: Self.key($0)) }
      ).last
    }
    let soon = try #require(try last(next.prefix(20)))
    #expect(soon.receivers[2].refusal != nil)
    pass(60)
    let late = try #require(try last(next.dropFirst(20)))
    #expect(late.receivers[2].refusal == nil)
  }

  /// Each report looks at it, and a shard may have thousands of receivers.
  @Test func theSizeOfTheStatesFollowsThem() throws {
    let other = try #require(
      (0..<20_000).map { "site-\($0)" }
        .first { FleetTopic.shard(ofSite: $0) == Self.number })
    try scratch.write(Array(Site(planOf: 4, name: other).toml.utf8), "other.toml")
    library.refresh()
    var shard = try shard()
    for (index, original) in Self.reports(seconds: 40).enumerated() {
      if index == 80 {
        try FileManager.default.removeItem(atPath: scratch["other.toml"])
        library.refresh()
      }
      for site in ["museum", other] {
        var report = original
        report.site = site
        _ = shard.process(report.json, routingKey: Self.key(report))
        if index % 7 == 0 {
          #expect(try self.shard(state: shard.encodedState()).size == shard.size)
        }
      }
    }
    #expect(shard.size > 1000)
  }

  @Test func aSiteWithoutAFileIsShownWithThatFault() throws {
    var shard = try shard()
    let names = (0..<20_000).map { "site-\($0)" }
      .filter { FleetTopic.shard(ofSite: $0) == Self.number }
    #expect(names.count > 150)
    let report = ReceiverReport(
      site: names[0], receiver: "door", boot: 1, number: 1,
      time: WallClockTime(second: 1_767_225_600))
    let messages = shard.process(report.json, routingKey: Self.key(report))
    let picture = try #require(try Self.pictures(messages).first)
    #expect(picture.site == names[0] && picture.strangers == ["door"])
    #expect(picture.fault?.contains(names[0]) == true)
    // Not with each report, and not without bound.
    #expect(shard.process(report.json, routingKey: Self.key(report)).isEmpty)
    for name in names.dropLast() {
      var report = report
      report.site = name
      _ = shard.process(report.json, routingKey: Self.key(report))
    }
    var other = report
    other.site = names[names.count - 1]
    #expect(shard.process(other.json, routingKey: Self.key(other)).isEmpty)
    #expect(shard.encodedState().count < 10)
  }

  @Test func aChangedFileKeepsTheRoomsOfBeacons() throws {
    let reports = Self.reports(seconds: 60, stay: 1e9)
    var shard = try shard()
    var rooms: [String: String] = [:]
    for report in reports.prefix(4 * 40) {
      for message in shard.process(report.json, routingKey: Self.key(report))
      where message.stream == .transitions {
        let change = try RoomChange(json: message.body)
        rooms[change.beacon] = change.room
      }
    }
    #expect(rooms.count >= 4)
    let text = Site(planOf: 4, name: "museum").toml + "\n[signal]\nexponent = 2.6\n"
    try scratch.write(Array(text.utf8), "museum.toml")
    #expect(library.refresh())
    // The next seconds are computed with the new file, and all beacons lie.
    var changes = 0
    for report in reports.dropFirst(4 * 40).prefix(4 * 2) {
      changes +=
        shard.process(report.json, routingKey: Self.key(report))
        .filter { $0.stream == .transitions }.count
    }
    #expect(changes <= 1)
  }

  /// An editor replaces a file, and the worker reads the directory in between.
  @Test(arguments: [10.0, 4000]) func aMissingFileKeepsTheStateForAnHour(seconds: Double) throws {
    let time = Mutex(MonotonicTime.now)
    let library = SiteLibrary(SiteDirectory(scratch.folder.path)) { time.withLock { $0 } }
    let reports = Self.reports(seconds: 60, stay: 1e9)
    var shard = try SiteShard(shard: Self.number, state: nil, context: library)
    var whole = shard
    func process(_ report: ReceiverReport, _ shard: inout SiteShard) throws -> [FleetMessage] {
      shard.process(report.json, routingKey: Self.key(report)).filter { $0.stream == .transitions }
    }
    for report in reports.prefix(4 * 40) {
      #expect(try process(report, &shard) == process(report, &whole))
    }
    let bytes = try scratch.bytes("museum.toml")
    try FileManager.default.removeItem(atPath: scratch["museum.toml"])
    #expect(library.refresh())
    for report in reports.dropFirst(4 * 40).prefix(4) {
      #expect(try process(report, &shard).isEmpty)
      // Another worker takes the shard.
      shard = try SiteShard(
        shard: Self.number, state: shard.encodedState(), context: library)
    }
    time.withLock { $0 = $0.advanced(bySeconds: seconds) }
    #expect(try process(reports[4 * 41], &shard).isEmpty)
    #expect((shard.encodedState().count > 1000) == (seconds < 3600))
    try scratch.write(bytes, "museum.toml")
    #expect(library.refresh())
    var transitions = 0
    for report in reports.dropFirst(4 * 42) {
      transitions += try process(report, &shard).count
    }
    // All beacons lie, and each has a room already.
    #expect(seconds < 3600 ? transitions <= 1 : transitions >= 3)
  }

  @Test func beaconsLeaveARoomThatTheFileHasNoMore() throws {
    let reports = Self.reports(seconds: 60, stay: 1e9)
    var shard = try shard()
    var rooms: [String: String] = [:]
    func take(_ messages: [FleetMessage]) throws -> [RoomChange] {
      let changes = try messages.filter { $0.stream == .transitions }
        .map { try RoomChange(json: $0.body) }
      for change in changes {
        #expect(change.former == rooms[change.beacon])
        rooms[change.beacon] = change.room
      }
      return changes
    }
    for report in reports.prefix(4 * 40) {
      _ = try take(shard.process(report.json, routingKey: Self.key(report)))
    }
    let room = try #require(rooms.values.first { $0 != "corridor" })
    let left = Set(rooms.filter { $0.value == room }.keys)
    let text = Site(planOf: 4, name: "museum").toml.replacing("\"\(room)\"", with: "\"bar\"")
    try scratch.write(Array(text.utf8), "museum.toml")
    #expect(library.refresh())
    var changes: [RoomChange] = []
    for report in reports.dropFirst(4 * 40) {
      changes += try take(shard.process(report.json, routingKey: Self.key(report)))
      shard = try self.shard(state: shard.encodedState())
    }
    #expect(Set(changes.filter { $0.former == room }.map(\.beacon)) == left)
    #expect(!rooms.values.contains(room))
    #expect(left.contains { rooms[$0] == "bar" })
  }

  /// A receiver invents beacons. The engine refuses a state that is too large.
  @Test func theStateOfAShardIsBounded() throws {
    let other = try #require(
      (0..<20_000).map { "site-\($0)" }
        .first { FleetTopic.shard(ofSite: $0) == Self.number })
    try scratch.write(Array(Site(planOf: 4, name: other).toml.utf8), "other.toml")
    library.refresh()
    let most = 300_000
    var shard = try SiteShard(
      shard: Self.number, state: nil, context: library, maximumSize: most)
    var honest = try self.shard()
    var largest = 0
    var faults: Set<String> = []
    var (changes, expected): ([RoomChange], [RoomChange]) = ([], [])
    for (index, original) in Self.reports(seconds: 60).enumerated() {
      for site in ["museum", other] {
        var report = original
        report.site = site
        expected += try honest.process(report.json, routingKey: Self.key(report))
          .filter { $0.stream == .transitions }.map { try RoomChange(json: $0.body) }
        // First one site, then the other one too.
        if report.receiver == "receiver-1", index > (site == "museum" ? 80 : 120) {
          report.beacons += (0..<500).map { beacon in
            ReceiverReport.Beacon(
              BeaconIdentity(
                uuid: SiteSimulator.uuid, major: UInt16(index), minor: UInt16(beacon)),
              sightings: 1, signal: .init(mean: -90, variance: 0, maximum: -90),
              measuredPower: -59)
          }
        }
        let messages = shard.process(report.json, routingKey: Self.key(report))
        for picture in try Self.pictures(messages) {
          if picture.fault?.contains("too many beacons") == true { faults.insert(picture.site) }
        }
        for message in messages where message.stream == .transitions {
          let change = try RoomChange(json: message.body)
          #expect(message.routingKey == change.site)
          changes.append(change)
        }
        largest = max(largest, shard.encodedState().count)
      }
    }
    #expect(largest <= most && largest > most / 2)
    #expect(faults == ["museum", other])
    // The beacons that had a room before are as without the others.
    let carried = Set(
      expected.filter { $0.second ?? 0 < 1_767_225_600 + 20 }.map(\.beacon))
    #expect(carried.count == 5)
    #expect(
      changes.filter { carried.contains($0.beacon) }
        == expected.filter { carried.contains($0.beacon) })
  }

  @Test func aReportOnTheTopicOfAnotherShardIsNotTaken() throws {
    var shard = try shard()
    let before = shard.encodedState()
    for report in Self.reports(seconds: 5) {
      let key = Self.key(report).replacing(".21.", with: ".22.")
      #expect(key != Self.key(report))
      var other = try SiteShard(shard: 22, state: nil, context: library)
      #expect(other.process(report.json, routingKey: key).isEmpty)
      #expect(other.encodedState() == before)
      _ = shard.process(report.json, routingKey: Self.key(report))
    }
    #expect(shard.encodedState() != before)
  }

  @Test func anUnreadableStateIsRefused() throws {
    var good = try shard()
    for report in Self.reports(seconds: 20) {
      _ = good.process(report.json, routingKey: Self.key(report))
    }
    let state = good.encodedState()
    #expect(throws: (any Error).self) { try shard(state: [9]) }
    #expect(throws: (any Error).self) { try shard(state: Array(state.dropLast())) }
    var random = SplitMix64(seed: 7)
    for _ in 0..<300 {
      var broken = state
      broken[Int.random(in: 0..<broken.count, using: &random)] ^= UInt8.random(
        in: 1...255, using: &random)
      // It may be read or refused, and never traps.
      guard var shard = try? shard(state: broken) else { continue }
      for report in Self.reports(seconds: 21).suffix(8) {
        _ = shard.process(report.json, routingKey: Self.key(report))
      }
    }
  }
}
