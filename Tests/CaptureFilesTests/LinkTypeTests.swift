import Advertising
import CaptureFiles
import Scanning
import TestSupport
import Testing

/// What the packets of a capture hold: every link type that is read, and the refusal of others.
@Suite struct LinkTypeTests {
  private func read(_ linkType: UInt32, _ packets: [UInt8]...) throws -> Reading {
    let file = PcapFile(linkType: linkType)
    return try Reading(file.header + packets.flatMap { file.record($0) })
  }

  @Test func hostController() throws {
    let command: [UInt8] = [0x01, 0x08, 0x20, 0x20] + Adverts.event(9)
    let h4 = try read(187, Adverts.h4(1), command, [0x02] + Adverts.event(9), [], [0x04])
    #expect(h4.error == nil && h4.minors == [1])
    #expect(h4.counts.packets == 5 && h4.counts[.truncatedPacket] == 1)

    let directed = try read(
      201, Adverts.h4WithDirection(1), [0, 0, 0, 0] + command, [0, 0, 0], [0, 0, 0, 1])
    #expect(directed.error == nil && directed.minors == [1])
    #expect(directed.counts[.truncatedPacket] == 2)
  }

  @Test func linuxMonitor() throws {
    let reading = try read(
      254, Adverts.monitor(1), Adverts.monitor(2, adapter: 5), [0, 0, 0, 2] + Adverts.event(9),
      [0, 0, 0], [0, 0, 0, 3])
    #expect(reading.minors == [1, 2])
    #expect(reading.sightings.map(\.adapter) == [0, 5])
    #expect(reading.counts[.truncatedPacket] == 1)
  }

  @Test func linkLayer() throws {
    let reading = try read(
      251, Adverts.linkLayer(1), Adverts.linkLayer(2, damage: 1),
      Array(Adverts.linkLayer(3).dropLast()), [0x11, 0x22, 0x33, 0x44, 0x42, 0, 0, 0, 0])
    #expect(reading.minors == [1])
    #expect(reading.sightings.map(\.rssi) == [nil])
    #expect(reading.counts[.badCRC] == 1 && reading.counts[.truncatedPacket] == 1)
    #expect(reading.counts.advertisingPackets == 3)
  }

  /// 256: bit 1 says that the signal was measured, 10 that the checksum was checked, 11 that it was
  /// right, 14 and 15 the PHY.
  @Test func linkLayerWithRadio() throws {
    let wrong = Adverts.linkLayer(9, damage: 1)
    let coded = Adverts.linkLayer(6, isCoded: true)
    let reading = try read(
      256,
      Adverts.radio(1, signal: -51, flags: 0x0C02), Adverts.radio(2, signal: -52, flags: 0x0C00),
      Adverts.radio(3, signal: -53, flags: 0x0002), Adverts.radio(4, signal: -54, flags: 0x0402),
      Adverts.radio(5, signal: -55, flags: 0x0C02, packet: wrong),
      Adverts.radio(9, signal: -56, flags: 0x0002, packet: wrong),
      Adverts.radio(6, signal: -57, flags: 0x8002, packet: coded),
      Adverts.radio(7, signal: -58, flags: 0x4002),
      Array(Adverts.radio(8, signal: -59, flags: 0x0C02).prefix(9)))
    // A right checksum is believed: the fifth is read though its own octets say otherwise.
    #expect(reading.minors == [1, 2, 3, 9, 6, 7])
    #expect(reading.sightings.map(\.rssi) == [-51, nil, -53, -55, -57, -58])
    #expect(reading.counts[.badCRC] == 2 && reading.counts[.truncatedPacket] == 1)
  }

  /// 272: versions 1 and 2 have type 6 for a packet; in version 3 that is one of a connection, and 2
  /// is one of advertising.
  @Test func nordicSniffer() throws {
    let coded = Adverts.linkLayer(5, isCoded: true)
    let reading = try read(
      272,
      Adverts.nordic(1, version: 1, type: 6), Adverts.nordic(2, version: 2, type: 6, loss: 0),
      Adverts.nordic(3, version: 3, type: 2, loss: 127),
      Adverts.nordic(4, version: 3, type: 6, loss: 128),
      Adverts.nordic(5, version: 3, type: 2, flags: 0x21, packet: coded),
      Adverts.nordic(6, version: 1, type: 6, flags: 0x21),
      Adverts.nordic(9, version: 2, type: 2), Adverts.nordic(9, version: 3, type: 1),
      Adverts.nordic(9, version: 3, type: 2, flags: 0),
      Adverts.nordic(9, version: 0, type: 6), Adverts.nordic(9, version: 4, type: 2),
      Array(Adverts.nordic(9, version: 3, type: 2).prefix(16)))
    #expect(reading.error == nil)
    #expect(reading.minors == [1, 2, 3, 4, 5, 6])
    #expect(reading.sightings.map(\.rssi) == [-64, 0, -127, nil, -64, -64])
    #expect(reading.counts[.badCRC] == 1 && reading.counts[.unsupportedPacket] == 2)
    #expect(reading.counts[.truncatedPacket] == 1)
  }

  /// Every cut of a packet's headers is refused, and none traps.
  @Test(
    arguments: [
      (187, Adverts.h4(1)), (201, Adverts.h4WithDirection(1)), (251, Adverts.linkLayer(1)),
      (254, Adverts.monitor(1)), (256, Adverts.radio(1, signal: -1, flags: 0x0C03)),
      (272, Adverts.nordic(1, version: 2, type: 6)),
    ] as [(UInt32, [UInt8])])
  func everyPrefix(linkType: UInt32, packet: [UInt8]) throws {
    let file = PcapFile(linkType: linkType)
    let reading = try Reading(
      file.header + (0...packet.count).flatMap { file.record(Array(packet.prefix($0))) })
    #expect(reading.error == nil && reading.minors == [1])
    #expect(reading.counts.packets == packet.count + 1)
    #expect(reading.counts[.truncatedPacket] > 30)
    #expect(reading.counts[.malformedPacket] == 0)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func randomPackets(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for linkType in [187, 201, 251, 254, 256, 272] as [UInt32] {
      let file = PcapFile(linkType: linkType)
      let packets = (0..<100).map { _ in random.bytes(Int(random.next() % 80)) }
      let reading = try Reading(file.header + packets.flatMap { file.record($0) })
      #expect(reading.error == nil && reading.counts.packets == 100, "seed \(seed), \(linkType)")
      #expect(reading.sightings.isEmpty, "seed \(seed), \(linkType)")
    }
  }

  @Test(
    arguments: [
      (192, "link type 192 (PPI)"), (1, "link type 1 (Ethernet)"),
      (
        255,
        "link type 255 (Bluetooth BR/EDR baseband)"
      ), (0, "link type 0 (NULL)"),
      (9999, "link type 9999"), (65535, "link type 65535"),
    ] as [(UInt32, String)])
  func unsupported(linkType: UInt32, name: String) throws {
    let pcap = try read(linkType, Adverts.h4(1))
    #expect(pcap.error?.problem == .unsupportedLinkType(name))
    #expect(pcap.sightings.isEmpty)
    let sentence = try #require(pcap.error).description
    #expect(sentence.contains(name) && sentence.contains("docs/formats.md"))

    let file = PcapngFile()
    let pcapng = try Reading(
      joined(file.section, file.interface(UInt16(linkType)), file.packet(Adverts.h4(1))))
    #expect(pcapng.error?.problem == .unsupportedLinkType(name))
    #expect(pcapng.sightings.isEmpty)
  }
}
