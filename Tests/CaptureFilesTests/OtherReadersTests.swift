import Advertising
import CaptureFiles
import Foundation
import Scanning
import TestSupport
import Testing

/// What is recorded, read by programs that were not written here.
@Suite(.blocking) struct OtherReadersTests {
  private static let hasTshark = Program.has("tshark")
  private static let hasBtmon = Program.has("btmon")

  /// 60 iBeacons and 20 commands of some adapters, in turn.
  private func record(_ format: CaptureWriter.Format, adapters: UInt16, to path: String) throws {
    var configuration = RecordingConfiguration(path: path, format: format)
    configuration.addresses = [1: BluetoothAddress(rawValue: 0x0000_5E00_5301)]
    let recorder = try CaptureRecorder(configuration, startingAt: .recorded())
    let command: [UInt8] = [0x01, 0x0C, 0x20, 0x02, 0x01, 0x00]
    for index in 0..<80 as Range<UInt16> {
      let time = WallClockTime.recorded(Double(index) / 8)
      if index % 4 == 0 {
        unsafe recorder.record(
          command.span.bytes, at: time, isReceived: false, adapter: index % adapters)
      } else {
        recorder.record(index, at: time, adapter: index % adapters)
      }
    }
    #expect(recorder.finish().packets == 80)
  }

  private static let cases: [(CaptureWriter.Format, UInt16)] = [
    (.btsnoop, 1), (.btmon, 1), (.btmon, 3), (.pcapng, 1), (.pcapng, 3),
  ]

  /// Wireshark: every packet with its time, its direction and its adapter, every beacon, nothing malformed.
  @Test(.enabled(if: hasTshark, "tshark is not installed"), arguments: cases)
  func wireshark(format: CaptureWriter.Format, adapters: UInt16) throws {
    let folder = try RecordingFolder()
    try record(format, adapters: adapters, to: folder["a"])
    let fields = [
      "frame.time_epoch", "frame.interface_name", "hci_mon.adapter_id", "hci_mon.opcode",
      "hci_h4.type", "hci_h4.direction", "bthci_evt.code", "bthci_cmd.opcode",
      "_ws.malformed", "btcommon.eir_ad.entry.data",
    ]
    let line = fields.map { "-e \($0)" }.joined(separator: " ")
    let rows = try Program.shell("tshark -r '\(folder["a"])' -T fields -E separator=, \(line)")
      .split(separator: "\n")
      .map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    // New Index records are packets of the monitor.
    let packets = format == .btmon ? rows.filter { $0[3] != "0" && $0[3] != "0x0000" } : rows
    try #require(packets.count == 80, "\(rows.prefix(4))")
    #expect(rows.count == 80 + (format == .btmon ? Int(adapters) : 0))
    for (index, row) in packets.enumerated() {
      let nanoseconds = WallClockTime.recorded(Double(index) / 8).nanoseconds
      let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      let fraction = format == .pcapng ? rest : rest / 1000 * 1000
      let digits = String("\(1_000_000_000 + fraction)".dropFirst())
      #expect(row[0] == "\(seconds).\(digits)")
      let adapter = UInt16(index) % adapters
      if format == .pcapng { #expect(row[1] == "hci\(adapter)") }
      if format == .btmon { #expect(row[2] == "\(adapter)") }
      let isCommand = index % 4 == 0
      #expect(isCommand ? row[7] == "0x200c" : row[6] == "0x3e", "\(row)")
      if format != .btmon { #expect(Int(row[5].dropFirst(2), radix: 16) == (isCommand ? 0 : 1)) }
      #expect(row[8].isEmpty)
    }
  }

  /// BlueZ: every packet with its direction and its adapter.
  @Test(.enabled(if: hasBtmon, "btmon is not installed"), arguments: cases)
  func bluez(format: CaptureWriter.Format, adapters: UInt16) throws {
    guard format != .pcapng else { return }
    let folder = try RecordingFolder()
    try record(format, adapters: adapters, to: folder["a"])
    let lines = try Program.shell("TZ=UTC btmon -C 160 -T -r '\(folder["a"])'")
      .split(separator: "\n")
    let events = lines.filter { $0.hasPrefix("> HCI Event: LE Meta Event") }
    let commands = lines.filter { $0.hasPrefix("< HCI Command: LE Set Scan Enable") }
    #expect(events.count == 60 && commands.count == 20)
    #expect(commands.first?.hasSuffix("2026-11-21 05:30:00.123456") == true)
    #expect(lines.filter { $0.contains("LE Advertising Report (0x02)") }.count == 60)
    #expect(lines.filter { $0.contains("RSSI: -64 dBm") }.count == 60)
    guard format == .btmon else { return }
    for adapter in 0..<adapters {
      let index = lines.filter { $0.hasPrefix("= New Index: ") && $0.contains("hci\(adapter))") }
      #expect(index.count == 1)
      if adapter == 1 { #expect(index.first?.contains("00:00:5E:00:53:01") == true) }
      let own = (events + commands).filter { $0.contains("[hci\(adapter)]") }
      #expect(own.count == (0..<80).count { $0 % Int(adapters) == Int(adapter) })
    }
  }
}
