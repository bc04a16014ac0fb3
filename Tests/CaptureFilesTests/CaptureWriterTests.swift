import Advertising
import CaptureFiles
import Scanning
import TestSupport
import Testing

/// What is written is read back.
@Suite struct CaptureWriterTests {
  @Test(arguments: CaptureWriter.Format.allCases, 1...10 as ClosedRange<UInt64>)
  func roundTrip(format: CaptureWriter.Format, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let writer = CaptureWriter(format: format)
    var bytes: [UInt8] = []
    writer.writeHeader(to: &bytes)
    var times: [Int64] = []
    var rssis: [Int8] = []
    for minor in 0..<50 as Range<UInt16> {
      let time = Int64(random.next() % UInt64(Int64.max))
      let rssi = -Int8(random.next() % 100)
      writer.write(
        Adverts.h4(minor, rssi: rssi), at: WallClockTime(nanoseconds: time), to: &bytes)
      // A command of odd length between the events.
      let command: [UInt8] = [0x01, 0x0C, 0x20] + random.bytes(Int(random.next() % 8))
      writer.write(command, at: WallClockTime(nanoseconds: time), isReceived: false, to: &bytes)
      times.append(format == .pcapng ? time : time / 1000 * 1000)
      rssis.append(rssi)
    }
    let reading = try Reading(bytes)
    #expect(reading.error == nil, "seed \(seed)")
    #expect(reading.minors == Array(0..<50), "seed \(seed)")
    #expect(reading.wallTimes == times, "seed \(seed)")
    #expect(reading.sightings.map(\.rssi) == rssis, "seed \(seed)")
    #expect(reading.counts.packets == 100, "seed \(seed)")
  }

  @Test(arguments: [
    (CaptureWriter.Format.btsnoop, "btsnoop, link type 187 (Bluetooth HCI H4)"),
    (.btmon, "btsnoop, btsnoop datalink 2001 (Linux monitor)"),
    (.pcapng, "pcapng, link type 201 (Bluetooth HCI H4 with direction)"),
  ])
  func header(format: CaptureWriter.Format, name: String) throws {
    var bytes: [UInt8] = []
    let writer = CaptureWriter(format: format)
    writer.writeHeader(to: &bytes)
    let empty = try Reading(bytes)
    #expect(empty.error == nil && empty.counts.packets == 0)
    writer.write(Adverts.h4(1), at: WallClockTime(nanoseconds: 0), to: &bytes)
    #expect(try Reading(bytes).status.formatName == name)
  }

  /// The very bytes of one btsnoop record.
  @Test func btsnoopRecord() {
    var bytes: [UInt8] = []
    let writer = CaptureWriter(format: .btsnoop)
    writer.writeHeader(to: &bytes)
    writer.write([0x04, 0x0E, 0x00], at: WallClockTime(nanoseconds: 1_234_567), to: &bytes)
    writer.write([0x02, 0x00], at: WallClockTime(nanoseconds: 0), isReceived: false, to: &bytes)
    #expect(
      bytes
        == joined(
          BTSnoopFile.header(), BTSnoopFile.record([0x04, 0x0E, 0x00], microseconds: 1234),
          BTSnoopFile.record([0x02, 0x00], flags: 0)))
  }

  /// A time between two microseconds is the earlier one, before 1970 too; pcapng has none that early.
  @Test(arguments: [
    (1999, 1000), (1000, 1000), (0, 0), (-1, -1000), (-999, -1000), (-1000, -1000), (-1001, -2000),
  ])
  func timesRoundDown(time: Int64, read: Int64) throws {
    for format in CaptureWriter.Format.allCases {
      var bytes: [UInt8] = []
      let writer = CaptureWriter(format: format)
      writer.writeHeader(to: &bytes)
      writer.write(Adverts.h4(1), at: WallClockTime(nanoseconds: time), to: &bytes)
      #expect(
        try Reading(bytes).wallTimes == [format == .pcapng ? max(0, time) : read], "\(format)")
    }
  }

  /// Any time can be written.
  @Test(arguments: CaptureWriter.Format.allCases, [Int64.min, .max])
  func extremes(format: CaptureWriter.Format, time: Int64) throws {
    var bytes: [UInt8] = []
    let writer = CaptureWriter(format: format)
    writer.writeHeader(to: &bytes)
    writer.write(Adverts.h4(1), at: WallClockTime(nanoseconds: time), to: &bytes)
    writer.write([], at: WallClockTime(nanoseconds: time), to: &bytes)
    let reading = try Reading(bytes)
    #expect(reading.error == nil && reading.minors == [1])
  }

  /// The very bytes of one pcapng packet: its block is padded, its length is not.
  @Test(arguments: 1...9)
  func pcapngBlock(count: Int) {
    let packet: [UInt8] = [0x04] + [UInt8](repeating: 0xAB, count: count - 1)
    var bytes: [UInt8] = []
    CaptureWriter(format: .pcapng)
      .write(packet, at: WallClockTime(nanoseconds: 1 << 33), to: &bytes)
    #expect(bytes == PcapngFile().packet([0, 0, 0, 1] + packet, ticks: 1 << 33))
  }

  /// A packet that is longer than any may be is cut, and the file can be read.
  @Test(arguments: CaptureWriter.Format.allCases)
  func tooLong(format: CaptureWriter.Format) throws {
    var bytes: [UInt8] = []
    let writer = CaptureWriter(format: format)
    writer.writeHeader(to: &bytes)
    let long = Adverts.h4(1) + [UInt8](repeating: 0, count: 300_000)
    writer.write(long, at: WallClockTime(nanoseconds: 0), to: &bytes)
    writer.write(Adverts.h4(2), at: WallClockTime(nanoseconds: 0), to: &bytes)
    let reading = try Reading(bytes)
    #expect(reading.error == nil && reading.minors == [1, 2])
  }
}
