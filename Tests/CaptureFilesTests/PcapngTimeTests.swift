import CaptureFiles
import Scanning
import Testing

/// How long a tick is, and where ticks begin.
@Suite struct PcapngTimeTests {
  private func time(_ ticks: UInt64, resolution: UInt8?, offset: Int64? = nil) throws -> [Int64] {
    var times: [Int64] = []
    for order in ByteOrder.both {
      let file = PcapngFile(order: order)
      let reading = try Reading(
        joined(
          file.section, file.interface(resolution: resolution, offset: offset),
          file.packet(Adverts.h4(1), ticks: ticks)))
      #expect(reading.error == nil)
      times += reading.wallTimes
    }
    return times
  }

  /// 10⁻ⁿ s, against arithmetic that cannot overflow. Ticks finer than 10⁻²⁸ s are taken for that.
  @Test(arguments: Array(0...30) + [127])
  func decimal(exponent: Int) throws {
    for ticks in [0, 1, 123_456_789, 1 << 33, 1_767_225_600_000_000_123, 1 << 63, .max] as [UInt64]
    {
      var expected = Int128(ticks)
      if exponent < 9 {
        for _ in exponent..<9 { expected *= 10 }
      } else {
        for _ in 0..<min(exponent - 9, 19) { expected /= 10 }
      }
      let nanoseconds = Int64(clamping: expected)
      #expect(
        try time(ticks, resolution: UInt8(exponent)) == [nanoseconds, nanoseconds], "\(ticks)")
    }
  }

  /// 2⁻ⁿ s.
  @Test(arguments: [0, 1, 10, 20, 30, 32, 63, 64, 100, 127])
  func binary(exponent: Int) throws {
    for ticks in [0, 1, 123_456_789, 1 << 33, 1 << 63, .max] as [UInt64] {
      let product = ticks.multipliedFullWidth(by: 1_000_000_000)
      let wide = UInt128(product.high) << 64 | UInt128(product.low)
      let nanoseconds = Int64(clamping: wide >> UInt128(exponent))
      #expect(
        try time(ticks, resolution: 0x80 | UInt8(exponent)) == [nanoseconds, nanoseconds],
        "\(ticks)")
    }
  }

  @Test func microsecondsUnlessTold() throws {
    #expect(
      try time(1_767_225_600_000_001, resolution: nil) == [
        1_767_225_600_000_001_000, 1_767_225_600_000_001_000,
      ])
  }

  /// if_tsoffset is in seconds, of either sign; the sum saturates.
  @Test(
    arguments: [
      (0, 5), (1, 1_000_000_005), (-1, -999_999_995), (1_767_225_600, 1_767_225_600_000_000_005),
      (.max, .max), (.min, .min), (9_223_372_036, 9_223_372_036_000_000_005),
      (9_223_372_037, .max), (-9_223_372_037, .min),
    ] as [(Int64, Int64)])
  func offset(seconds: Int64, nanoseconds: Int64) throws {
    // The product saturates before the five ticks are added.
    let expected = nanoseconds == .min ? .min + 5 : nanoseconds
    #expect(try time(5, resolution: 9, offset: seconds) == [expected, expected])
  }

  /// Each interface has a clock of its own.
  @Test func interfacesDiffer() throws {
    let file = PcapngFile()
    let reading = try Reading(
      joined(
        file.section, file.interface(resolution: 3), file.interface(resolution: 0x8A),
        file.interface(resolution: 9, offset: 10),
        file.packet(Adverts.h4(1), interface: 0, ticks: 1000),
        file.packet(Adverts.h4(2), interface: 1, ticks: 2048),
        file.packet(Adverts.h4(3), interface: 2, ticks: 5)))
    #expect(reading.wallTimes == [1_000_000_000, 2_000_000_000, 10_000_000_005])
  }
}
