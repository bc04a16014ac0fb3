import Advertising
import CaptureFiles
import Scanning
import TestSupport
import Testing

/// Packets of one whole report are decoded by a loop of their own; with a packet tap, all are decoded by the
/// general one. Both must find the same.
@Suite struct UsualPacketTests {
  /// An LE Extended Advertising Report from its packet type on.
  private func extended(_ minor: UInt16, status: UInt8) -> [UInt8] {
    let data = Adverts.frame(minor).advertisingData
    let report =
      [0x13 | status << 5, 0x00, 0x01] + Adverts.address
      + [0x01, 0x00, 0xFF, 0x7F, 0xC4, 0, 0, 0] + Adverts.address + [UInt8(data.count)] + data
    return [0x04, 0x3E, UInt8(report.count + 2), 0x0D, 0x01] + report
  }

  /// A packet that is whole, cut, longer than it says, or has a wrong byte.
  private func packet(_ random: inout SplitMix64) -> [UInt8] {
    let minor = UInt16(random.next() % 8)
    var packet =
      switch random.next() % 4 {
      case 0: extended(minor, status: random.next() % 8 == 0 ? UInt8(random.next() % 3) : 0)
      case 1: [0x04, 0x0E, 0x04, 0x01, 0x0C, 0x20, 0x00]
      default: Adverts.h4(minor, rssi: Int8(truncatingIfNeeded: Int(random.next() % 256)))
      }
    switch random.next() % 6 {
    case 0: packet[Int(random.next() % UInt64(packet.count))] = UInt8(random.next() % 256)
    case 1: packet.removeLast(Int(random.next() % UInt64(packet.count)))
    case 2: packet += [UInt8](repeating: 0x02, count: Int(random.next() % 5))
    default: break
    }
    return packet
  }

  /// A capture with a clock that is mostly in order.
  private func capture(linkType: UInt32?, _ random: inout SplitMix64) -> [UInt8] {
    let pcap = PcapFile(linkType: linkType ?? 187)
    var bytes = linkType == nil ? BTSnoopFile.header() : pcap.header
    var time: Int64 = 1_000_000_000
    for _ in 0..<1500 {
      switch random.next() % 50 {
      case 0: time -= Int64(random.next() % 500_000)
      case 1: time -= Int64(random.next() % 5_000_000)
      default: time += Int64(random.next() % 100_000)
      }
      let packet = packet(&random)
      bytes +=
        linkType == nil
        ? BTSnoopFile.record(packet, microseconds: time)
        : pcap.record(
          linkType == 201 ? [0, 0, 0, 1] + packet : packet, seconds: UInt32(time / 1_000_000),
          fraction: UInt32(time % 1_000_000))
    }
    return bytes
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>, [nil, 187, 201] as [UInt32?])
  func bothLoopsFindTheSame(seed: UInt64, linkType: UInt32?) throws {
    var random = SplitMix64(seed: seed)
    let bytes = capture(linkType: linkType, &random)
    let usual = try Reading(bytes)
    let general = try Reading(bytes, packetTap: { _, _, _, _ in })
    #expect(usual.sightings == general.sightings, "seed \(seed)")
    #expect(usual.sightings.count > 300)
    #expect(usual.error == nil && general.error == nil)
    let (left, right) = (usual.counts, general.counts)
    #expect(left.packets == 1500 && right.packets == 1500)
    #expect(left.advertisingPackets == right.advertisingPackets, "seed \(seed)")
    #expect(left.reports == right.reports, "seed \(seed)")
    #expect(left.sightings == right.sightings, "seed \(seed)")
    for refusal in Refusal.allCases {
      #expect(left[refusal] == right[refusal], "seed \(seed): \(refusal)")
    }
    #expect(usual.status.disordered == general.status.disordered, "seed \(seed)")
    #expect(usual.status.stepsBack == general.status.stepsBack, "seed \(seed)")
    #expect(usual.status.time == general.status.time, "seed \(seed)")
  }
}
