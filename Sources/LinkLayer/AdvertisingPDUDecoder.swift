public import Advertising
import Bytes

/// Finds the adverts in link-layer packets as sniffers record them (Core Specification, Vol 6,
/// Part B, §2.1 and §2.3).
///
/// ```
/// +----------------+------+--------+--------+------------------+-----+
/// | Access Address | (CI) | Header | Length |     Payload      | CRC |
/// +----------------+------+--------+--------+------------------+-----+
///  4 octets         coded   1 octet  1 octet  Length octets      3
/// ```
public enum AdvertisingPDUDecoder {
  /// What is known of a packet's checksum.
  public enum Checksum: Hashable, Sendable {
    /// The receiver checked it and found it right.
    case valid
    /// The receiver checked it and found it wrong.
    case wrong
    /// Nobody has checked it.
    case unchecked
  }

  /// The access address of the advertising channels, primary and secondary (§2.1.2).
  public static let accessAddress: UInt32 = 0x8E89_BED6

  /// Hands the advert in one packet to a sink, if it holds one.
  ///
  /// ADV_IND, ADV_NONCONN_IND, ADV_SCAN_IND and SCAN_RSP are reports, and the extended PDUs that
  /// carry advertising data (AUX_ADV_IND, AUX_SCAN_RSP; of a chained advert, each part alone). The
  /// others of the advertising channels carry none; data channels are passed over.
  ///
  /// - Parameters:
  ///   - packet: The packet from its access address to its CRC.
  ///   - isCoded: Whether it was sent on the LE Coded PHY, so that the coding indicator follows the
  ///     access address.
  ///   - checksum: What is known of its CRC.
  ///   - rssi: Signal strength in dBm, where the receiver measured it.
  ///   - sink: Who takes the report.
  /// - Returns: Whether it is a packet of the advertising channels.
  @discardableResult
  public static func decode<Sink: AdvertisingReportSink & ~Copyable>(
    packet: RawSpan, isCoded: Bool = false, checksum: Checksum, rssi: Int8?, into sink: inout Sink
  ) -> Bool {
    var cursor = ByteCursor(packet)
    do throws(ParseError) {
      guard try cursor.readLittleEndian(UInt32.self) == accessAddress else { return false }
    } catch {
      sink.refused(.truncatedPacket)
      return false
    }
    do throws(ParseError) {
      if isCoded { try cursor.skip(1) }  // Coding Indicator
      let pdu = cursor.rest
      let header = try cursor.readUInt8()
      let length = Int(try cursor.readUInt8())
      var payload = ByteCursor(try cursor.read(length))
      let crc = UInt32(try cursor.readLittleEndian(UInt16.self)) | UInt32(try cursor.readUInt8()) << 16
      let isRight =
        switch checksum {
        case .valid: true
        case .wrong: false
        case .unchecked: CRC24.advertising(pdu.extracting(first: 2 + length)) == crc
        }
      guard isRight else {
        sink.refused(.badCRC)
        return true
      }
      do throws(ParseError) {
        try decode(header: header, &payload, rssi: rssi, into: &sink)
      } catch {
        sink.refused(.malformedPacket)
      }
    } catch {
      // A packet that was damaged on air often has a wrong length: its CRC is then wrong too.
      sink.refused(checksum == .wrong ? .badCRC : .truncatedPacket)
    }
    return true
  }

  private static func decode<Sink: AdvertisingReportSink & ~Copyable>(
    header: UInt8, _ payload: inout ByteCursor, rssi: Int8?, into sink: inout Sink
  ) throws(ParseError) {
    let addressType: AddressType = header & 0x40 == 0 ? .public : .random  // TxAdd
    let eventType: AdvertisingEventType
    switch header & 0x0F {  // PDU Type
    case 0b0000: eventType = .advInd
    case 0b0010: eventType = .advNonconnInd
    case 0b0100: eventType = .scanRsp
    case 0b0110: eventType = .advScanInd
    case 0b0111: return try decodeExtended(&payload, addressType: addressType, rssi: rssi, into: &sink)
    default: return  // ADV_DIRECT_IND, SCAN_REQ, CONNECT_IND and their like: no advertising data
    }
    let address = try BluetoothAddress(parsing: &payload)  // AdvA
    sink.heard(
      AdvertisingReport(
        data: payload.rest, address: address, addressType: addressType, eventType: eventType,
        rssi: rssi))
  }

  /// Common Extended Advertising Payload Format (§2.3.4).
  private static func decodeExtended<Sink: AdvertisingReportSink & ~Copyable>(
    _ payload: inout ByteCursor, addressType: AddressType, rssi: Int8?, into sink: inout Sink
  ) throws(ParseError) {
    let lengthAndMode = try payload.readUInt8()
    var header = ByteCursor(try payload.read(Int(lengthAndMode & 0x3F)))  // Extended Header Length
    var address: BluetoothAddress?
    if header.remaining > 0, try header.readUInt8() & 0x01 != 0 {  // Extended Header Flags: AdvA
      address = try BluetoothAddress(parsing: &header)
    }
    guard payload.remaining > 0 else { return }
    sink.heard(
      AdvertisingReport(
        data: payload.rest, address: address ?? BluetoothAddress(rawValue: 0),
        addressType: address == nil ? .anonymous : addressType,
        eventType: AdvertisingEventType(rawValue: UInt16(lengthAndMode >> 6)), rssi: rssi))
  }
}
