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
  @inlinable @inline(__always)
  @discardableResult
  public mutating func decode<Sink: AdvertisingReportSink & ~Copyable>(
    event: RawSpan, adapter: UInt16 = 0, at time: Int64, into sink: inout Sink
  ) -> Bool {
    var cursor = ByteCursor(event)
    guard let header = cursor.peek(3) else {
      sink.refused(.truncatedPacket)
      return false
    }
    guard header.littleEndian(UInt8.self, at: 0) == 0x3E else { return false }  // HCI_LE_Meta
    let subevent = header.littleEndian(UInt8.self, at: 2)  // Subevent_Code
    guard subevent == 0x02 || subevent == 0x0D else { return false }
    let length = 2 &+ Int(header.littleEndian(UInt8.self, at: 1))  // Parameter_Total_Length
    cursor = ByteCursor(event.extracting(first: length))
    let isRight =
      (try? cursor.skip(3)) != nil
      && (subevent == 0x02
        ? decodeReports(&cursor, into: &sink)
        : decodeExtendedReports(&cursor, adapter: adapter, at: time, into: &sink))
    if !isRight { sink.refused(length > event.byteCount ? .truncatedPacket : .malformedPacket) }
    return true
  }

  /// HCI_LE_Advertising_Report.
  ///
  /// - Returns: Whether all reports that the event promises were there.
  @inlinable @inline(__always)
  func decodeReports<Sink: AdvertisingReportSink & ~Copyable>(
    _ cursor: inout ByteCursor, into sink: inout Sink
  ) -> Bool {
    do throws(ParseError) {
      for _ in 0..<(try cursor.readUInt8()) {  // Num_Reports
        // Event_Type, Address_Type, Address (6), Data_Length, Data, RSSI
        guard let header = cursor.peek(9) else { return false }
        let length = Int(header.littleEndian(UInt8.self, at: 8))
        guard let report = cursor.peek(10 &+ length) else { return false }
        try cursor.skip(10 &+ length)
        sink.heard(
          AdvertisingReport(
            data: report.extracting(9..<(9 &+ length)),
            address: BluetoothAddress(littleEndian: header, at: 2),
            addressType: AddressType(rawValue: header.littleEndian(UInt8.self, at: 1)),
            eventType: AdvertisingEventType(
              legacyEventType: header.littleEndian(UInt8.self, at: 0)),
            rssi: AdvertisingReport.rssi(hci: report.littleEndian(Int8.self, at: 9 &+ length))))
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
        // Event_Type (2), Address_Type, Address (6), Primary_PHY, Secondary_PHY, Advertising_SID,
        // TX_Power, RSSI, Periodic_Advertising_Interval (2), Direct_Address_Type, Direct_Address (6),
        // Data_Length, Data
        guard let header = cursor.peek(24) else { return false }
        try cursor.skip(24)
        let type = header.littleEndian(UInt16.self, at: 0)
        let report = AdvertisingReport(
          data: try cursor.read(Int(header.littleEndian(UInt8.self, at: 23))),
          address: BluetoothAddress(littleEndian: header, at: 3),
          addressType: AddressType(rawValue: header.littleEndian(UInt8.self, at: 2)),
          eventType: AdvertisingEventType(rawValue: type & 0x1F),
          rssi: AdvertisingReport.rssi(hci: header.littleEndian(Int8.self, at: 13)))
        let status = type >> 5 & 0b11  // Data_Status
        if status == 0, !fragments.isPending {
          sink.heard(report)
        } else {
          fragments.join(
            report, status: status, set: header.littleEndian(UInt8.self, at: 11), adapter: adapter, at: time, into: &sink)
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
