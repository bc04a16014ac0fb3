import Advertising
import Scanning

/// The kind of a record of Linux's monitor (BlueZ, `src/shared/btsnoop.h`).
enum MonitorOpcode: UInt16 {
  case newIndex = 0
  case command = 2
  case event, aclSent, aclReceived, scoSent, scoReceived
  case vendor = 11
  case isoSent = 18
  case isoReceived

  init(packetType: UInt8?, isReceived: Bool) {
    switch packetType {
    case 0x01: self = .command
    case 0x02: self = isReceived ? .aclReceived : .aclSent
    case 0x03: self = isReceived ? .scoReceived : .scoSent
    case 0x04: self = .event
    case 0x05: self = isReceived ? .isoReceived : .isoSent
    default: self = .vendor
    }
  }

  /// The H4 type and direction; `nil` if the record has no packet.
  var packet: (type: UInt8, isReceived: Bool)? {
    switch self {
    case .newIndex, .vendor: nil
    case .command: (0x01, false)
    case .event: (0x04, true)
    case .aclSent: (0x02, false)
    case .aclReceived: (0x02, true)
    case .scoSent: (0x03, false)
    case .scoReceived: (0x03, true)
    case .isoSent: (0x05, false)
    case .isoReceived: (0x05, true)
    }
  }
}

extension CaptureWriter {
  /// Appends the record of an adapter, which readers need before its first packet.
  ///
  /// ```
  /// type | bus | address (6) | name (8)          New Index, of Linux's monitor
  /// ```
  func writeAdapter(
    _ adapter: UInt16, address: BluetoothAddress, at time: WallClockTime, to bytes: inout [UInt8]
  ) {
    let name = "hci\(adapter)"
    switch format {
    case .btsnoop: break
    case .btmon:
      writeRecordHead(
        original: 16, captured: 16,
        flags: UInt32(adapter) << 16 | UInt32(MonitorOpcode.newIndex.rawValue), time, to: &bytes)
      bytes += [0x00, 0xFF]  // primary, on a bus that is not known
      bytes += address.littleEndianBytes
      bytes += Array(name.utf8) + repeatElement(0, count: 8 - name.utf8.count)
    case .pcapng: writeInterface(name: name, to: &bytes)
    }
  }

  /// The maximum number of bytes that ``writeAdapter(_:address:at:to:)`` appends.
  static var maximumAdapterBytes: Int { 64 }
}
