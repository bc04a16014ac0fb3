import Advertising

/// Packets that hold iBeacons, in every dress that captures put on them.
enum Adverts {
  static let uuid = ProximityUUID(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let address: [UInt8] = [0x06, 0x05, 0x04, 0x03, 0x02, 0xC1]

  static func frame(_ minor: UInt16) -> IBeacon {
    IBeacon(
      identity: BeaconIdentity(uuid: uuid, major: 1, minor: minor), measuredPower: -59)
  }

  /// An LE Advertising Report from its event code on.
  static func event(_ minor: UInt16, rssi: Int8 = -64) -> [UInt8] {
    let data = frame(minor).advertisingData
    let report = joined(
      [0x03, 0x01], address, [UInt8(data.count)], data, [UInt8(bitPattern: rssi)])
    return [0x3E, UInt8(report.count + 2), 0x02, 0x01] + report
  }

  /// The same with its H4 packet type: link type 187, btsnoop datalink 1002.
  static func h4(_ minor: UInt16, rssi: Int8 = -64) -> [UInt8] {
    [0x04] + event(minor, rssi: rssi)
  }

  /// Link type 201.
  static func h4WithDirection(_ minor: UInt16) -> [UInt8] { [0, 0, 0, 1] + h4(minor) }

  /// Link type 254: adapter, opcode 3, event.
  static func monitor(_ minor: UInt16, adapter: UInt8 = 0) -> [UInt8] {
    [0, adapter, 0, 3] + event(minor)
  }

  /// Link type 251: a packet of the advertising channels with its checksum.
  static func linkLayer(_ minor: UInt16, isCoded: Bool = false, damage: UInt8 = 0) -> [UInt8] {
    let payload = address + frame(minor).advertisingData
    let pdu = [0x42, UInt8(payload.count)] + payload
    var register: UInt32 = 0x55_5555
    for octet in pdu {
      for bit in 0..<8 {
        let feedback = register >> 23 ^ UInt32(octet >> bit & 1)
        register = register << 1 & 0xFF_FFFF
        if feedback == 1 { register ^= 0b110_0101_1011 }
      }
    }
    let checksum = (0..<3).map { octet -> UInt8 in
      let bits = register >> (16 - octet * 8)
      return (0..<8).reduce(UInt8(0)) { value, place in
        value | UInt8(bits >> (7 - place) & 1) << place
      }
    }
    let access: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E] + (isCoded ? [0x00] : [])
    return access + pdu + [checksum[0] ^ damage] + checksum.dropFirst()
  }

  /// Link type 256: channel, signal, noise, offenses, reference address, flags, packet.
  static func radio(_ minor: UInt16, signal: Int8, flags: UInt16, packet: [UInt8]? = nil)
    -> [UInt8]
  {
    let head: [UInt8] = [37, UInt8(bitPattern: signal), 0x80, 0, 0xD6, 0xBE, 0x89, 0x8E]
    return head + ByteOrder.little(flags) + (packet ?? linkLayer(minor))
  }

  /// Link type 272.
  static func nordic(
    _ minor: UInt16, version: UInt8, type: UInt8, flags: UInt8 = 1, loss: UInt8 = 64,
    packet: [UInt8]? = nil
  ) -> [UInt8] {
    let head: [UInt8] = [
      0x0C, 10, 49, version, 7, 0, type, 10, flags, 37, loss, 0, 0, 1, 2, 3, 4,
    ]
    return head + (packet ?? linkLayer(minor))
  }
}
