import Advertising
import CaptureFiles
import Scanning
import Testing

/// btsnoop with each of its datalinks.
@Suite struct BTSnoopTests {
  @Test func h4() throws {
    let bytes = joined(
      BTSnoopFile.header(), BTSnoopFile.record(Adverts.h4(1), microseconds: 5),
      BTSnoopFile.record([0x01, 0x0C, 0x20, 0x02, 0x01, 0x00], microseconds: 6, flags: 2),
      BTSnoopFile.record(Adverts.h4(2), microseconds: 1_767_225_600_123_456))
    let reading = try Reading(bytes)
    #expect(reading.error == nil && reading.minors == [1, 2])
    #expect(reading.wallTimes == [5000, 1_767_225_600_123_456_000])
    #expect(reading.counts.packets == 3 && reading.counts.advertisingPackets == 2)
    #expect(reading.status.formatName == "btsnoop, link type 187 (Bluetooth HCI H4)")
  }

  /// 1001: the flags tell what a packet is. Only received events are looked at.
  @Test(arguments: 0...7 as ClosedRange<UInt32>)
  func withoutPacketType(flags: UInt32) throws {
    let reading = try Reading(
      BTSnoopFile.header(datalink: 1001) + BTSnoopFile.record(Adverts.event(1), flags: flags))
    #expect(reading.error == nil)
    #expect(reading.minors == (flags & 3 == 3 ? [1] : []))
  }

  /// 2001: adapter and opcode stand in the flags.
  @Test func linuxMonitor() throws {
    var bytes = BTSnoopFile.header(datalink: 2001)
    for opcode in 0...20 as ClosedRange<UInt32> {
      bytes += BTSnoopFile.record(Adverts.event(UInt16(opcode)), flags: 7 << 16 | opcode)
    }
    bytes += BTSnoopFile.record(Adverts.event(99), flags: 0xFFFF_0003)
    let reading = try Reading(bytes)
    #expect(reading.minors == [3, 99])
    #expect(reading.sightings.map(\.adapter) == [7, 0xFFFF])
    #expect(reading.counts.packets == 22)
  }

  @Test(
    arguments: [
      (0, "btsnoop datalink 0"), (1000, "btsnoop datalink 1000"),
      (1003, "btsnoop datalink 1003 (BCSP)"), (1004, "btsnoop datalink 1004 (H5)"),
      (2002, "btsnoop datalink 2002 (simulator)"), (187, "btsnoop datalink 187"),
      (0xFFFF_0000 + 187, "btsnoop datalink 4294901947"), (.max, "btsnoop datalink 4294967295"),
    ] as [(UInt32, String)])
  func otherDatalinks(datalink: UInt32, name: String) throws {
    let reading = try Reading(
      BTSnoopFile.header(datalink: datalink) + BTSnoopFile.record(Adverts.h4(1)))
    #expect(reading.error?.problem == .unsupportedLinkType(name))
    #expect(reading.minors == [])
  }

  @Test(arguments: [0, 2, 0x0100_0000] as [UInt32])
  func otherVersions(version: UInt32) throws {
    let reading = try Reading(BTSnoopFile.header(version: version))
    #expect(reading.error?.problem == .damaged("the btsnoop version is not 1"))
    #expect(reading.error?.offset == 8)
  }

  @Test func impossibleLength() throws {
    var damaged = BTSnoopFile.record(Adverts.h4(2))
    damaged.replaceSubrange(4..<8, with: ByteOrder.big(262_145 as UInt32))
    let first = BTSnoopFile.record(Adverts.h4(1))
    let reading = try Reading(joined(BTSnoopFile.header(), first, damaged))
    #expect(reading.minors == [1])
    #expect(reading.error?.problem == .damaged("a record is longer than any packet"))
    #expect(reading.error?.offset == 16 + first.count + 4)
  }

  /// Time stamps beyond what a moment can hold saturate.
  @Test(
    arguments: [
      (Int64.max / 1000, Int64.max / 1000 * 1000), (Int64.max / 1000 + 1, .max),
      (-1, -1000), (Int64.min / 1000 - 1, .min), (0, 0),
    ] as [(Int64, Int64)])
  func extremeTimes(microseconds: Int64, nanoseconds: Int64) throws {
    let reading = try Reading(
      BTSnoopFile.header() + BTSnoopFile.record(Adverts.h4(1), microseconds: microseconds))
    #expect(reading.wallTimes == [nanoseconds])
  }
}
