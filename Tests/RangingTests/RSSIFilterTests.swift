import TestSupport
import Testing

@testable import Ranging

@Suite struct RSSIFilterTests {
  @Test func isSmallAndTriviallyCopyable() {
    func copies<T: BitwiseCopyable>(_: T) -> Int { MemoryLayout<T>.size }
    #expect(copies(RSSIFilter()) <= 224)
  }

  @Test func startsWithNothing() {
    var filter = RSSIFilter()
    #expect(filter.count == 0 && filter.mean == 0 && filter.interval <= 1e-6)
    #expect(filter.variance == .greatestFiniteMagnitude)
    filter.update(rssi: -60, at: 5)
    #expect(filter.count == 1 && filter.mean == -60 && filter.lastTime == 5)
    #expect(filter.variance > 4 && filter.variance < 100)
  }

  @Test(arguments: [0.1, 0.2, 1, 10])
  func learnsTheInterval(seconds: Double) {
    var filter = RSSIFilter()
    for index in 0..<40 { filter.update(rssi: -60, at: nanoseconds(Double(index) * seconds)) }
    #expect((Double(filter.interval) - seconds).magnitude < 0.01 * seconds)
  }

  @Test func learnsANewInterval() {
    var filter = RSSIFilter()
    for index in 0..<100 { filter.update(rssi: -60, at: nanoseconds(Double(index) * 0.1)) }
    for index in 0..<60 { filter.update(rssi: -60, at: nanoseconds(10 + Double(index) * 10)) }
    #expect((filter.interval - 10).magnitude < 1, "\(filter.interval)")
    for index in 0..<200 { filter.update(rssi: -60, at: nanoseconds(610 + Double(index) * 0.1)) }
    #expect((filter.interval - 0.1).magnitude < 0.02, "\(filter.interval)")
  }

  /// One event heard on three channels: no channel may drown the others.
  @Test func threeChannelsCountAlike() {
    var filter = RSSIFilter()
    var random = SplitMix64(seed: 9)
    for event in 0..<300 {
      for (channel, offset) in [-3.0, 0, 3].enumerated() {
        let time = Double(event) * 0.1 + Double(channel) * 0.001
        filter.update(
          rssi: Float((-70 + offset + random.normal()).rounded()), at: nanoseconds(time))
      }
    }
    #expect((filter.mean + 70).magnitude < 2, "\(filter.mean)")
    #expect((filter.interval - 1 / 30).magnitude < 0.02, "\(filter.interval)")
  }

  @Test func aTimeThatIsNotLaterIsTheSameInstant() {
    var filter = RSSIFilter()
    filter.update(rssi: -60, at: 1000)
    filter.update(rssi: -60, at: 1000)
    filter.update(rssi: -60, at: -5)
    filter.update(rssi: -60, at: .min)
    #expect(filter.lastTime == 1000 && filter.count == 4 && filter.interval <= 1e-6)
    filter.update(rssi: -60, at: .max)
    #expect(filter.lastTime == .max && filter.mean == -60)
  }

  @Test func silenceForgetsTheSignalButNotTheBeacon() {
    var filter = RSSIFilter()
    for index in 0..<600 { filter.update(rssi: -90, at: nanoseconds(Double(index) * 0.1)) }
    filter.update(rssi: -50, at: nanoseconds(120))
    #expect(filter.mean == -50)
    #expect(filter.interval < 0.2)
    var slow = RSSIFilter()
    for index in 0..<30 { slow.update(rssi: -90, at: nanoseconds(Double(index) * 10)) }
    slow.update(rssi: -80, at: nanoseconds(350))
    #expect(slow.mean < -85, "six lost packets of a slow beacon are no silence")
  }

  @Test func dipsDoNotPullTheMean() {
    var filter = RSSIFilter()
    var random = SplitMix64(seed: 3)
    for index in 0..<600 {
      let dip = index % 12 == 11 ? 20.0 : 0
      let rssi = Float((-65 - dip + 2 * random.normal()).rounded())
      filter.update(rssi: rssi, at: nanoseconds(Double(index) * 0.1))
      if index > 60 { #expect((filter.mean + 65).magnitude < 3, "packet \(index)") }
    }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity, -129, 128, .greatestFiniteMagnitude])
  func whatIsNoSignalIsNotHeard(rssi: Float) {
    var filter = RSSIFilter()
    filter.update(rssi: -60, at: 0)
    let before = filter
    filter.update(rssi: rssi, at: 1_000_000_000)
    #expect(filter == before)
  }

