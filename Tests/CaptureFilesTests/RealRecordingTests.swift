import Advertising
import CaptureFiles
import Foundation
import Scanning
import SystemPackage
import Testing

/// Recordings of other people's phones, hosts and sniffers, against an independent dissector.
///
/// They are not ours to ship: they are read where `../shared/captures` stands beside the project.
enum RealRecordings {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "shared/captures")

  static let areThere: Bool = {
    let areThere = FileManager.default.fileExists(
      atPath: folder.appending(path: "whad-sniffle-capture.pcap").path)
    if !areThere {
      _ = try? FileDescriptor.standardError.writeAll(
        "NOT TESTED: the real recordings are not in \(folder.path)\n".utf8)
    }
    return areThere
  }()
}

@Suite(
  .enabled(if: RealRecordings.areThere, "the real recordings are not beside the project"))
struct RealRecordingTests {
  private func reading(_ name: String) throws -> Reading {
    try Reading(path: RealRecordings.folder.appending(path: name).path)
  }

  /// Every iBeacon that the dissector found, field by field.
  @Test(arguments: [
    "btsnooper-btsnoop_hci.log", "govee-20230127.pcapng",
    "govee-bluetooth0_capture_11_30-goveebttemplogger-inout.pcap", "horizon74-btsnoop_hci.log",
    "whad-sniffle-capture.pcap",
  ])
  func everyIBeacon(name: String) throws {
    let reading = try reading(name)
    #expect(reading.error == nil)
    let table = try String(
      contentsOf: RealRecordings.folder.appending(path: "expected/\(name).ibeacons.tsv"),
      encoding: .utf8)
    // frame, time, address, rssi, pdu, uuid, major, minor, power, crc
    let expected = table.split(separator: "\n").dropFirst().map { row in
      let fields = row.split(separator: "\t").map(String.init)
      return [fields[1], fields[2].uppercased()] + [fields[3]] + fields[5...8]
    }
    let heard = reading.sightings.map { sighting in
      let (seconds, rest) = sighting.wallTime.nanoseconds.quotientAndRemainder(
        dividingBy: 1_000_000_000)
      return [
        "\(seconds)." + String(repeating: "0", count: 9 - "\(rest)".count) + "\(rest)",
        "\(sighting.address)", sighting.rssi.map { "\($0)" } ?? "",
        "\(sighting.beacon.uuid)", "\(sighting.beacon.major)", "\(sighting.beacon.minor)",
        "\(sighting.measuredPower)",
      ]
    }
    #expect(!expected.isEmpty)
    #expect(heard == expected)
  }

  /// Packets, packets with advertising, iBeacons, and checksums that are wrong.
  @Test(arguments: [
    ("govee-20230127.pcapng", 1726, 1429, 17, 0), ("horizon74-btsnoop_hci.log", 2572, 412, 11, 0),
    ("btsnooper-btsnoop_hci.log", 7250, 465, 8, 0),
    ("govee-bluetooth0_capture_11_30-goveebttemplogger-inout.pcap", 159, 57, 2, 0),
    ("whad-sniffle-capture.pcap", 22, 22, 1, 0),
    ("bertrandmartel-decoder-btsnoop_hci.log", 69, 32, 0, 0),
    ("bostonmesh-hackrf_20_channels.pcap", 2536, 2156, 0, 215),
    ("btsnooprs-btmon.btsnoop", 554, 0, 0, 0),
    ("opendroneid-bt5_lr_sample.pcapng", 274, 274, 0, 30),
    ("mitll-anechoic-nrf52_0.pcapng", 832, 832, 0, 32),
    // The dissector speaks of 24; a checksum computed bit by bit is wrong in 31.
    ("mitll-anechoic-ubertooth_0.pcapng", 1907, 1907, 0, 31),
  ])
  func counts(
    name: String, packets: Int, advertising: Int, beacons: Int, wrong: Int
  ) throws {
    let reading = try reading(name)
    #expect(reading.error == nil)
    #expect(reading.counts.packets == packets)
    #expect(reading.counts.advertisingPackets == advertising)
    #expect(reading.counts.sightings == beacons)
    #expect(reading.counts[.badCRC] == wrong)
  }

  @Test func severalReportsAnEvent() throws {
    let reading = try reading("bertrandmartel-decoder-btsnoop_hci.log")
    #expect(reading.counts.reports == 59)
    #expect(zip(reading.times, reading.times.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func unsupportedIsNamed() throws {
    let reading = try reading("crackle-ppi-pairing.pcap")
    #expect(reading.error?.problem == .unsupportedLinkType("link type 192 (PPI)"))
  }
}
