import Foundation
import TestSupport
import Testing

/// A recording of Linux's monitor in which two adapters hear one beacon.
@Suite(.blocking) struct TwoAdapterTests {
  /// A record of btsnoop's datalink 2001: the adapter and the opcode stand in the flags.
  private func record(_ event: [UInt8], adapter: UInt32, at microseconds: Int64) -> [UInt8] {
    let length = big(UInt32(event.count))
    return length + length + big(adapter << 16 | 3) + big(UInt32(0))
      + big(0x00E3_24FB_554F_C000 + microseconds) + event
  }

  private func big<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<Value.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// An LE Advertising Report with an iBeacon.
  private func report(_ rssi: Int8) -> [UInt8] {
    let beacon: [UInt8] =
      [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + (1...16).map { $0 } + [0, 1, 0, 7, 0xC5]
    let fields: [UInt8] =
      [0x02, 0x01, 0x03, 0x01, 1, 2, 3, 4, 5, 0xC6, UInt8(beacon.count)] + beacon
      + [UInt8(bitPattern: rssi)]
    return [0x3E, UInt8(fields.count)] + fields
  }

  /// The first adapter hears it at -60 dBm for twenty seconds of thirty, the second at -80 all the time.
  private func recording(_ scratch: Scratch) throws -> String {
    var bytes = Array("btsnoop\0".utf8) + big(UInt32(1)) + big(UInt32(2001))
    for step in 0..<300 {
      let time = Int64(step) * 100_000
      if step < 200 { bytes += record(report(-60), adapter: 0, at: time) }
      bytes += record(report(-80), adapter: 1, at: time + 400)
    }
    return try scratch.file("two.btsnoop", bytes).path
  }

  @Test func itIsOneBeaconWithTheLouderSignal() throws {
    let scratch = try Scratch()
    let run = try Command.run("range", "--format", "json", "--replay", recording(scratch))
    #expect(run.status == 0, "\(run.error)")
    let signals = try run.json().compactMap { line -> Int? in
      let beacons = line["beacons"] as? [[String: Any]]
      #expect(beacons?.count ?? 0 <= 1)
      return beacons?.first?["rssi"] as? Int
    }
    #expect(signals.prefix(20).allSatisfy { $0 == -60 } && signals.count >= 29, "\(signals)")
    #expect(signals.suffix(9).allSatisfy { $0 == -80 }, "\(signals)")
    let heard = try run.json().prefix(20).compactMap { line in
      (line["beacons"] as? [[String: Any]])?.first?["sightings"] as? Int
    }
    // The first one is counted by both: until then one adapter was known.
    #expect(heard.dropFirst().allSatisfy { $0 == 10 } && heard.first == 11, "\(heard)")
  }

  @Test func oneThatDiesIsNoExit() throws {
    let scratch = try Scratch()
    let run = try Command.run(
      "monitor", "--uuid", "01020304-0506-0708-090A-0B0C0D0E0F10", "--format", "json",
      "--replay", recording(scratch))
    #expect(try run.json().compactMap { $0["type"] as? String } == ["state", "enter", "summary"])
  }

  @Test func offsetsOfAdaptersAreTakenAway() throws {
    let scratch = try Scratch()
    let run = try Command.run(
      "range", "--format", "json", "--adapter-offset", "hci1=-4", "--adapter-offset", "hci0=3",
      "--replay", recording(scratch))
    let signals = try run.json().compactMap { line in
      (line["beacons"] as? [[String: Any]])?.first?["rssi"] as? Int
    }
    #expect(signals.first == -63 && signals.last == -76, "\(signals)")
  }
}
