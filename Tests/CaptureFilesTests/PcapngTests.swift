import Advertising
import CaptureFiles
import Scanning
import Testing

/// pcapng: sections, interfaces and the three kinds of packet block.
@Suite struct PcapngTests {
  @Test(arguments: ByteOrder.both)
  func everyPacketBlock(order: ByteOrder) throws {
    let file = PcapngFile(order: order)
    let bytes = joined(
      file.section, file.interface(),
      file.packet(Adverts.h4(1), ticks: 7), file.obsoletePacket(Adverts.h4(2), ticks: 1 << 40),
      // A Simple Packet Block has no time: it is given the one before.
      file.simplePacket(Adverts.h4(3)),
      file.packet(
        Adverts.h4(4), ticks: 1 << 41, options: file.option(1, Array("hm".utf8)) + [0, 0, 0, 0]))
    let reading = try Reading(bytes)
    #expect(reading.error == nil)
    #expect(reading.minors == [1, 2, 3, 4])
    #expect(reading.wallTimes == [7000, 1000 << 40, 1000 << 40, 1000 << 41])
    #expect(reading.status.formatName == "pcapng, link type 187 (Bluetooth HCI H4)")
    #expect(reading.counts.packets == 4)
  }

  /// Sections of different byte orders; each has interfaces of its own.
  @Test func severalSections() throws {
    let (little, big) = (PcapngFile(order: .little), PcapngFile(order: .big))
    let bytes = joined(
      little.section, little.interface(), little.interface(201, resolution: 9),
      little.packet(Adverts.h4WithDirection(1), interface: 1, ticks: 5),
      big.section, big.interface(254, resolution: 3),
      big.packet(Adverts.monitor(2, adapter: 9), ticks: 6),
      little.section, little.interface(), little.packet(Adverts.h4(3), ticks: 7))
    let reading = try Reading(bytes)
    #expect(reading.error == nil)
    #expect(reading.minors == [1, 2, 3])
    #expect(reading.wallTimes == [5, 6_000_000, 7000])

    let gone = try Reading(
      joined(little.section, little.interface(), big.section, big.packet(Adverts.h4(1))))
    #expect(
      gone.error?.problem == .damaged("a packet names an interface that no block describes"))
  }

  @Test(arguments: ByteOrder.both)
  func unknownInterface(order: ByteOrder) throws {
    let file = PcapngFile(order: order)
    let start = file.section.count + file.interface().count
    let sentence = "a packet names an interface that no block describes"
    for block in [
      file.packet(Adverts.h4(1), interface: 1), file.packet(Adverts.h4(1), interface: .max),
      file.obsoletePacket(Adverts.h4(1), interface: 1),
    ] {
      let reading = try Reading(joined(file.section, file.interface(), block))
      #expect(reading.error?.problem == .damaged(sentence))
      #expect(reading.error?.offset == start + 8)
      // The packet before it, whose time stamps are short or long to read, is remembered by nothing.
      for resolution in [9, 14, 0x8A] as [UInt8] {
        let front = joined(
          file.section, file.interface(resolution: resolution), file.packet(Adverts.h4(7)))
        let behind = try Reading(front + block)
        #expect(behind.minors == [7])
        #expect(behind.error?.problem == .damaged(sentence))
        #expect(behind.error?.offset == front.count + 8)
      }
    }
    let simple = try Reading(file.section + file.simplePacket(Adverts.h4(1)))
    #expect(simple.error?.problem == .damaged(sentence))
    #expect(simple.error?.offset == file.section.count + 8)
  }

  /// Blocks of other types, known to others or to nobody, are passed over, however long.
  @Test(arguments: ByteOrder.both, [0, 4, 1000, 600_000, 2_000_000])
  func unknownBlocks(order: ByteOrder, length: Int) throws {
    let file = PcapngFile(order: order)
    var bytes = joined(file.section, file.interface())
    let types: [UInt32] = [4, 5, 9, 10, 0xBAD, 0x4000_0BAD, .max]
    for (index, type) in types.enumerated() {
      bytes += file.block(type, [UInt8](repeating: 6, count: length))
      bytes += file.packet(Adverts.h4(UInt16(index)), ticks: UInt64(index))
    }
    let reading = try Reading(bytes)
    #expect(reading.error == nil)
    #expect(reading.minors == Array(0..<7))
    #expect(reading.counts.packets == 7)
  }

  /// The snap length cuts a Simple Packet Block; its own length may say more than there is.
  @Test func simplePacketLengths() throws {
    let file = PcapngFile()
    let advert = Adverts.h4(1)
    let cut = try Reading(
      joined(
        file.section, file.interface(snapLength: 20),
        file.simplePacket(Array(advert.prefix(20)), original: UInt32(advert.count))))
    #expect(cut.error == nil && cut.counts.packets == 1)
    #expect(cut.counts[.truncatedPacket] == 1)
    let long = try Reading(
      joined(file.section, file.interface(), file.simplePacket(advert, original: 1 << 31)))
    #expect(long.error == nil && long.minors == [1])
  }

  /// A packet of an unsupported kind in a file that has a supported interface is refused alone.
  @Test func mixedInterfaces() throws {
    let file = PcapngFile()
    let reading = try Reading(
      joined(
        file.section, file.interface(1), file.interface(187),
        file.packet([1, 2, 3], interface: 0), file.packet(Adverts.h4(1), interface: 1)))
    #expect(reading.error == nil && reading.minors == [1])
    #expect(reading.counts[.unsupportedPacket] == 1)
  }
}
