import TestSupport
import Testing

@testable import BrokerLink

@Suite struct ReconnectDelayTests {
  /// The delays of a link as it is configured by default.
  private var delays: ReconnectDelay {
    ReconnectDelay(BrokerConfiguration(host: "localhost").reconnectDelay)
  }

  private static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

  @Test func `a broker that is away is tried less and less often, up to a bound`() {
    var delays = delays
    let waits = (1...7).map { _ in Self.seconds(delays.next(afterConnectionOf: 0, jitter: 1)) }
    #expect(waits == [1, 2, 4, 8, 15, 15, 15])
  }

  @Test(arguments: UInt64(0)..<20)
  func `a broker that flaps is away for 15 s at most once it is up`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var delays = delays
    for _ in 0..<1000 {
      // It ends connections after less than 30 s, or refuses them.
      let lasted = Double(random.next() % 30)
      let jitter = 0.75 + 0.25 * Double(random.next() % 1001) / 1000
      #expect(ReconnectDelay.jitter.contains(jitter))
      let wait = Self.seconds(delays.next(afterConnectionOf: lasted, jitter: jitter))
      #expect(wait > 0.7 && wait <= 15)
    }
  }

  @Test func `after a connection that lasted, the shortest delay comes first`() {
    var delays = delays
    for _ in 1...5 { _ = delays.next(afterConnectionOf: 29, jitter: 1) }
    #expect(Self.seconds(delays.next(afterConnectionOf: 29, jitter: 1)) == 15)
    #expect(Self.seconds(delays.next(afterConnectionOf: 30, jitter: 1)) == 1)
  }
}
