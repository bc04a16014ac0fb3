package import Advertising
import Bytes

/// A reader of link-layer advertising packets (Core Specification, Vol 6, Part B, §2.1 and §2.3).
///
/// ```
/// +----------------+------+--------+--------+------------------+-----+
/// | Access Address | (CI) | Header | Length |     Payload      | CRC |
/// +----------------+------+--------+--------+------------------+-----+
///  4 octets         coded   1 octet  1 octet  Length octets      3
/// ```
package enum AdvertisingPDU {
  package enum Checksum: Hashable, Sendable {
    case valid, wrong
    /// The receiver did not check it.
    case unchecked
  }

  /// The access address of the advertising channels, primary and secondary (§2.1.2).
  package static let accessAddress: UInt32 = 0x8E89_BED6

  package static func isAdvertising(_ packet: RawSpan) -> Bool {
    packet.byteCount >= 4 && packet.littleEndian(UInt32.self, at: 0) == accessAddress
  }

  /// Reads a packet, from its access address (followed by the coding indicator on the LE Coded PHY)
  /// to its CRC.
  ///
  /// Returns a report for ADV_IND, ADV_NONCONN_IND, ADV_SCAN_IND, SCAN_RSP, and extended PDUs with
  /// advertising data (AUX_ADV_IND, AUX_SCAN_RSP; each part of a chained advert by itself), and
  /// `nil` for other PDUs. Throws for a damaged packet.
  @_lifetime(copy packet)
  package static func read(
    _ packet: RawSpan, isCoded: Bool = false, checksum: Checksum, rssi: Int8?
  ) throws(Refusal) -> AdvertisingReport? {
    // A packet that was damaged on air often has a wrong length, so a wrong CRC explains it.
    let cutShort: Refusal = checksum == .wrong ? .badCRC : .truncatedPacket
    guard let start = ByteCursor(packet).peek(isCoded ? 7 : 6) else { throw cutShort }
    let pdu = packet.extracting(droppingFirst: start.byteCount - 2)
    let length = 2 + Int(pdu.littleEndian(UInt8.self, at: 1))
    guard pdu.byteCount >= length + 3 else { throw cutShort }
    let payload = pdu.extracting(2..<length)
    let crc =
      UInt32(pdu.littleEndian(UInt16.self, at: length))
      | UInt32(pdu.littleEndian(UInt8.self, at: length + 2)) << 16
    switch checksum {
    case .valid: break
    case .wrong: throw .badCRC
    case .unchecked:
      guard CRC24.advertising(pdu.extracting(first: length)) == crc else { throw .badCRC }
    }
    do throws(ParseError) {
      return try read(
        header: pdu.littleEndian(UInt8.self, at: 0), ByteCursor(payload), rssi: rssi)
    } catch {
      throw .malformedPacket
    }
  }

  @_lifetime(copy payload)
  private static func read(header: UInt8, _ payload: consuming ByteCursor, rssi: Int8?)
    throws(ParseError) -> AdvertisingReport?
  {
    let addressType: AddressType = header & 0x40 == 0 ? .public : .random  // TxAdd
    let eventType: AdvertisingEventType
    switch header & 0x0F {  // PDU Type
    case 0b0000: eventType = .advInd
    case 0b0010: eventType = .advNonconnInd
    case 0b0100: eventType = .scanRsp
    case 0b0110: eventType = .advScanInd
    case 0b0111: return try readExtended(payload, addressType: addressType, rssi: rssi)
    default: return nil  // ADV_DIRECT_IND, SCAN_REQ, CONNECT_IND and their like
    }
    let address = try BluetoothAddress(parsing: &payload)  // AdvA
    return AdvertisingReport(
      data: payload.rest, address: address, addressType: addressType, eventType: eventType,
      rssi: rssi)
  }

  /// Reads the Common Extended Advertising Payload Format (§2.3.4).
  @_lifetime(copy payload)
  private static func readExtended(
    _ payload: consuming ByteCursor, addressType: AddressType, rssi: Int8?
  ) throws(ParseError) -> AdvertisingReport? {
    let lengthAndMode = try payload.readUInt8()
    var header = ByteCursor(try payload.read(Int(lengthAndMode & 0x3F)))  // Extended Header Length
    var address: BluetoothAddress?
    if header.remaining > 0, try header.readUInt8() & 0x01 != 0 {  // Extended Header Flags: AdvA
      address = try BluetoothAddress(parsing: &header)
    }
    guard payload.remaining > 0 else { return nil }
    return AdvertisingReport(
      data: payload.rest, address: address ?? BluetoothAddress(rawValue: 0),
      addressType: address == nil ? .anonymous : addressType,
      eventType: AdvertisingEventType(rawValue: UInt16(lengthAndMode >> 6)), rssi: rssi)
  }
}

/// The link layer's checksum (Core Specification, Vol 6, Part B, §3.1.1): the polynomial
/// x²⁴ + x¹⁰ + x⁹ + x⁶ + x⁴ + x³ + x + 1, least significant bit first.
package enum CRC24 {
  /// The initial register on advertising channels: 0x555555, bit-reversed for the shift register.
  static let advertisingStart: UInt32 = 0xAA_AAAA

  /// Returns the 24-bit checksum of a PDU on an advertising channel, header included. On air, the
  /// least significant octet comes first.
  package static func advertising(_ pdu: RawSpan) -> UInt32 {
    var register = advertisingStart
    for index in 0..<pdu.byteCount {
      // The range of the loop keeps the load inside the bytes.
      let byte = unsafe pdu.unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self)
      register = register >> 8 ^ table[Int((register ^ UInt32(byte)) & 0xFF)]
    }
    return register
  }

  /// The change of the register for each octet. The bit-reversed polynomial is 0xDA6000.
  private static let table: [UInt32] = (0..<256).map { octet in
    (0..<8).reduce(UInt32(octet)) { register, _ in
      register & 1 == 1 ? register >> 1 ^ 0xDA_6000 : register >> 1
    }
  }
}
