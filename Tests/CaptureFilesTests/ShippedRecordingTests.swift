import Advertising
import CaptureFiles
import Foundation
import Scanning
import Testing

/// The recordings in `captures/`, against what was ordered to be on air.
@Suite struct ShippedRecordingTests {
  private static let captures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "captures")

  /// A line of a virtual controller's log.
  private struct Report: Decodable {
    var id: String
    var addr: String
    var rssi: Int8
    var rsp: Bool
  }

  /// What a virtual beacon was told to send, or when the controller is to fail.
  private struct Order: Decodable {
    var id: String?
    var uuid: String?
    var major: UInt16?
    var minor: UInt16?
    var power: Int8?
  }

  private func lines<Line: Decodable>(_ type: Line.Type, _ name: String) throws -> [Line] {
    let data = try Data(contentsOf: Self.captures.appending(path: name))
    return try data.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(type, from: Data($0))
    }
  }

  private func reading(_ name: String) throws -> Reading {
    let reading = try Reading(path: Self.captures.appending(path: name).path)
    #expect(reading.error == nil)
    return reading
  }

  @Test(arguments: ["legacy3", "ext5", "mixed", "faults", "dbus2"])
  func everyReportOfTheController(name: String) throws {
    let reading = try reading("vm/\(name).btsnoop")
    let truth = try lines(Report.self, "vm/\(name).truth.jsonl")
    let orders = try lines(Order.self, "vm/\(name).orders")
    #expect(reading.counts.reports == truth.count)
    // Those whose advert is given in full: iBeacons by their identifiers.
    let given = ["ibeacon-noflags", "y"]
    let beacons = Set(orders.filter { $0.uuid != nil }.compactMap(\.id) + given)
    let expected = truth.filter { beacons.contains($0.id) && !$0.rsp }.map { report in
      let octets = report.addr.enumerated().map { index, digit in
        index % 2 == 0 && index > 0 ? ":\(digit)" : "\(digit)"
      }
      return "\(octets.joined()) \(report.rssi == 127 ? "none" : "\(report.rssi)")"
    }
    let heard = reading.sightings.map { "\($0.address) \($0.rssi.map { "\($0)" } ?? "none")" }
    #expect(heard == expected)
    // Identities and powers are those ordered.
    let ordered = Set(
      orders.compactMap { order in
        order.uuid.map {
          "\($0.uppercased()):\(order.major ?? 0):\(order.minor ?? 0) \(order.power ?? 0)"
        }
      })
    let found = Set(reading.sightings.map { "\($0.beacon) \($0.measuredPower)" })
    #expect(ordered.isSubset(of: found))
    #expect(found.count <= ordered.count + given.count)
  }

  /// tcpdump's recordings of the same sessions.
  @Test(arguments: [
    ("legacy3.hci0.pcap", 177, 169), ("legacy3.monitor.pcap", 195, 169),
    ("ext5.hci0.pcap", 234, 226), ("ext5.monitor.pcap", 259, 225),
  ])
  func otherRecorders(name: String, packets: Int, sightings: Int) throws {
    let other = try reading("vm/\(name)")
    #expect(other.counts.packets == packets)
    let session = name.prefix { $0 != "." }
    let whole = try reading("vm/\(session).btsnoop").sightings.map(Self.key)
    #expect(other.sightings.count == sightings)
    // The same sightings in the same order, but for those that the recorder missed.
    var rest = whole[...]
    for key in other.sightings.map(Self.key) {
      rest = rest.drop { $0 != key }.dropFirst()
    }
    #expect(whole.count - other.sightings.count <= 1)
    #expect(rest.count <= whole.count - other.sightings.count)
  }

  private static func key(_ sighting: Sighting) -> String {
    "\(sighting.beacon) \(sighting.address) \(sighting.rssi.map { "\($0)" } ?? "none")"
  }

  @Test func malformedStructuresAreCounted() throws {
    let reading = try reading("vm/mixed.btsnoop")
    let truth = try lines(Report.self, "vm/mixed.truth.jsonl")
    func count(_ id: String) -> Int { truth.count { $0.id == id } }
    #expect(reading.counts[.malformedADStructure] == count("ad-runs-past-the-end"))
    #expect(
      reading.counts[.malformedIBeacon] == count("length-byte-wrong") + count("short-ibeacon-23"))
    #expect(reading.counts[.truncatedPacket] == 0)
  }

  /// The counts that the index names.
  @Test(arguments: [
    ("visitor.btsnoop", 2084, 1113), ("lobby.btsnoop", 1981, 1636), ("edge.btsnoop", 1134, 815),
    ("hostile.pcapng", 1521, 617), ("vm/legacy3.btsnoop", 196, 169), ("vm/ext5.btsnoop", 265, 226),
    ("vm/mixed.btsnoop", 326, 146), ("vm/faults.btsnoop", 153, 93), ("vm/dbus2.btsnoop", 407, 164),
  ])
  func indexIsRight(name: String, packets: Int, sightings: Int) throws {
    let reading = try reading(name)
    #expect(reading.counts.packets == packets)
    #expect(reading.sightings.count == sightings)
    let index = try String(
      contentsOf: Self.captures.appending(path: "INDEX.md"), encoding: .utf8)
    let row = try #require(index.split(separator: "\n").first { $0.hasPrefix("| `\(name)` |") })
    let digits = row.replacing(",", with: "")
    #expect(digits.contains("| \(packets) | \(sightings) |"))
  }
}
