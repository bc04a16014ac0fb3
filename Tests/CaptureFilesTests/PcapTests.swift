import Advertising
import CaptureFiles
import Scanning
import Testing

/// Classic pcap of both byte orders and both resolutions.
@Suite struct PcapTests {
  @Test(arguments: ByteOrder.both, [false, true])
  func readsPackets(order: ByteOrder, isNano: Bool) throws {
    let file = PcapFile(order: order, isNano: isNano)
    let bytes = joined(
      file.header, file.record(Adverts.h4(1), seconds: 1, fraction: 2),
      file.record(Adverts.h4(2, rssi: 127), seconds: 1_767_225_600, fraction: 999_999),
      file.record(Adverts.h4(3), seconds: .max, fraction: .max))
    let reading = try Reading(bytes)
    #expect(reading.error == nil)
    #expect(reading.minors == [1, 2, 3])
    #expect(reading.sightings.map(\.rssi) == [-64, nil, -64])
    let tick: Int64 = isNano ? 1 : 1000
    #expect(
      reading.wallTimes == [
        1_000_000_000 + 2 * tick, 1_767_225_600_000_000_000 + 999_999 * tick,
        4_294_967_295_000_000_000 + 4_294_967_295 * tick,
      ])
    #expect(reading.status.formatName == "pcap, link type 187 (Bluetooth HCI H4)")
    #expect(reading.status.bytesRead == bytes.count && reading.status.size == bytes.count)
    #expect(reading.counts.packets == 3)
  }

  /// The link type's upper half tells of a frame check sequence, and is not a part of it.
  @Test(arguments: ByteOrder.both)
  func upperHalfOfTheLinkType(order: ByteOrder) throws {
    let file = PcapFile(order: order, linkType: 0xF400_0000 | 187)
    #expect(try Reading(file.header + file.record(Adverts.h4(1))).minors == [1])
  }

  @Test(arguments: ByteOrder.both)
  func otherVersions(order: ByteOrder) throws {
    for version in [0, 1, 3, 0x0200] as [UInt16] {
      let reading = try Reading(PcapFile(order: order, version: version).header)
      #expect(reading.error?.problem == .damaged("the pcap version is not 2"))
      #expect(reading.error?.offset == 4)
    }
  }

  @Test(arguments: ByteOrder.both)
  func impossibleLength(order: ByteOrder) throws {
    let file = PcapFile(order: order)
    var damaged = file.record(Adverts.h4(2))
    damaged.replaceSubrange(8..<12, with: order(262_145 as UInt32))
    let reading = try Reading(joined(file.header, file.record(Adverts.h4(1)), damaged))
    #expect(reading.minors == [1])
    #expect(reading.error?.problem == .damaged("a record is longer than any packet"))
    #expect(reading.error?.offset == 24 + 16 + Adverts.h4(1).count + 8)
  }

  /// The longest packet that libpcap records, and packets without a byte.
  @Test func extremesOfLength() throws {
    let file = PcapFile()
    let long = Adverts.h4(1) + [UInt8](repeating: 0, count: 262_144 - Adverts.h4(1).count)
    let reading = try Reading(
      joined(file.header, file.record(long), file.record([]), file.record(Adverts.h4(2))))
    #expect(reading.error == nil)
    #expect(reading.minors == [1, 2])
    #expect(reading.counts[.truncatedPacket] == 1)
  }
}
