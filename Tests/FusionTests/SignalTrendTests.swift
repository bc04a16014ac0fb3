import Advertising
import Testing

@testable import Fusion

@Suite struct SignalTrendTests {
  private func beacon(_ number: Int) -> BeaconIdentity {
    BeaconIdentity(
      uuid: ProximityUUID(high: 1, low: 2), major: 3, minor: UInt16(truncatingIfNeeded: number))
  }

  private func flat(offset: Double = 0) -> Site {
    Site(
      "flat", rooms: [Site.Room("hall")],
      receivers: [Site.Receiver("a", room: "hall", offset: offset)])
  }

  private func hall(_ receiver: Int = 0) -> SignalTrend.Place {
    SignalTrend.Place(room: 1, receiver: receiver)
  }

  @Test func thePlacesOfATrendAreBounded() {
    var trend = SignalTrend(second: 0)
    for minute in 0..<1000 {
      trend.add(-60, at: hall(minute % 3), second: Int64(minute))
      if minute >= 10 { trend.add(-60, at: hall(minute), second: Int64(minute)) }
    }
    #expect(trend.references.count == SignalTrend.maximumReferences)
    // Those with the most minutes stay.
    let places = Set(trend.references.map(\.place))
    #expect(places.isSuperset(of: [hall(0), hall(1), hall(2), hall(999)]))
    #expect(abs(trend.loss) < 0.01)
  }

  @Test func aLossThatStaysBecomesTheUsual() {
    var trend = SignalTrend(second: 0)
    for _ in 0..<20_000 { trend.add(-60, at: hall(), second: 0) }
    for _ in 0..<1440 * 3 { trend.add(-70, at: hall(), second: 0) }
    #expect(trend.isFading && (7...10).contains(trend.loss))
    for _ in 0..<1440 * 60 { trend.add(-70, at: hall(), second: 0) }
    #expect(!trend.isFading)
  }

  @Test func theTrendsOfASiteAreBounded() {
    var trends = SignalTrends(of: 1, maximumSize: 4200)
    for number in 0..<1000 {
      trends.add(-60, of: beacon(number), at: hall(), second: Int64(number))
    }
    trends.trim(second: 1000)
    #expect(trends.size <= 4200 && trends.size > 4100)
    var bytes = StateWriter()
    trends.encode(into: &bytes)
    #expect(bytes.bytes.count == trends.size)
    // The newest ones are kept.
    for number in 0..<1000 { if number < 900 { trends.forget(beacon(number)) } }
    #expect(trends.size > 4100)
    trends.trim(second: 31 * 86_400)
    #expect(trends.size == 12)
  }

  /// Strangers pass by.
  @Test func aBeaconThatLeavesIsKeptIfItWasThereForLong() {
    var trends = SignalTrends(of: 1, maximumSize: 100_000)
    for minute in 0..<59 as Range<Int64> {
      trends.add(-60, of: beacon(1), at: hall(), second: minute * 60)
    }
    let size = trends.size
    trends.leave(beacon(1))
    #expect(trends.size == 12)
    for minute in 0..<60 as Range<Int64> {
      trends.add(-60, of: beacon(1), at: hall(), second: minute * 60)
    }
    trends.leave(beacon(1))
    #expect(trends.size == size)
  }

  /// Names of beacons and other things in the site file are no reason to forget trends.
  @Test func onlyAnotherModelForgetsTrends() throws {
    var fusion = SiteFusion(SiteModel(flat()))
    fusion.trends.add(-60, of: beacon(1), at: hall(), second: 0)
    let (state, size) = (fusion.encodedState(), fusion.trends.size)
    #expect(size > 12)
    for offset in [0, 3] as [Double] {
      let read = try unsafe SiteFusion(
        SiteModel(flat(offset: offset)), state: state.span.bytes, isSameSite: false)
      #expect(read.trends.size == (offset == 0 ? size : 12))
    }
  }

  @Test func aStateOfTheVersionBeforeIsRead() throws {
    let site = flat()
    var fusion = SiteFusion(SiteModel(site))
    for second in 1...20 as ClosedRange<Int64> {
      _ = fusion.receive(
        ReceiverSecond(
          receiver: "a", boot: 1, number: UInt64(second), time: second * 1000,
          receptions: [.init(beacon(1), count: 3, mean: -60)]))
    }
    // Each receiver has 20 bytes more since then, after 32 bytes of the clock, and each beacon the
    // eight of its threshold, after five numbers.
    func former(_ fusion: SiteFusion) throws -> [UInt8] {
      var state = fusion.encodedState()
      let filter = try #require(fusion.beacons[beacon(1)]).filter
      let threshold = state.count - fusion.trends.size - filter.size + 20
      state.removeSubrange(threshold..<threshold + 8)
      let names = site.receivers.map(\.name.utf8.count)
      let first = names.reduce(5) { $0 + 2 + $1 } + 32
      for index in names.indices {
        let end = first + 124 * (index + 1)
        state.removeSubrange(end..<end + 20)
      }
      state[0] -= 1
      return state
    }
    let state = try former(fusion)
    let read = try unsafe SiteFusion(SiteModel(site), state: state.span.bytes, isSameSite: true)
    #expect(try former(read) == state)
    #expect(read.count == 1)
  }
}
