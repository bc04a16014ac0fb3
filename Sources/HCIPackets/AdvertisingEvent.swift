public import Advertising
public import Bytes

/// A reader of an HCI event with advertising reports (Core Specification, Vol 4, Part E, §7.7.65.2
/// for legacy and §7.7.65.13 for extended ones).
///
/// ```
/// 0x3E | Parameter_Total_Length | Subevent_Code: 0x02 or 0x0D | Num_Reports | reports
/// ```
@usableFromInline
package struct AdvertisingEvent: ~Escapable {
  /// Whether the reports are extended. ``nextFragment()`` reads these, ``nextReport()`` the others.
  @usableFromInline
  package let isExtended: Bool

  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  var position: Int
  /// The end of the parameters: that of the event, or of the captured bytes if they are cut short.
  @usableFromInline
  let end: Int
  @usableFromInline
  var left: UInt8
  @usableFromInline
  let isCutShort: Bool

  /// Reads the header of an event whose code is at `start` (1 after an H4 packet type). Returns
  /// `nil` if it has no advertising reports or ends too soon.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  package init?(_ bytes: RawSpan, at start: Int = 0) {
    unsafe self.init(bytes, from: start, to: bytes.byteCount)
  }

  /// Reads the header of an event that may end before the bytes do. The caller must have compared
  /// `limit` with the length.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  @unsafe
  package init?(_ bytes: RawSpan, from start: Int, to limit: Int) {
    guard start &+ 4 <= limit else {
      guard let isExtended = Self.kind(ofCut: bytes, at: start, to: limit) else { return nil }
      self.isExtended = isExtended
      self.bytes = bytes
      isCutShort = bytes.littleEndian(UInt8.self, at: start &+ 1) > 1
      end = limit
      position = end
      left = 1  // for all that is known
      return
    }
    // The four loads end before `limit`, which the guard compared.
    let code = unsafe bytes.littleEndian(UInt8.self, unchecked: start)
    let subevent = unsafe bytes.littleEndian(UInt8.self, unchecked: start &+ 2)
    guard code == 0x3E, subevent == 0x02 || subevent == 0x0D else { return nil }
    let whole = unsafe start &+ 2 &+ Int(bytes.littleEndian(UInt8.self, unchecked: start &+ 1))
    left = unsafe bytes.littleEndian(UInt8.self, unchecked: start &+ 3)
    self.bytes = bytes
    isExtended = subevent == 0x0D
    isCutShort = whole > limit
    end = isCutShort ? limit : whole
    position = start &+ 4
  }

  /// Returns ``isExtended`` for an event that may end after its Subevent_Code, else `nil`.
  @inlinable @inline(never)
  static func kind(ofCut bytes: RawSpan, at start: Int, to limit: Int) -> Bool? {
    guard start &+ 3 <= limit, bytes.littleEndian(UInt8.self, at: start) == 0x3E else { return nil }
    let subevent = bytes.littleEndian(UInt8.self, at: start &+ 2)
    return subevent == 0x0D ? true : subevent == 0x02 ? false : nil
  }

  /// Returns the report of an H4 packet with exactly one whole report, as nearly all are, else
  /// `nil`. ``nextReport()`` and ``nextFragment()`` return the same report. The caller must have
  /// compared `end` with the length.
  @inlinable @inline(__always)
  @unsafe
  package static func onlyReport(_ bytes: RawSpan, from start: Int, to end: Int)
    -> AdvertisingReportFields?
  {
    guard start &+ 15 <= end else { return nil }
    // Each load ends before `end`, or before an end that the lengths were compared with.
    let head = unsafe bytes.littleEndian(UInt64.self, unchecked: start)
    let length = Int(head >> 16 & 0xFF)
    guard start &+ 3 &+ length <= end else { return nil }
    // 04 | 3E | Parameter_Total_Length | Subevent_Code | Num_Reports
    let kind = head & 0xFF_FF00_FFFF
    if kind == 0x01_0200_3E04 {
      let count = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start &+ 13))
      guard length == count &+ 12 else { return nil }
      return unsafe AdvertisingReportFields(legacy: bytes, at: start &+ 5, count: count)
    }
    guard kind == 0x01_0D00_3E04, length >= 26 else { return nil }
    let count = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start &+ 28))
    let type = unsafe bytes.littleEndian(UInt8.self, unchecked: start &+ 5)
    guard length == count &+ 26, AdvertisingFragment.dataStatus(type) == 0 else { return nil }
    return unsafe AdvertisingReportFields(extended: bytes, at: start &+ 5, count: count)
  }

  /// Returns the next report of an LE Advertising Report event, or `nil` after the last.
  @usableFromInline
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func nextReport() throws(Refusal) -> AdvertisingReport? {
    guard let fields = try nextFields() else { return nil }
    return unsafe AdvertisingReport(bytes, fields)  // compared there
  }

  /// Returns the fields of the next report of an LE Advertising Report, or `nil` after the last.
  ///
  /// ```
  /// Event_Type | Address_Type | Address (6) | Data_Length | Data | RSSI
  /// ```
  ///
  /// - Throws: `Refusal` if the event ends too soon. Earlier reports remain valid.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func nextFields() throws(Refusal) -> AdvertisingReportFields? {
    guard left > 0 else { return nil }
    left &-= 1
    let start = position
    guard start &+ 10 <= end else { throw refuse() }
    // Every load and the part end before an end that was compared.
    let length = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start &+ 8))
    let last = start &+ 9 &+ length
    guard last < end else { throw refuse() }
    position = last &+ 1
    return unsafe AdvertisingReportFields(legacy: bytes, at: start, count: length)
  }

  /// Returns the next report of an LE Extended Advertising Report event, or `nil` after the last.
  ///
  /// ```
  /// Event_Type (2) | Address_Type | Address (6) | Primary_PHY | Secondary_PHY | Advertising_SID |
  /// TX_Power | RSSI | Periodic_Advertising_Interval (2) | Direct_Address_Type |
  /// Direct_Address (6) | Data_Length | Data
  /// ```
  @inlinable @inline(__always)
  @_lifetime(copy self)
  @_lifetime(self: copy self)
  package mutating func nextFragment() throws(Refusal) -> AdvertisingFragment? {
    guard left > 0 else { return nil }
    left &-= 1
    let start = position
    guard start &+ 24 <= end else { throw refuse() }
    // Every load and the part end before an end that was compared.
    let length = unsafe Int(bytes.littleEndian(UInt8.self, unchecked: start &+ 23))
    guard start &+ 24 &+ length <= end else { throw refuse() }
    position = start &+ 24 &+ length
    return unsafe AdvertisingFragment(
      bytes, AdvertisingReportFields(extended: bytes, at: start, count: length),
      dataStatus: AdvertisingFragment.dataStatus(bytes.littleEndian(UInt8.self, unchecked: start)),
      advertisingSet: bytes.littleEndian(UInt8.self, unchecked: start &+ 11))
  }

  /// Returns the refusal for an event that ends too soon, and discards the remaining reports.
  @inlinable
  @_lifetime(self: copy self)
  mutating func refuse() -> Refusal {
    left = 0
    return isCutShort ? .truncatedPacket : .malformedPacket
  }
}

