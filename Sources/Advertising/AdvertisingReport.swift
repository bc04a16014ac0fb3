import Bytes

/// What a report says beside its data, and where that stands in a packet. It holds no bytes, so that hot
/// loops keep it in registers.
@usableFromInline
package struct AdvertisingReportFields: BitwiseCopyable {
  /// Where the AD structures begin and end.
  @usableFromInline
  let start, end: Int
  @usableFromInline
  package var address: BluetoothAddress
  @usableFromInline
  package var addressType: AddressType
  @usableFromInline
  package var eventType: AdvertisingEventType
  @usableFromInline
  package var rssi: Int8?

  /// Makes the fields of a report whose data's end the caller has compared with the packet's.
  @inlinable @inline(__always)
  @unsafe
  package init(
    from start: Int, to end: Int, address: BluetoothAddress, addressType: AddressType,
    eventType: AdvertisingEventType, rssi: Int8?
  ) {
    (self.start, self.end) = (start, end)
    (self.address, self.addressType) = (address, addressType)
    (self.eventType, self.rssi) = (eventType, rssi)
  }
}

/// One advertising report or advertising-channel PDU, as the controller or the sniffer received it:
/// the value that every source of packets hands on.
@usableFromInline
package struct AdvertisingReport: ~Escapable {
  private let bytes: RawSpan
  private let fields: AdvertisingReportFields

  @usableFromInline
  @_lifetime(copy data)
  package init(
    data: RawSpan, address: BluetoothAddress, addressType: AddressType,
    eventType: AdvertisingEventType, rssi: Int8?
  ) {
    unsafe self.init(
      data,
      AdvertisingReportFields(
        from: 0, to: data.byteCount, address: address, addressType: addressType,
        eventType: eventType, rssi: rssi))
  }

  /// Makes a report that was found in a packet.
  @usableFromInline
  @_lifetime(copy bytes)
  @unsafe
  package init(_ bytes: RawSpan, _ fields: AdvertisingReportFields) {
    (self.bytes, self.fields) = (bytes, fields)
  }

  /// The AD structures, raw. See ``ADStructures``.
  @usableFromInline
  package var data: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: fields.start, count: fields.end &- fields.start) }
  }
  /// The sender. Zero where ``addressType`` is ``AddressType/anonymous``.
  @usableFromInline
  package var address: BluetoothAddress { fields.address }
  /// What kind of address that is.
  @usableFromInline
  package var addressType: AddressType { fields.addressType }
  /// What kind of advertising event it belongs to.
  @usableFromInline
  package var eventType: AdvertisingEventType { fields.eventType }
  /// Received signal strength in dBm, −127 to +20; `nil` where the source did not measure it.
  @usableFromInline
  package var rssi: Int8? { fields.rssi }

  /// Turns HCI's RSSI field into an optional: 127 means "not available", and what lies outside −127
  /// to +20 is reserved (Core Specification, Vol 4, Part E, §7.7.65.2).
  @inlinable
  package static func rssi(hci value: Int8) -> Int8? { value > 20 || value == .min ? nil : value }
}

/// The bits of Event_Type in an LE Extended Advertising Report (Core Specification, Vol 4, Part E, §7.7.65.13).
/// Legacy reports and link-layer PDUs are given the bits that the same table names for them.
@usableFromInline
package struct AdvertisingEventType: OptionSet, Hashable, Sendable, BitwiseCopyable {
  /// The bits on the wire.
  @usableFromInline
  package var rawValue: UInt16

  @inlinable
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A central may connect.
  @inlinable
  package static var connectable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 0) }
  /// A scanner may ask for more.
  @inlinable
  package static var scannable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 1) }
  /// Meant for one peer.
  @inlinable
  package static var directed: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 2) }
  /// The answer to a scan request.
  @inlinable
  package static var scanResponse: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 3) }
  /// Sent in a legacy PDU.
  @inlinable
  package static var legacy: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 4) }

  /// ADV_IND.
  @inlinable
  package static var advInd: AdvertisingEventType { [.legacy, .connectable, .scannable] }
  /// ADV_DIRECT_IND.
  @inlinable
  package static var advDirectInd: AdvertisingEventType { [.legacy, .connectable, .directed] }
  /// ADV_SCAN_IND.
  @inlinable
  package static var advScanInd: AdvertisingEventType { [.legacy, .scannable] }
  /// ADV_NONCONN_IND.
  @inlinable
  package static var advNonconnInd: AdvertisingEventType { [.legacy] }
  /// SCAN_RSP; whether the advertiser is connectable is not known from the PDU alone.
  @inlinable
  package static var scanRsp: AdvertisingEventType { [.legacy, .scannable, .scanResponse] }
}
