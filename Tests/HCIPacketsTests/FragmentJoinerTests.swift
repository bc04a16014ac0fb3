import Advertising
import HCIPackets
import TestSupport
import Testing

/// Long adverts in parts.
@Suite struct FragmentJoinerTests {
  private static let more: UInt16 = 1 << 5
  private static let truncated: UInt16 = 2 << 5
  private static let second: Int64 = 1_000_000_000

  /// A joiner, and what it gave.
  struct Joining: ~Copyable {
    var joiner = FragmentJoiner()
    var adverts: [Heard.Item] = []

    /// Gives it the reports of one event.
    mutating func hear(_ reports: Report..., adapter: UInt16 = 0, at time: Int64 = 0) {
      let event = Event.extended(reports)
      guard var walk = unsafe AdvertisingEvent(event.span.bytes) else { return }
      while true {
        do throws(Refusal) {
          guard let fragment = try walk.nextFragment() else { return }
          if let advert = Self.join(fragment, &joiner, adapter, time) { adverts.append(advert) }
        } catch {
          return
        }
      }
    }

    var data: [[UInt8]] { adverts.map(\.data) }

    private static func join(
      _ fragment: AdvertisingFragment, _ joiner: inout FragmentJoiner, _ adapter: UInt16,
      _ time: Int64
    ) -> Heard.Item? {
      guard let report = joiner.join(fragment, adapter: adapter, at: time) else { return nil }
      return Heard.Item(report)
    }
  }

  private func part(
    _ value: UInt8, status: UInt16 = more, count: Int = 3, sender: UInt8 = 1, set: UInt8 = 0,
    rssi: Int8 = -50, kind: UInt16 = 0
  ) -> Report {
    Report(
      eventType: status | kind, address: [sender, 0, 0, 0, 0, 0xC0], set: set, rssi: rssi,
      data: [UInt8](repeating: value, count: count))
  }

