import Advertising
import Bytes
import HCIPackets

/// The link layer's checksum as the specification draws it (Vol 6, Part B, §3.1.1): a register of 24
/// positions, one bit at a time. Written without a look at the table-driven one.
func checksum(of pdu: [UInt8]) -> [UInt8] {
  // Bit n is position n; the preset value is 0x555555. Feedback enters at 0, 1, 3, 4, 6, 9 and 10.
  var register: UInt32 = 0x55_5555
  for octet in pdu {
    for bit in 0..<8 {
      let feedback = register >> 23 ^ UInt32(octet >> bit & 1)
      register = register << 1 & 0xFF_FFFF
      if feedback == 1 { register ^= 0b110_0101_1011 }
    }
  }
  // Position 23 is sent first, and the first bit sent is the least significant of its octet.
  return (0..<3).map { octet -> UInt8 in
    let bits = register >> (16 - octet * 8)
    return (0..<8).reduce(UInt8(0)) { value, place in
      value | UInt8(bits >> (7 - place) & 1) << place
    }
  }
}

/// Packets as a sniffer records them.
enum Packet {
  static let access: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
  static let address: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0xC1]

  /// A packet with a right checksum.
  static func make(
    _ header: UInt8, _ payload: [UInt8], codingIndicator: UInt8? = nil, length: UInt8? = nil
  ) -> [UInt8] {
    let pdu = [header, length ?? UInt8(payload.count)] + payload
    let indicator = codingIndicator.map { [$0] } ?? []
    return access + indicator + pdu + checksum(of: pdu)
  }
}

/// What was read of a packet, as values.
struct ReadPDU: Equatable {
  var address: String
  var addressType: String
  var eventType: UInt16
  var rssi: Int8?
  var data: [UInt8]

  /// Reads a packet; `nil` for a PDU without advertising data.
  static func read(
    _ packet: [UInt8], isCoded: Bool = false, checksum: AdvertisingPDU.Checksum = .unchecked,
    rssi: Int8? = -51
  ) -> Result<ReadPDU?, Refusal> {
    do throws(Refusal) {
      let report = unsafe try AdvertisingPDU.read(
        packet.span.bytes, isCoded: isCoded, checksum: checksum, rssi: rssi)
      guard let report else { return .success(nil) }
      return .success(
        ReadPDU(
          address: "\(report.address)", addressType: "\(report.addressType)",
          eventType: report.eventType.rawValue, rssi: report.rssi,
          data: (0..<report.data.byteCount).map { report.data.littleEndian(UInt8.self, at: $0) }))
    } catch {
      return .failure(error)
    }
  }
}