/// One report of an extended event: a whole advert, or a fragment of a long one.
@usableFromInline
package struct AdvertisingFragment: ~Escapable {
  @usableFromInline
  let bytes: RawSpan
  @usableFromInline
  package let fields: AdvertisingReportFields
  /// Data_Status: 0 complete, 1 more to come, 2 truncated.
  @usableFromInline
  package var dataStatus: UInt8
  /// Advertising_SID; 0xFF if there is none.
  @usableFromInline
  package var advertisingSet: UInt8

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  @unsafe
  init(
    _ bytes: RawSpan, _ fields: AdvertisingReportFields, dataStatus: UInt8, advertisingSet: UInt8
  ) {
    self.bytes = bytes
    self.fields = fields
    self.dataStatus = dataStatus
    self.advertisingSet = advertisingSet
  }

  /// The report. Its data is complete only if ``isWhole`` is `true` and no fragment came before.
  @usableFromInline
  package var report: AdvertisingReport {
    @_lifetime(copy self)
    get { unsafe AdvertisingReport(bytes, fields) }
  }

  @inlinable @inline(__always)
  static func dataStatus(_ type: UInt8) -> UInt8 { type >> 5 & 0b11 }

  @inlinable @inline(__always)
  package var isWhole: Bool { dataStatus == 0 }
}

extension AdvertisingReportFields {
  @inlinable @inline(__always)
  @unsafe
  init(legacy bytes: RawSpan, at start: Int, count: Int) {
    let end = start &+ 9 &+ count
    unsafe self.init(
      from: start &+ 9, to: end,
      address: BluetoothAddress(littleEndian: bytes, unchecked: start &+ 2),
      addressType: AddressType(rawValue: bytes.littleEndian(UInt8.self, unchecked: start &+ 1)),
      eventType: AdvertisingEventType(
        legacyEventType: bytes.littleEndian(UInt8.self, unchecked: start)),
      rssi: AdvertisingReport.rssi(hci: bytes.littleEndian(Int8.self, unchecked: end)))
  }

  @inlinable @inline(__always)
  @unsafe
  init(extended bytes: RawSpan, at start: Int, count: Int) {
    unsafe self.init(
      from: start &+ 24, to: start &+ 24 &+ count,
      address: BluetoothAddress(littleEndian: bytes, unchecked: start &+ 3),
      addressType: AddressType(rawValue: bytes.littleEndian(UInt8.self, unchecked: start &+ 2)),
      eventType: AdvertisingEventType(
        rawValue: bytes.littleEndian(UInt16.self, unchecked: start) & 0x1F),
      rssi: AdvertisingReport.rssi(hci: bytes.littleEndian(Int8.self, unchecked: start &+ 13)))
  }
}

extension AdvertisingEventType {
  /// Converts Event_Type of an LE Advertising Report (Vol 4, Part E, §7.7.65.2).
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