  @Test func wholeReportsPassThrough() {
    var joining = Joining()
    joining.hear(part(1, status: 0), part(2, status: 0))
    #expect(joining.data == [[1, 1, 1], [2, 2, 2]])
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 0)
  }

  @Test(arguments: 2...8)
  func partsAreJoinedInOrder(count: Int) {
    var joining = Joining()
    for index in 1..<count {
      joining.hear(part(UInt8(index), rssi: -Int8(index)))
      let (isPending, adverts) = (joining.joiner.isPending, joining.adverts)
      #expect(isPending && adverts.isEmpty)
    }
    joining.hear(part(UInt8(count), status: 0, rssi: -70))
    #expect(joining.data == [(1...count).flatMap { [UInt8](repeating: UInt8($0), count: 3) }])
    #expect(joining.adverts.map(\.rssi) == [-70])
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 0)
  }

  /// A part without signal strength does not take away what another part had.
  @Test func signalOfAnyPart() {
    var joining = Joining()
    joining.hear(part(1, rssi: -60), part(2, rssi: 127), part(3, status: 0, rssi: 127))
    joining.hear(part(1, rssi: 127), part(2, status: 0, rssi: 127))
    #expect(joining.adverts.map(\.rssi) == [-60, nil])
  }

  /// Parts of different advertisers, sets, kinds and adapters, and whole adverts between them.
  @Test func interleaved() {
    var joining = Joining()
    joining.hear(part(1), part(2, sender: 2), part(3, set: 1), part(4, kind: 1))
    joining.hear(part(5), adapter: 1)
    joining.hear(part(6, status: 0, sender: 9))
    joining.hear(part(10, status: 0), part(20, status: 0, sender: 2))
    joining.hear(part(50, status: 0), adapter: 1)
    joining.hear(part(30, status: 0, set: 1), part(40, status: 0, kind: 1))
    #expect(joining.data.map(\.first) == [6, 1, 2, 5, 3, 4])
    #expect(joining.data.map(\.last) == [6, 10, 20, 50, 30, 40])
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 0)
  }

  /// 1,650 bytes are the most; one more gives the advert up.
  @Test(arguments: [1649, 1650, 1651, 1800])
  func longest(count: Int) {
    var joining = Joining()
    var left = count
    while left > 0 {
      let size = min(left, 200)
      left -= size
      joining.hear(part(7, status: left == 0 ? 0 : Self.more, count: size))
    }
    let lost = joining.joiner.lost
    if count <= 1650 {
      #expect(joining.data == [[UInt8](repeating: 7, count: count)] && lost == 0)
    } else {
      #expect(lost >= 1)
      #expect(joining.data.allSatisfy { $0.count < 1650 })
    }
  }

  @Test func mostPending() {
    var joining = Joining()
    for sender in 1...20 as ClosedRange<UInt8> { joining.hear(part(sender, sender: sender)) }
    let lostByThen = joining.joiner.lost
    #expect(lostByThen == 4)
    for sender in 5...20 as ClosedRange<UInt8> {
      joining.hear(part(sender, status: 0, sender: sender))
    }
    #expect(joining.data.map(\.count) == [Int](repeating: 6, count: 16))
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 4)
  }

  @Test(arguments: [(1_000_000_000, true), (1_000_000_001, false), (Int64.max, false)])
  func oldPartsAreGivenUp(wait: Int64, isJoined: Bool) {
    for start in [0, 5, -7] as [Int64] {
      guard !start.addingReportingOverflow(wait).overflow else { continue }
      var joining = Joining()
      joining.hear(part(1), at: start)
      joining.hear(part(2, status: 0), at: start + wait)
      #expect(joining.data == [isJoined ? [1, 1, 1, 2, 2, 2] : [2, 2, 2]])
      let lost = joining.joiner.lost
      #expect(lost == (isJoined ? 0 : 1))
    }
  }

  /// Nothing more will come: what is pending is lost, and counted once.
  @Test func theEnd() {
    var joining = Joining()
    joining.hear(part(1), part(2, sender: 2), part(3, sender: 3))
    joining.joiner.giveUpAll()
    joining.joiner.giveUpAll()
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 3)
    joining.hear(part(4, status: 0))
    #expect(joining.data == [[4, 4, 4]])
  }

  /// The age counts from the first part: a slow trickle does not keep an advert for ever.
  @Test func trickle() {
    var joining = Joining()
    for tenth in 0...11 as ClosedRange<Int64> {
      joining.hear(part(1), at: tenth * Self.second / 10)
    }
    let lost = joining.joiner.lost
    #expect(lost == 1)
  }

  @Test(arguments: [2, 3] as [UInt16])
  func truncatedIsLost(status: UInt16) {
    var joining = Joining()
    joining.hear(part(1), part(2, status: status << 5))
    joining.hear(part(3, status: 0))
    joining.hear(part(4, status: status << 5))
    #expect(joining.data == [[3, 3, 3]])
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost == 2)
  }

  /// Whatever comes, memory is bounded and every advert is accounted for.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func randomParts(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var joining = Joining()
    var time: Int64 = 0
    var last = 0
    for _ in 0..<500 {
      time += Int64(random.next() % 200_000_000)
      let statuses = [Self.more, Self.more, 0, Self.truncated]
      let status = statuses[Int(random.next() % 4)]
      joining.hear(
        part(
          1, status: status, count: Int(random.next() % 229), sender: UInt8(random.next() % 24)),
        adapter: UInt16(random.next() % 2), at: time)
      if status != Self.more { last += 1 }
    }
    #expect(joining.data.allSatisfy { $0.count <= 1650 }, "seed \(seed)")
    #expect(joining.adverts.count <= last, "seed \(seed)")
    let lostByThen = joining.joiner.lost
    joining.hear(part(1, status: 0, sender: 99), at: time + 2 * Self.second)
    let (isPending, lost) = (joining.joiner.isPending, joining.joiner.lost)
    #expect(!isPending && lost - lostByThen <= 16, "seed \(seed)")
  }
}
