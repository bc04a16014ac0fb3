public import Advertising
public import Bytes

/// Finds the advertising reports in HCI events.
///
/// ```
/// +------------+------------------------+---------------+------
/// | Event_Code | Parameter_Total_Length | Subevent_Code | …
/// +------------+------------------------+---------------+------
///  0x3E          1 octet                  0x02 or 0x0D
/// ```
///
/// LE Advertising Report and LE Extended Advertising Report events are read (Core Specification,
/// Vol 4, Part E, §7.7.65.2 and §7.7.65.13), with any number of reports; every other event is passed
/// over. Fragments of extended reports are joined; see ``FragmentJoiner`` for the bound.
@frozen
public struct HCIEventDecoder: ~Copyable {
  @usableFromInline
  var fragments = FragmentJoiner()

  /// Starts with no fragments pending.
  @inlinable
  public init() {}

  /// Hands every report of one event to a sink.
  ///
  /// A report is taken when it stands whole in the packet. An event that ends too soon gives those
  /// that came before the end, and is then refused.
  ///
  /// - Parameters:
  ///   - event: The event from its code on, without the H4 packet type.
  ///   - adapter: Who received it: fragments that different adapters heard are not joined.
  ///   - time: When it was received, in nanoseconds of any clock that does not go back.
  ///   - sink: Who takes the reports.
  /// - Returns: Whether it was an advertising event at all.
  @inlinable
  @discardableResult
  public mutating func decode<Sink: AdvertisingReportSink & ~Copyable>(
    event: RawSpan, adapter: UInt16 = 0, at time: Int64, into sink: inout Sink
  ) -> Bool {
    var cursor = ByteCursor(event)
    do throws(ParseError) {
      guard try cursor.readUInt8() == 0x3E else { return false }  // HCI_LE_Meta
      let length = Int(try cursor.readUInt8())  // Parameter_Total_Length
      let whole = length <= cursor.remaining
      let parameters = try cursor.read(min(length, cursor.remaining))
      var inner = ByteCursor(parameters, base: 2)
      switch try inner.readUInt8() {  // Subevent_Code
      case 0x02:
        if !decodeReports(&inner, into: &sink) {
          sink.refused(whole ? .malformedPacket : .truncatedPacket)
        }
        return true
      case 0x0D:
        if !decodeExtendedReports(&inner, adapter: adapter, at: time, into: &sink) {
          sink.refused(whole ? .malformedPacket : .truncatedPacket)
        }
        return true
      default:
        return false
      }
    } catch {
      sink.refused(.truncatedPacket)
      return false
    }
  }

  /// HCI_LE_Advertising_Report.
  ///
  /// - Returns: Whether all reports that the event promises were there.
  @inlinable
  func decodeReports<Sink: AdvertisingReportSink & ~Copyable>(
    _ cursor: inout ByteCursor, into sink: inout Sink
  ) -> Bool {
    do throws(ParseError) {
      for _ in 0..<(try cursor.readUInt8()) {  // Num_Reports
        let type = try cursor.readUInt8()  // Event_Type
        let addressType = AddressType(rawValue: try cursor.readUInt8())  // Address_Type
        let address = try BluetoothAddress(parsing: &cursor)  // Address
        let length = Int(try cursor.readUInt8())  // Data_Length
        let data = try cursor.read(length)  // Data
        let rssi = try cursor.readInt8()  // RSSI
        sink.heard(
          AdvertisingReport(
            data: data, address: address, addressType: addressType,
            eventType: AdvertisingEventType(legacyEventType: type),
            rssi: AdvertisingReport.rssi(hci: rssi)))
      }
      return true
    } catch {
      return false
    }
  }

  /// HCI_LE_Extended_Advertising_Report.
  @inlinable
  mutating func decodeExtendedReports<Sink: AdvertisingReportSink & ~Copyable>(
    _ cursor: inout ByteCursor, adapter: UInt16, at time: Int64, into sink: inout Sink
  ) -> Bool {
    do throws(ParseError) {
      for _ in 0..<(try cursor.readUInt8()) {  // Num_Reports
        let type = try cursor.readLittleEndian(UInt16.self)  // Event_Type
        let addressType = AddressType(rawValue: try cursor.readUInt8())  // Address_Type
        let address = try BluetoothAddress(parsing: &cursor)  // Address
        try cursor.skip(2)  // Primary_PHY, Secondary_PHY
        let set = try cursor.readUInt8()  // Advertising_SID
        try cursor.skip(1)  // TX_Power
        let rssi = try cursor.readInt8()  // RSSI
        // Periodic_Advertising_Interval, Direct_Address_Type, Direct_Address
        try cursor.skip(9)
        let length = Int(try cursor.readUInt8())  // Data_Length
        let report = AdvertisingReport(
          data: try cursor.read(length), address: address, addressType: addressType,
          eventType: AdvertisingEventType(rawValue: type & 0x1F),
          rssi: AdvertisingReport.rssi(hci: rssi))
        let status = type >> 5 & 0b11  // Data_Status
        if status == 0, !fragments.isPending {
          sink.heard(report)
        } else {
          fragments.join(
            report, status: status, set: set, adapter: adapter, at: time, into: &sink)
        }
      }
      return true
    } catch {
      return false
    }
  }
}

extension AdvertisingEventType {
  /// What an LE Advertising Report's Event_Type means (Core Specification, Vol 4, Part E,
  /// §7.7.65.2).
  @inlinable
  init(legacyEventType type: UInt8) {
    switch type {
    case 0x00: self = .advInd
    case 0x01: self = .advDirectInd
    case 0x02: self = .advScanInd
    case 0x04: self = .scanRsp
    default: self = .advNonconnInd
    }
  }
}
