import Advertising
import TestSupport
import Testing

/// Events that are cut, or whose lengths lie.
@Suite struct DamagedEventTests {
  private static let reports = [
    Report(rssi: -40, data: [0x02, 0x01, 0x06]), Report(rssi: -50, data: []),
    Report(rssi: -60, data: [UInt8](repeating: 0x11, count: 31)),
  ]

  /// The reports before the cut stand; the cut one is refused.
  @Test(arguments: [true, false])
  func everyPrefix(extended: Bool) {
    let event = extended ? Event.extended(Self.reports) : Event.legacy(Self.reports)
    let sizes = Self.reports.map { extended ? $0.extendedBytes.count : $0.legacyBytes.count }
    // Before its kind is told it may be any event.
    for cut in 0..<3 { #expect(Heard(Array(event.prefix(cut))) == nil) }
    for cut in 3..<event.count {
      var whole = 0
      while whole < 3, 4 + sizes.prefix(whole + 1).reduce(0, +) <= cut { whole += 1 }
      let items = Self.reports.prefix(whole).map { Heard.Item($0, extended: extended) }
      #expect(
        Heard(Array(event.prefix(cut))) == Heard(items: items, refusal: .truncatedPacket),
        "cut at \(cut)")
    }
  }

  /// Parameter_Total_Length says less than the reports need.
  @Test(arguments: [true, false])
  func everyShorterLength(extended: Bool) {
    let event = extended ? Event.extended(Self.reports) : Event.legacy(Self.reports)
    let sizes = Self.reports.map { extended ? $0.extendedBytes.count : $0.legacyBytes.count }
    for length in 0..<(event.count - 2) {
      var lying = event
      lying[1] = UInt8(length)
      var whole = 0
      while whole < 3, 2 + sizes.prefix(whole + 1).reduce(0, +) <= length { whole += 1 }
      let items = Self.reports.prefix(whole).map { Heard.Item($0, extended: extended) }
      #expect(
        Heard(lying) == Heard(items: items, refusal: .malformedPacket), "length \(length)")
    }
  }

  /// An event that is over before Num_Reports: by what was captured of it, or by its own length.
  @Test(arguments: [0x02, 0x0D] as [UInt8])
  func noNumReports(subevent: UInt8) {
    #expect(Heard([0x3E, 0x0C, subevent]) == Heard(items: [], refusal: .truncatedPacket))
    #expect(Heard([0x3E, 0x01, subevent]) == Heard(items: [], refusal: .malformedPacket))
    #expect(Heard([0x3E, 0x00, subevent]) == Heard(items: [], refusal: .malformedPacket))
  }

  /// Of another kind, or of none that is told: nothing that is to be counted.
  @Test(
    arguments: [[], [0x3E], [0x3E, 0x0C], [0x3E, 0x0C, 0x01], [0x0E, 0x04, 0x02]] as [[UInt8]])
  func shortAndOfAnotherKind(event: [UInt8]) {
    #expect(Heard(event) == nil)
  }

  /// Parameter_Total_Length says more than there is: what is there whole is taken.
  @Test(arguments: [true, false])
  func longerLength(extended: Bool) {
    var event = extended ? Event.extended(Self.reports) : Event.legacy(Self.reports)
    event[1] += 1
    let items = Self.reports.map { Heard.Item($0, extended: extended) }
    #expect(Heard(event) == Heard(items: items))
  }

  /// Num_Reports says more than there are.
  @Test(arguments: [true, false], [4, 255] as [UInt8])
  func moreReportsThanThereAre(extended: Bool, count: UInt8) {
    let event =
      extended
      ? Event.extended(Self.reports, count: count) : Event.legacy(Self.reports, count: count)
    let items = Self.reports.map { Heard.Item($0, extended: extended) }
    #expect(Heard(event) == Heard(items: items, refusal: .malformedPacket))
  }

  /// Num_Reports says fewer: no more are read.
  @Test(arguments: [true, false], [0, 1, 2] as [UInt8])
  func fewerReportsThanThereAre(extended: Bool, count: UInt8) {
    let event =
      extended
      ? Event.extended(Self.reports, count: count) : Event.legacy(Self.reports, count: count)
    let items = Self.reports.prefix(Int(count)).map { Heard.Item($0, extended: extended) }
    #expect(Heard(event) == Heard(items: items))
  }

  /// Every value of a report's own Data_Length.
  @Test(arguments: [true, false])
  func everyDataLength(extended: Bool) {
    let report = Report(data: [UInt8](repeating: 0x22, count: 9))
    let event = extended ? Event.extended([report]) : Event.legacy([report])
    let place = extended ? 4 + 23 : 4 + 8
    for length in 0...255 {
      var lying = event
      lying[place] = UInt8(length)
      let heard = Heard(lying)
      #expect(heard?.refusal == (length > 9 ? .malformedPacket : nil), "length \(length)")
      #expect(heard?.items.map(\.data.count) == (length > 9 ? [] : [length]))
    }
  }

  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomReports(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let extended = random.next() % 2 == 0
      let reports = (0..<random.next() % 6).map { _ in
        Report.random(using: &random, extended: extended, most: 17)
      }
      let event = extended ? Event.extended(reports) : Event.legacy(reports)
      #expect(
        Heard(event) == Heard(items: reports.map { .init($0, extended: extended) }),
        "seed \(seed)")
    }
  }

  /// Bytes without sense: what is read lies inside them, and nothing traps.
  @Test(arguments: 1...50 as ClosedRange<UInt64>)
  func randomBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<400 {
      var event = random.bytes(Int.random(in: 0...80, using: &random))
      if event.count >= 4, random.next() % 8 != 0 {
        event[0] = 0x3E
        event[2] = random.next() % 2 == 0 ? 0x02 : 0x0D
        if random.next() % 2 == 0 { event[1] = UInt8(event.count - 2) }
        event[3] %= 6
      }
      guard let heard = Heard(event) else {
        #expect(event.count < 3 || event[0] != 0x3E || ![2, 13].contains(event[2]))
        continue
      }
      guard event.count > 3 else {
        #expect(heard.items.isEmpty && heard.refusal != nil, "seed \(seed): \(event)")
        continue
      }
      #expect(heard.items.count <= Int(event[3]), "seed \(seed): \(event)")
      let isWhole = heard.items.count == Int(event[3])
      #expect((heard.refusal == nil) == isWhole, "seed \(seed): \(event)")
      let most = heard.items.map(\.data.count).reduce(0, +)
      #expect(most <= event.count, "seed \(seed): \(event)")
    }
  }
}
