import Clocks
import FleetPicture
import FleetSites
import Fusion
import Testing

@testable import FleetPage

@Suite struct FleetStateTests {
  private func kinds(_ events: [FleetState.Event]) -> [String] {
    events.compactMap {
      guard case .alarm(let alarm, let isActive) = $0 else { return nil }
      return "\(isActive ? "+" : "-")\(alarm.kind) \(alarm.subject)"
    }
  }

  @Test func reportsAReceiverThatFallsSilent() {
    var fleet = FleetState()
    let noon = Values.noon
    #expect(
      fleet.receive(Values.picture(at: noon, [Values.receiver("one", reported: noon)])).isEmpty)
    let silent = Values.receiver("one", reported: noon, isMissing: true)
    #expect(fleet.receive(Values.picture(at: noon + 60, [silent])).isEmpty)
    #expect(
      kinds(fleet.receive(Values.picture(at: noon + 61, [silent]))) == ["+receiverSilent one"])
    #expect(fleet.receive(Values.picture(at: noon + 90, [silent])).isEmpty)
    #expect(fleet.alarms.map(\.since) == [Seconds.text(noon)])
    let again = Values.receiver("one", reported: noon + 92)
    #expect(kinds(fleet.receive(Values.picture(at: noon + 92, [again]))) == ["-receiverSilent one"])
  }

  @Test func reportsAReceiverThatNeverReported() {
    var fleet = FleetState()
    let missing = Values.receiver("one", reported: nil, isMissing: true)
    #expect(fleet.receive(Values.picture(at: Values.noon, [missing])).isEmpty)
    let events = fleet.receive(Values.picture(at: Values.noon + 61, [missing]))
    #expect(kinds(events) == ["+receiverSilent one"])
  }

  @Test(arguments: [nil, Values.noon - 100])
  func reportsTheRefusalAndNotTheSilence(reported: Int64?) {
    var fleet = FleetState()
    var receiver = Values.receiver("one", reported: reported, isMissing: true)
    receiver.refusal = "it is not JSON"
    _ = fleet.receive(Values.picture(at: Values.noon, [receiver]))
    _ = fleet.receive(Values.picture(at: Values.noon + 90, [receiver]))
    #expect(fleet.alarms.map(\.kind) == [.reportRefused])
  }

  @Test func reportsAConfigurationThatIsNotUsed() throws {
    var fleet = FleetState()
    fleet.set(try Values.file(""))
    fleet.set(wanted: ["one": "a"], of: Values.site)
    var receiver = Values.receiver("one", reported: Values.noon)
    receiver.configuration = .init(version: "b", refused: "a", reason: "no")
    let events = fleet.receive(Values.picture(at: Values.noon, [receiver]))
    #expect(kinds(events) == ["+configurationRefused one"])
    #expect(
      fleet.alarms.map(\.sentence) == ["The receiver does not use the configuration a: no"])
    // It is to have another one now.
    fleet.set(wanted: ["one": "c"], of: Values.site)
    let later = fleet.receive(Values.picture(at: Values.noon + 2, [receiver]))
    #expect(kinds(later) == ["-configurationRefused one"])
  }

  @Test func reportsAConfigurationThatIsNotTaken() throws {
    var fleet = FleetState()
    fleet.set(try Values.file(""))
    fleet.set(wanted: ["one": "a", "two": "a"], of: Values.site)
    fleet.set(untaken: ["one", "two"], of: Values.site)
    var receivers = ["one", "two"].map { Values.receiver($0, reported: Values.noon) }
    receivers[1].configuration = .init(trial: "a")
    let events = fleet.receive(Values.picture(at: Values.noon, receivers))
    #expect(kinds(events) == ["+configurationNotTaken one", "+configurationNotTaken two"])
    #expect(
      fleet.alarms.map(\.sentence) == [
        "The receiver reports, and has not taken the configuration a for ten minutes; permit it to "
          + "read its topic of configurations, at a broker of the site too.",
        "The receiver has tried the configuration a for ten minutes; its log has the reason.",
      ])
    // They end with the picture, before the sender knows it.
    receivers[0].configuration = .init(refused: "a", reason: "no")
    receivers[1].configuration = .init(version: "a")
    let later = fleet.receive(Values.picture(at: Values.noon + 2, receivers))
    #expect(
      kinds(later) == [
        "-configurationNotTaken one", "-configurationNotTaken two", "+configurationRefused one",
      ])
    receivers[0] = Values.receiver("one", reported: Values.noon, isMissing: true)
    _ = fleet.receive(Values.picture(at: Values.noon + 4, receivers))
    #expect(fleet.alarms.isEmpty)
  }

  @Test func reportsFaultsOfReceivers() {
    var fleet = FleetState()
    let receivers = [
      Values.receiver("one", reported: Values.noon, lost: "The adapter is off."),
      Values.receiver("two", reported: Values.noon, clock: -3.5),
      Values.receiver("three", reported: Values.noon, clock: 1.9),
    ]
    let events = fleet.receive(
      Values.picture(at: Values.noon, receivers, strangers: ["nine"]))
    #expect(kinds(events) == ["+clockDifference two", "+receptionLost one", "+stranger nine"])
    #expect(fleet.alarms.contains { $0.sentence == "The adapter is off." })
    #expect(fleet.alarms.contains { $0.sentence.contains("3.5 s behind") })
  }

  @Test(arguments: [
    ("kitchen", false, []), ("hall", false, ["+beaconOutsideRooms \(Values.beacon(1))"]),
    (nil, true, ["+beaconOutsideRooms \(Values.beacon(1))"]), (nil, false, []),
  ])
  func reportsABeaconOutsideItsRooms(
    _ room: String?, _ isOutside: Bool, _ expected: [String]
  ) throws {
    var fleet = FleetState()
    fleet.set(
      try Values.file(
        "[[beacons]]\nbeacon = \"\(Values.beacon(1))\"\nname = \"Crate\"\nrooms = [\"kitchen\"]"))
    let beacon = Values.sighting(1, in: room, since: Values.noon - 5, isOutside: isOutside)
    let events = fleet.receive(Values.picture(at: Values.noon, [], [beacon]))
    #expect(kinds(events) == expected)
    if !expected.isEmpty {
      #expect(fleet.alarms.first?.sentence.hasPrefix("Crate is ") == true)
      #expect(fleet.alarms.first?.since == Seconds.text(Values.noon - 5))
    }
  }

  @Test func reportsASignalThatFades() throws {
    var fleet = FleetState()
    fleet.set(
      try Values.file("[[beacons]]\nbeacon = \"\(Values.beacon(1))\"\nname = \"Crate\""))
    var beacons = [1, 2].map { Values.sighting($0, in: "hall", since: Values.noon) }
    beacons[0].fading = 9.4
    #expect(
      kinds(fleet.receive(Values.picture(at: Values.noon, [], beacons)))
        == ["+signalFading \(Values.beacon(1))"])
    #expect(fleet.alarms.map(\.name) == ["Crate"])
    #expect(fleet.alarms.first?.sentence.hasPrefix("Crate is received 9 dB weaker") == true)
    beacons[0].fading = nil
    #expect(
      kinds(fleet.receive(Values.picture(at: Values.noon + 2, [], beacons)))
        == ["-signalFading \(Values.beacon(1))"])
  }

  @Test func reportsASiteThatFallsSilent() {
    let hub = connectedHub()
    receive(Values.noon, hub, at: 5)
    #expect(looks(hub, 6...65).isEmpty)
    #expect(looks(hub, 66...70) == ["siteSilent flat"])
    #expect(hub.alarms.map(\.since) == [Seconds.text(Values.noon)])
    receive(Values.noon + 70, hub, at: 71)
    #expect(hub.alarms.isEmpty)
  }

  /// A site of which nothing has come since this service began.
  @Test func reportsASiteThatIsSilentFromTheBeginning() throws {
    let hub = connectedHub()
    hub.set(try Values.file())
    #expect(looks(hub, 1...61).isEmpty)
    #expect(looks(hub, 62...62) == ["siteSilent flat"])
  }

  /// The pictures of some minutes ago come one after the other.
  @Test func reportsNoSilenceWhileABacklogIsRead() {
    let hub = connectedHub()
    for second in 1...100 as ClosedRange<Int64> {
      receive(Values.noon + second * 3, hub, at: second)
      #expect(looks(hub, second...second).isEmpty)
    }
  }

  @Test func reportsTheLostEngineAndNotItsSites() {
    let hub = connectedHub()
    receive(Values.noon, hub, at: 5)
    hub.set(fault: "the node is away", at: Self.time(20))
    #expect(looks(hub, 20...29).isEmpty)
    #expect(looks(hub, 30...300) == ["engineLost engine"])
    #expect(hub.alarms.first?.sentence.contains("the node is away") == true)
    hub.set(fault: nil, at: Self.time(301))
    #expect(looks(hub, 301...361).isEmpty)
    #expect(looks(hub, 362...362) == ["siteSilent flat"])
    // It is still silent when the engine is lost once more.
    hub.set(fault: "the node is away", at: Self.time(363))
    #expect(looks(hub, 364...380) == ["engineLost engine", "siteSilent flat"])
  }

  @Test func removesASiteWhoseFileIsGone() throws {
    let hub = connectedHub()
    hub.set(try Values.file())
    receive(picture: Values.picture(at: Values.noon, [], [], strangers: ["nine"]), hub, at: 1)
    hub.receive(change: Values.change(1, nil, "hall", at: Values.noon).json)
    let place = hub.end(before: 0, of: "flat")
    hub.removeFiles(except: ["flat"])
    #expect(hub.alarms.count == 1)
    hub.removeFiles(except: [])
    #expect(hub.sites.isEmpty && hub.alarms.isEmpty)
    #expect(hub.hasNews(after: place, of: "flat"))
    // The worker has not seen it yet.
    receive(Values.noon + 2, hub, at: 3)
    #expect(hub.sites.map(\.name) == ["flat"])
    #expect(looks(hub, 4...70).isEmpty)
    #expect(hub.sites.isEmpty, "it is not silent, but gone")
    hub.set(try Values.file())
    #expect(looks(hub, 71...140) == ["siteSilent flat"])
  }

  /// The changes of a day are read after a restart, also those of a site that has left since then.
  @Test func removesASiteThatOnlyChangesName() {
    let hub = connectedHub()
    hub.receive(change: Values.change(1, nil, "hall", at: Values.noon).json)
    #expect(hub.sites.count == 1)
    #expect(looks(hub, 1...70).isEmpty && hub.sites.isEmpty)
  }

  @Test func forgetsTheNumbersOfSitesThatAreGone() throws {
    let hub = connectedHub()
    for number in 0..<100 {
      var picture = Values.picture(at: Values.noon, [], [], strangers: ["nine"])
      picture.site = "site-\(number)"
      receive(picture: picture, hub, at: 1)
    }
    hub.set(try Values.file())
    receive(Values.noon, hub, at: 1)
    #expect(hub.numberedSites.count == 101)
    for number in 0..<100 {
      hub.set(try Values.file(named: "site-\(number)"))
    }
    hub.removeFiles(except: ["flat"])
    _ = looks(hub, 2...2)
    #expect(hub.numberedSites == ["flat"])
  }

  /// Home Assistant then has its receivers and beacons, and loses those of former files.
  @Test func knowsThePlacesOfASiteThatHasNeverReported() throws {
    let hub = connectedHub()
    hub.set(try Values.file())
    _ = looks(hub, 1...60)
    #expect(hub.places["flat"]?.receivers == nil, "a picture may come")
    _ = looks(hub, 61...62)
    let receivers = hub.places["flat"]?.receivers
    #expect(receivers?.map(\.name) == ["one", "two"])
    #expect(receivers?.allSatisfy(\.isMissing) == true)
    #expect(hub.places["flat"]?.isCurrent == false)
  }

  @Test func reportsNoSilenceAfterItsOwnStandstill() {
    let hub = connectedHub()
    receive(Values.noon, hub, at: 1)
    #expect(looks(hub, 1...2).isEmpty)
    #expect(looks(hub, 500...560).isEmpty)
    #expect(looks(hub, 561...561) == ["siteSilent flat"])
  }

  private static func time(_ second: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: second * 1_000_000_000)
  }

  private func connectedHub() -> FleetHub {
    let hub = FleetHub { _, _ in [] }
    hub.set(fault: nil, at: Self.time(0))
    return hub
  }

  private func receive(_ second: Int64, _ hub: FleetHub, at arrival: Int64) {
    receive(picture: Values.picture(at: second), hub, at: arrival)
  }

  private func receive(picture: SitePicture, _ hub: FleetHub, at arrival: Int64) {
    hub.receive(picture: picture.json, at: Self.time(arrival))
  }

  /// Looks for silence each second, and returns the alarms in the end.
  private func looks(_ hub: FleetHub, _ seconds: ClosedRange<Int64>) -> [String] {
    for second in seconds { hub.lookForSilence(at: Self.time(second)) }
    return hub.alarms.map { "\($0.kind) \($0.subject)" }
  }

  @Test func joinsTheParts() {
    var fleet = FleetState()
    func part(_ number: Int, _ second: Int64) -> SitePicture {
      Values.picture(
        at: second, [], [Values.sighting(number, in: "hall", since: second)], part: number,
        parts: 2)
    }
    _ = fleet.receive(part(0, Values.noon))
    #expect(fleet.sites["flat"]?.second == nil)
    // The other part of the first picture is lost.
    _ = fleet.receive(part(1, Values.noon + 2))
    #expect(fleet.sites["flat"]?.second == nil)
    _ = fleet.receive(part(0, Values.noon + 2))
    #expect(fleet.sites["flat"]?.beacons.count == 2)
  }

  @Test func goesOnAfterAClockWasSetBack() {
    var fleet = FleetState()
    let (late, early) = (Values.noon + 10_000_000, Values.noon)
    _ = fleet.receive(Values.picture(at: late))
    _ = fleet.receive(Values.change(1, nil, "hall", at: late))
    _ = fleet.receive(
      Values.picture(at: early, [], [Values.sighting(1, in: "hall", since: early - 5)]))
    #expect(fleet.sites["flat"]?.second == early)
    let change = Values.change(1, "hall", "kitchen", at: early + 1)
    #expect(fleet.receive(change, now: early + 1) == [.change(change)])
    #expect(fleet.sites["flat"]?.beacons[Values.beacon(1)]?.room == "kitchen")
    #expect(fleet.sites["flat"]?.log.moves(from: early, to: early + 9).count == 1)
  }

  /// Names have at most 64 characters of 4 bytes, and a site has at most 256 receivers.
  @Test func aMessageHasLessThanAMebibyte() {
    let (room, sentence) = (String(repeating: "😀", count: 64), String(repeating: "x", count: 500))
    var beacon = Values.sighting(65_535, in: room, since: Values.noon)
    beacon.runnerUp = room
    (beacon.probability, beacon.bestProbability, beacon.runnerUpProbability) = (0.123, 0.123, 0.123)
    (beacon.x, beacon.y) = (-1234.567, -1234.567)
    var receiver = Values.receiver(
      String(repeating: "x", count: 64), reported: Values.noon, lost: sentence, clock: -123_456)
    receiver.refusal = sentence
    let stranger = String(repeating: "x", count: 64)
    let picture = Values.picture(
      at: Values.noon, Array(repeating: receiver, count: Site.maximumReceivers),
      Array(repeating: beacon, count: SitePicture.maximumBeacons),
      strangers: Array(repeating: stranger, count: 100), part: 63, parts: 64)
    #expect(picture.json.count < 1 << 20)
  }

  @Test func takesTheBeaconsOfALargeSite() {
    var fleet = FleetState()
    let (size, count) = (SitePicture.maximumBeacons, 2 * SiteFile.maximumBeacons)
    for part in 0..<(count / size) {
      let beacons = (part * size..<(part + 1) * size).map {
        Values.sighting($0, in: "hall", since: Values.noon)
      }
      _ = fleet.receive(
        Values.picture(at: Values.noon, [], beacons, part: part, parts: count / size))
    }
    #expect(fleet.sites["flat"]?.beacons.count == SiteFile.maximumBeacons)
    #expect(fleet.sites["flat"]?.beacons[Values.beacon(0)] != nil, "the first ones")
  }

  @Test func takesAChangeOnce() {
    var fleet = FleetState()
    let change = Values.change(1, nil, "hall", at: Values.noon)
    #expect(fleet.receive(change) == [.change(change)])
    #expect(fleet.receive(change).isEmpty)
    #expect(fleet.tally.changes == 1)
    #expect(fleet.tally.ignored == 1)
  }

  @Test func aChangeIsNewerThanThePictureBeforeIt() {
    var fleet = FleetState()
    let beacon = Values.sighting(1, in: "hall", since: Values.noon - 100)
    _ = fleet.receive(Values.picture(at: Values.noon, [], [beacon]))
    _ = fleet.receive(Values.change(1, "hall", "kitchen", at: Values.noon - 1))
    #expect(fleet.sites["flat"]?.beacons[Values.beacon(1)]?.room == "hall")
    _ = fleet.receive(Values.change(1, "hall", "kitchen", at: Values.noon + 1))
    #expect(fleet.sites["flat"]?.beacons[Values.beacon(1)]?.room == "kitchen")
    #expect(fleet.sites["flat"]?.counts == ["kitchen": 1])
  }

  @Test func keepsAtMostItsLimits() throws {
    var limits = FleetState.Limits()
    limits.sites = 2
    limits.changesOfSite = 10
    limits.changes = 15
    limits.age = 100
    var fleet = FleetState(limits: limits)
    for number in 0..<30 {
      _ = fleet.receive(
        Values.change(number, nil, "hall", at: Values.noon + Int64(number), site: "one"))
      _ = fleet.receive(
        Values.change(number, nil, "hall", at: Values.noon + Int64(number), site: "two"))
      _ = fleet.receive(
        Values.change(number, nil, "hall", at: Values.noon + Int64(number), site: "three"))
    }
    #expect(fleet.sites.count == 2)
    let counts = fleet.sites.values.map(\.log.count)
    #expect(counts.allSatisfy { $0 <= 10 })
    #expect(counts.reduce(0, +) <= 15)
    #expect(fleet.sites["two"]?.log.newest == Values.noon + 29)
    _ = fleet.receive(Values.change(1, nil, "hall", at: Values.noon + 1000, site: "one"))
    #expect(fleet.sites["one"]?.log.count == 1, "the others are too old")
  }

  @Test func ordersLateChanges() throws {
    var log = ChangeLog()
    for second in [3, 1, 2, 5, 4] as [Int64] {
      let move = try #require(Move(Values.change(Int(second), nil, "hall", at: second)))
      let isNew = log.add(move)
      let isRepeated = !log.add(move)
      #expect(isNew && isRepeated)
    }
    #expect(log.moves(from: 2, to: 5).map(\.second) == [2, 3, 4])
    #expect(log.moves(from: 5, to: 2).isEmpty)
  }

  @Test(arguments: [
    ("{}", "{\"id\":\"x\"}"), ("[1]", ""),
    (
      "{\"site\":\"flat\",\"time\":\"x\",\"part\":0,\"parts\":1,\"receivers\":[],\"beacons\":[],"
        + "\"strangers\":[],\"ignored\":0}", "null"
    ),
  ])
  func ignoresWhatItCannotRead(_ picture: String, _ change: String) {
    let hub = FleetHub { _, _ in [] }
    hub.receive(picture: Array(picture.utf8))
    hub.receive(change: Array(change.utf8))
    #expect(hub.tally.ignored == 2)
    #expect(hub.sites.isEmpty)
  }
}
