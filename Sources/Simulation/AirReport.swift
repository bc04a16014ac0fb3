import Advertising
import Scanning

struct AirReport {
  var data: [UInt8]
  var address: BluetoothAddress
  var addressType: AddressType = .random
  var pdu: Scenario.PDU = .nonconn
  var rssi: Int8
  var beacon: IBeacon?

  /// Returns the sighting that a correct decoder must deliver, or `nil` if there is no iBeacon.
  func sighting(at time: WallClockTime) -> Sighting? {
    beacon.map {
      Sighting(
        time: time.monotonicTime(.zero), wallTime: time, beacon: $0.identity,
        measuredPower: $0.measuredPower, rssi: rssi == 127 ? nil : rssi, address: address,
        addressType: addressType)
    }
  }
}

extension AirReport {
  /// The format of LE Advertising Report (Core Specification, Vol 4, Part E, §7.7.65.2).
  var legacyBytes: [UInt8] {
    let type: UInt8 =
      switch pdu {
      case .ind: 0x00  // ADV_IND
      case .scan: 0x02  // ADV_SCAN_IND
      case .nonconn, .extended: 0x03  // ADV_NONCONN_IND
      }
    return [type, addressType.rawValue] + address.littleEndianBytes + [UInt8(data.count)] + data
      + [UInt8(bitPattern: rssi)]
  }

  static let longestFragment = 229

  enum DataStatus: UInt16 {
    case complete = 0b00
    case moreToCome = 0b01
    case truncated = 0b10
  }

  func extendedBytes(_ part: ArraySlice<UInt8>, _ status: DataStatus = .complete) -> [UInt8] {
    let kind: UInt16 =
      switch pdu {
      case .nonconn: 0x0010
      case .ind: 0x0013
      case .scan: 0x0012
      case .extended: 0x0000
      }
    let type = kind | status.rawValue << 5
    let isExtended = pdu == .extended
    return [UInt8(type & 0xFF), UInt8(type >> 8), addressType.rawValue] + address.littleEndianBytes
      + [
        0x01,  // Primary_PHY: LE 1M
        isExtended ? 0x01 : 0x00,  // Secondary_PHY
        isExtended ? 0x01 : 0xFF,  // Advertising_SID
        0x7F,  // TX_Power: not available
        UInt8(bitPattern: rssi),
        0x00, 0x00,  // Periodic_Advertising_Interval
        0x00,  // Direct_Address_Type
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // Direct_Address
        UInt8(part.count),
      ] + part
  }

  func bytes(isExtended: Bool) -> [UInt8] { isExtended ? extendedBytes(data[...]) : legacyBytes }

  static func event(_ reports: [UInt8], count: Int, isExtended: Bool) -> [UInt8] {
    // HCI event, LE Meta, Parameter_Total_Length, Subevent_Code, Num_Reports
    [0x04, 0x3E, UInt8(reports.count + 2), isExtended ? 0x0D : 0x02, UInt8(count)] + reports
  }
}
