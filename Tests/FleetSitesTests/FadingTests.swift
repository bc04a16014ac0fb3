import Advertising
import FleetSites
import Fusion
import Testing

/// A beacon whose battery fades is found, and one that is only elsewhere is not.
@Suite struct FadingTests {
  /// What the receivers of a site report of its only beacon.
  private struct Source {
    private var simulator: SiteSimulator

    static let beacon = BeaconIdentity(uuid: SiteSimulator.uuid, major: 0, minor: 0)
    static let site = Site(planOf: 4, name: "museum")

    /// A beacon that stays in a room for so many seconds.
    init(stay: Double = 1e9, seed: UInt64) {
      var configuration = SiteSimulator.Configuration()
      configuration.beacons = 1
      configuration.stay = stay
      configuration.seed = seed
      configuration.power = 0
      simulator = SiteSimulator(Self.site, configuration)
    }

    /// Returns the reports of a second, in which each receiver has the beacon weaker by some dB.
    mutating func next(
      _ second: Int64, weaker loss: (_ receiver: String) -> Double
    ) -> [ReceiverSecond] {
      simulator.next().reports.map { report in
        var report = report
        let loss = loss(report.receiver)
        (report.number, report.time) = (UInt64(second), second * 1000)
        report.receptions = report.receptions.compactMap { reception in
          guard let mean = reception.mean, mean - loss > Self.site.propagation.sensitivity else {
            return nil
          }
          var weaker = reception
          weaker.mean = mean - loss
          return weaker
        }
        return report
      }
    }
  }

  /// A fusion whose days have 2,880 seconds.
  private struct Run {
    static let day = 2880.0
    private var fusion = SiteFusion(SiteModel(Source.site), configuration: configuration)
    private var second: Int64 = 0

    private static var configuration: SiteFusion.Configuration {
      var configuration = SiteFusion.Configuration()
      configuration.trendInterval = 2
      return configuration
    }

    var fading: Double? { fusion.estimate(of: Source.beacon)?.fading }
    var place: Whereabouts? { fusion.estimate(of: Source.beacon)?.place }

    /// Processes seconds, and returns the greatest fading in them.
    mutating func pass(
      _ seconds: Double, _ source: inout Source, weaker loss: (String) -> Double = { _ in 0 },
      without missing: String? = nil
    ) -> Double? {
      var greatest: Double?
      for _ in 0..<Int(seconds) {
        second += 1
        for report in source.next(second, weaker: loss) where report.receiver != missing {
          _ = fusion.receive(report)
        }
        if let fading { greatest = max(greatest ?? 0, fading) }
      }
      return greatest
    }

    /// Goes on as the next worker does, or after a change of the site's file.
    mutating func restart(isSameSite: Bool) throws {
      fusion = try unsafe SiteFusion(
        SiteModel(Source.site), configuration: Self.configuration,
        state: fusion.encodedState().span.bytes, isSameSite: isSameSite)
    }
  }

  /// One that is carried from room to room needs more days to know them.
  @Test(arguments: [(1e9, 2), (300, 4)])
  func aBeaconWhoseBatteryFadesIsFound(stay: Double, days: Double) throws {
    var source = Source(stay: stay, seed: 3)
    var run = Run()
    #expect(run.pass(days * Run.day, &source) == nil)
    #expect(run.pass(2 * Run.day, &source) { _ in 12 } ?? 0 > 6)
    for isSameSite in [true, false] {
      try run.restart(isSameSite: isSameSite)
      #expect(run.pass(30, &source) { _ in 12 } ?? 0 > 6)
    }
    // It is away for longer than its room is remembered.
    _ = run.pass(4000, &source) { _ in 200 }
    #expect(run.place == nil)
    #expect(run.pass(60, &source) { _ in 12 } ?? 0 > 6)
    // It has a new battery.
    _ = run.pass(2 * Run.day, &source)
    #expect(run.fading == nil)
  }

  /// In the other room it stands behind something.
  @Test func aBeaconThatIsMovedToAnotherRoomDoesNotFade() {
    var (first, second) = (Source(seed: 3), Source(seed: 7))
    var run = Run()
    #expect(run.pass(2 * Run.day, &first) == nil)
    let place = run.place
    #expect(run.pass(2 * Run.day, &second) { _ in 12 } == nil)
    #expect(place == .room("room 3") && run.place == .room("room 2"))
  }

  /// The other receivers have it weaker, by something that the site file does not have.
  @Test func aBeaconWhoseReceiverFailsDoesNotFade() throws {
    var source = Source(seed: 3)
    var run = Run()
    func loss(_ receiver: String) -> Double { receiver == "receiver-3" ? 0 : 10 }
    #expect(run.pass(2 * Run.day, &source, weaker: loss) == nil)
    #expect(run.place == .room("room 3"))
    #expect(run.pass(2 * Run.day, &source, weaker: loss, without: "receiver-3") == nil)
    #expect(run.pass(Run.day / 2, &source, weaker: loss) == nil)
  }
}