  /// Seeds 0..<200: any signal, any gap.
  @Test func neverLeavesTheNumbers() {
    for seed in 0..<200 {
      var random = SplitMix64(seed: UInt64(seed))
      var filter = RSSIFilter()
      var time: Int64 = seed % 2 == 0 ? .min : 0
      for _ in 0..<2000 {
        let gap = Int64(truncatingIfNeeded: random.next() >> UInt64(random.next() % 64))
        time = time.addingReportingOverflow(gap).partialValue
        let rssi = Float(-128 + 255 * random.uniform())
        filter.update(rssi: rssi, at: time)
        let (mean, variance) = (filter.mean, filter.variance)
        let fine =
          mean >= -128.01 && mean <= 127.01 && variance > 0 && variance.isFinite
          && filter.interval.isFinite && filter.interval >= 0
        #expect(fine, "seed \(seed): \(filter)")
        if !fine { return }
      }
    }
  }

  /// Pairs of packets with gaps of hours, where the variances of jumps are as great as they get.
  @Test(arguments: [0..<20])
  func gapsOfHoursKeepTheNumbers(seeds: Range<Int>) {
    let law = SignalLaw(levelAtOneMeter: -59, exponent: 8, shadowing: 4.5)
    for seed in seeds {
      var random = SplitMix64(seed: UInt64(seed))
      var filter = RSSIFilter()
      var time = 0.0
      for _ in 0..<300 {
        time += 7200 * random.uniform(0.5, 1.5)
        filter.update(rssi: -55, at: nanoseconds(time), law: law)
        filter.update(rssi: -55, at: nanoseconds(time + 1e-7 * random.uniform()), law: law)
        #expect(filter.mean.isFinite && filter.variance.isFinite, "seed \(seed)")
        if !filter.mean.isFinite { break }
      }
    }
  }

  /// No calibration makes the filter leave the numbers.
  @Test(arguments: [Double.nan, .infinity, 0, 1e300, 4.5], [-1e300, -100, -59, -1, .nan])
  func anyLawKeepsTheNumbers(shadowing: Double, power: Double) {
    for exponent in [0.5, 2, 8, .nan] {
      let law = SignalLaw(levelAtOneMeter: power, exponent: exponent, shadowing: shadowing)
      var random = SplitMix64(seed: 1)
      var filter = RSSIFilter()
      for index in 0..<2000 {
        let rssi = Float(-128 + 255 * random.uniform())
        filter.update(rssi: rssi, at: nanoseconds(Double(index) * random.uniform()), law: law)
      }
      let level = filter.distanceLevel(at: nanoseconds(3000), law: law)
      #expect(filter.mean.isFinite && filter.variance.isFinite && filter.variance > 0)
      #expect(level.mean.isFinite && level.variance.isFinite && level.variance >= 0)
    }
  }

  /// A second of packets that all came at the same instant, and then many more: none are lost.
  @Test func packetsOfOneInstantCount() {
    var filter = RSSIFilter()
    for index in 0..<100_000 { filter.update(rssi: index % 2 == 0 ? -60 : -70, at: 0) }
    #expect((filter.mean + 65).magnitude < 0.5, "\(filter.mean)")
  }

  /// A beacon that is received a hundred times a second reaches the maximum in 500 days.
  @Test func theNumbersStopAtTheirMaximum() {
    var filter = RSSIFilter()
    for index in 0..<40 { filter.update(rssi: -60, at: nanoseconds(Double(index) * 0.1)) }
    filter.received = .max
    filter.measurements = .max
    for index in 40..<80 { filter.update(rssi: -60, at: nanoseconds(Double(index) * 0.1)) }
    #expect(filter.received == .max && filter.measurements == .max)
    #expect((filter.mean + 60).magnitude < 0.1, "\(filter.mean)")
  }

  @Test func sameInputSameState() {
    func run() -> RSSIFilter {
      var radio = Radio(.harsh, seed: 11)
      var filter = RSSIFilter()
      for index in 0..<2000 {
        guard let rssi = radio.packet(after: 0.1, mean: -70) else { continue }
        filter.update(rssi: rssi, at: nanoseconds(Double(index) * 0.1))
      }
      return filter
    }
    #expect(run() == run())
  }
}
