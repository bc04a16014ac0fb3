import Advertising
import FleetSites
import Fusion
import Testing

@Suite struct SurveyTests {
  private static let beacon = BeaconIdentity(uuid: SiteSimulator.uuid, major: 0, minor: 7)

  private static func report(
    _ receiver: String, _ mean: Double?, power: Int8? = -59, of beacon: BeaconIdentity = beacon
  ) -> ReceiverSecond {
    ReceiverSecond(
      receiver: receiver, boot: 1, number: 1, time: 0,
      receptions: [.init(beacon, count: 3, mean: mean, measuredPower: power)])
  }

  private static var site: Site {
    Site(
      "flat", rooms: [.init("kitchen"), .init("hall")],
      receivers: [.init("one", room: "kitchen"), .init("two", room: "hall")])
  }

  @Test func isTheMeanOfTheSeconds() {
    var survey = Survey(Self.site)
    for mean in [-60.0, -64, -65.5] {
      survey.receive(Self.report("one", mean), of: Self.beacon, in: "kitchen")
    }
    survey.receive(Self.report("one", -80), of: Self.beacon, in: "hall")
    #expect(
      survey.levels == [
        .init(room: "kitchen", receiver: "one", rssi: -63.2, seconds: 3),
        .init(room: "hall", receiver: "one", rssi: -80, seconds: 1),
      ])
  }

  /// Returns the level of a receiver that receives -90 dBm in some of 40 seconds, beside one that
  /// receives the beacon in `strong` of them.
  private static func level(received: Int, strong: Int = 40) throws -> Double {
    var survey = Survey(site)
    for second in 0..<40 {
      let other = BeaconIdentity(uuid: SiteSimulator.uuid, major: 0, minor: 8)
      survey.receive(
        report("one", -50, of: second < strong ? beacon : other), of: beacon, in: "kitchen")
      survey.receive(
        report("two", -90, of: second < received ? beacon : other), of: beacon, in: "kitchen")
    }
    #expect(survey.absence(in: "kitchen", of: "two") == (received > 0 ? nil : .notReceived))
    return try #require(survey.levels(in: "kitchen").first { $0.receiver == "two" }).rssi
  }

  @Test func countsTheSecondsInWhichTheSignalWasTooWeak() throws {
    let levels = try [40, 30, 20, 10, 1, 0].map { try Self.level(received: $0) }
    print("levels: \(levels)")
    #expect(levels[0] == -90)
    for (stronger, weaker) in zip(levels, levels.dropFirst()) { #expect(weaker <= stronger) }
    #expect(levels[2] < -92 && levels[2] > -98)
    #expect(levels[5] < -100)
    // A beacon that advertises seldom is missing for another reason.
    #expect(try Self.level(received: 20, strong: 20) > levels[2])
  }

  @Test func correctsThePowerOfTheBeacon() {
    var site = Self.site
    site.propagation.measuredPower = -65
    var survey = Survey(site)
    survey.receive(Self.report("one", -70, power: -59), of: Self.beacon, in: "kitchen")
    survey.receive(Self.report("two", -70, power: nil), of: Self.beacon, in: "kitchen")
    #expect(survey.levels.map(\.rssi) == [-76, -70])
  }

  @Test func statesWhatIsMissing() {
    var survey = Survey(Self.site)
    var lost = Self.report("two", -60)
    lost.isReceiving = false
    var long = Self.report("two", -60)
    long.seconds = 30
    let other = BeaconIdentity(uuid: SiteSimulator.uuid, major: 0, minor: 8)
    survey.receive(Self.report("one", -60, of: other), of: Self.beacon, in: "kitchen")
    survey.receive(lost, of: Self.beacon, in: "kitchen")
    survey.receive(long, of: Self.beacon, in: "kitchen")
    #expect(survey.absence(in: "kitchen", of: "one") == .notReceived)
    #expect(survey.absence(in: "kitchen", of: "two") == .notReported)
    // No receiver received the beacon, which may not have been there.
    #expect(survey.levels.isEmpty)
  }

  /// A site whose law and receivers differ from what its file states, and a walk of a quarter of an
  /// hour through its rooms with one beacon of unknown power.
  @Test func makesTheRoomsOfAnotherLawRightMoreOften() {
    let file = Site(planOf: 8)
    var before = RoomScore()
    var after = RoomScore()
    for seed in 1...3 as ClosedRange<UInt64> {
      var real = file
      real.propagation.exponent = 3.2
      for index in real.receivers.indices {
        real.receivers[index].offset = (index + Int(seed)) % 3 == 0 ? 6 : index % 2 == 0 ? -6 : 0
      }
      var walk = SiteSimulator.Configuration()
      walk.beacons = 1
      walk.stay = 5
      walk.seed = seed
      var simulator = SiteSimulator(real, walk)
      var survey = Survey(file)
      for _ in 0..<900 {
        let second = simulator.next()
        for (beacon, room) in second.truth {
          for report in second.reports { survey.receive(report, of: beacon, in: room) }
        }
      }
      var surveyed = file
      surveyed.levels = survey.levels
      var others = SiteSimulator.Configuration()
      others.beacons = 20
      others.seed = seed + 100
      before.merge(SimulatedSiteTests.scores(file, real: real, others, seconds: 200).fusion)
      after.merge(SimulatedSiteTests.scores(surveyed, real: real, others, seconds: 200).fusion)
    }
    print(
      "right \(before.rightShare), surveyed \(after.rightShare); wrong \(before.wrongShare), "
        + "surveyed \(after.wrongShare); calibration error \(before.expectedCalibrationError), "
        + "surveyed \(after.expectedCalibrationError)")
    #expect(after.rightShare > before.rightShare + 0.03)
    #expect(after.wrongShare < before.wrongShare * 0.8)
    #expect(after.expectedCalibrationError < before.expectedCalibrationError)
  }

  private static let file = """
    # The flat of the tests.
    name = "flat"
    [[rooms]]
    name = "kitchen"  # with the "kiosk"
    [[levels]]
    room = "kitchen"
    seconds = 12      # short
    rssi = -61        # before the move
    receiver = "one"

    [[rooms]]
    name = "Anna's \\"hall\\""
    [[receivers]]
    name = "one"
    room = "kitchen"
    [[receivers]]
    name = "two"
    room = "kitchen"
    [signal]
    exponent = 2  # the end
    """

  @Test(arguments: ["", "\n"])
  func setsLevelsAndKeepsTheRest(_ end: String) throws {
    let text = Self.file + end
    let levels: [Site.Level] = [
      .init(room: "kitchen", receiver: "one", rssi: -70.25, seconds: 30),
      .init(room: "Anna's \"hall\"", receiver: "two", rssi: -80, seconds: 29),
    ]
    let edited = try SiteFile.bytes(Array(text.utf8), setting: levels)
    #expect(
      String(decoding: edited, as: UTF8.self)
        == Self.file.replacing("seconds = 12 ", with: "seconds = 30 ")
        .replacing("rssi = -61 ", with: "rssi = -70.25 ") + """


          [[levels]]
          room = "Anna's \\"hall\\""
          receiver = "two"
          rssi = -80.0
          seconds = 29

          """)
    #expect(try Site(parsing: edited).levels == levels)
    #expect(try SiteFile.bytes(edited, setting: levels) == edited)
    #expect(try SiteFile.bytes(Array(text.utf8), setting: []) == Array(text.utf8))
  }

  /// A receiver that had a level in an earlier walk, and did not report in this one, has none.
  @Test func replacesAllLevelsOfTheRoom() throws {
    let text =
      Self.file + """


        [[levels]]
        room = "Anna's \\"hall\\""
        receiver = "one"
        rssi = -71
        seconds = 10
        [[levels]]
        room = "kitchen"
        receiver = "two"  # now in the hall
        rssi = -72
        seconds = 10  # too few

        # The end.
        """
    let levels: [Site.Level] = [
      .init(room: "kitchen", receiver: "one", rssi: -70.25, seconds: 30)
    ]
    let edited = try SiteFile.bytes(Array(text.utf8), setting: levels)
    #expect(
      String(decoding: edited, as: UTF8.self)
        == Self.file.replacing("seconds = 12 ", with: "seconds = 30 ")
        .replacing("rssi = -61 ", with: "rssi = -70.25 ") + """


          [[levels]]
          room = "Anna's \\"hall\\""
          receiver = "one"
          rssi = -71
          seconds = 10

          # The end.
          """)
  }

  @Test func refusesLevelsOfRoomsThatTheFileDoesNotHave() {
    #expect(throws: SiteFileError.self) {
      try SiteFile.bytes(
        Array(Self.file.utf8),
        setting: [.init(room: "cellar", receiver: "one", rssi: -70, seconds: 30)])
    }
  }
}
