import Bytes

/// The fields of a report, and the position of its data. Without bytes, it stays in registers.
@usableFromInline
package struct AdvertisingReportFields: BitwiseCopyable {
  /// The bounds of the AD structures in the packet.
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

  /// Creates the fields; the caller has checked that `end` lies within the packet.
  @inlinable @inline(__always)
  @unsafe
  package init(
    from start: Int, to end: Int, address: BluetoothAddress, addressType: AddressType,
    eventType: AdvertisingEventType, rssi: Int8?
  ) {
    self.start = start
    self.end = end
    self.address = address
    self.addressType = addressType
    self.eventType = eventType
    self.rssi = rssi
  }
}

/// An advertising report or advertising-channel PDU, as a controller or a sniffer received it.
@usableFromInline
package struct AdvertisingReport: ~Escapable {
  package let bytes: RawSpan
  package let fields: AdvertisingReportFields

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

  /// Creates a report from its fields, whose bounds must lie within the bytes.
  @_lifetime(copy bytes)
  @unsafe
  package init(_ bytes: RawSpan, _ fields: AdvertisingReportFields) {
    self.bytes = bytes
    self.fields = fields
  }

  /// The raw AD structures, which ``ADStructures`` walks.
  package var data: RawSpan {
    @_lifetime(copy self)
    get { unsafe bytes.part(unchecked: fields.start, count: fields.end &- fields.start) }
  }
  /// The sender's address; zero if ``addressType`` is ``AddressType/anonymous``.
  package var address: BluetoothAddress { fields.address }
  package var addressType: AddressType { fields.addressType }
  package var eventType: AdvertisingEventType { fields.eventType }
  /// The received signal strength in dBm, −127 to +20; `nil` if the source did not measure it.
  package var rssi: Int8? { fields.rssi }

  /// Returns the signal strength in HCI's RSSI field: `nil` for 127 (not available) and for the
  /// reserved values outside −127 to +20 (Core Specification, Vol 4, Part E, §7.7.65.2).
  @inlinable
  package static func rssi(hci value: Int8) -> Int8? { value > 20 || value == .min ? nil : value }
}

/// The Event_Type bits of an LE Extended Advertising Report (Core Specification, Vol 4, Part E,
/// §7.7.65.13). Legacy reports and link-layer PDUs get the bits that the same table lists for them.
@usableFromInline
package struct AdvertisingEventType: OptionSet, Hashable, Sendable, BitwiseCopyable {
  @usableFromInline
  package var rawValue: UInt16

  @inlinable
  package init(rawValue: UInt16) { self.rawValue = rawValue }

  @inlinable
  package static var connectable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 0) }
  @inlinable
  package static var scannable: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 1) }
  @inlinable
  package static var directed: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 2) }
  @inlinable
  package static var scanResponse: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 3) }
  @inlinable
  package static var legacy: AdvertisingEventType { AdvertisingEventType(rawValue: 1 << 4) }

  @inlinable
  package static var advInd: AdvertisingEventType { [.legacy, .connectable, .scannable] }
  @inlinable
  package static var advDirectInd: AdvertisingEventType { [.legacy, .connectable, .directed] }
  @inlinable
  package static var advScanInd: AdvertisingEventType { [.legacy, .scannable] }
  @inlinable
  package static var advNonconnInd: AdvertisingEventType { [.legacy] }
  /// SCAN_RSP. The PDU alone does not show whether the advertiser is connectable.
  @inlinable
  package static var scanRsp: AdvertisingEventType { [.legacy, .scannable, .scanResponse] }
}
