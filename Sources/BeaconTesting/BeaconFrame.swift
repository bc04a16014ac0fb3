public import Advertising
public import Scanning

/// An iBeacon frame, as it is sent and received.
public struct BeaconFrame: Sendable, Hashable {
  /// The beacon that sends it.
  public var identity: BeaconIdentity
  /// The measured power at 1 m that it states, in dBm.
  public var measuredPower: Int8
  /// The advertiser's address.
  public var address: BluetoothAddress

  /// Creates a frame.
  public init(
    _ identity: BeaconIdentity, measuredPower: Int8 = -59,
    address: BluetoothAddress = BluetoothAddress(rawValue: 0xC0_00_00_00_00_01)
  ) {
    (self.identity, self.measuredPower, self.address) = (identity, measuredPower, address)
  }

  /// Creates a frame.
  public init(uuid: ProximityUUID, major: UInt16, minor: UInt16, measuredPower: Int8 = -59) {
    self.init(BeaconIdentity(uuid: uuid, major: major, minor: minor), measuredPower: measuredPower)
  }

  /// The advertising data: flags and the iBeacon, 30 bytes.
  public var advertisingData: [UInt8] {
    IBeacon(identity: identity, measuredPower: measuredPower).advertisingData
  }

  /// Returns the HCI event for the frame, from the event's code on: an LE Advertising Report of one
  /// ADV_NONCONN_IND from a random address (Bluetooth Core 5.4, Vol 4, Part E, 7.7.65.2). Without a
  /// signal strength in dBm, it has 127, "not available".
  public func event(rssi: Int8?) -> [UInt8] {
    let data = advertisingData
    let head = [0x02, 0x01, 0x03, 0x01] + address.littleEndianBytes + [UInt8(data.count)]
    let report = head + data + [UInt8(bitPattern: rssi ?? 127)]
    return [0x3E, UInt8(report.count)] + report
  }

  /// Returns the frame as a sighting. The signal strength is in dBm; `nil` if it is not measured.
  public func sighting(at time: MonotonicTime, rssi: Int8?, adapter: UInt16 = 0) -> Sighting {
    Sighting(
      time: time, wallTime: time.wallClockTime(.zero), beacon: identity,
      measuredPower: measuredPower, rssi: rssi, address: address, addressType: .random,
      adapter: adapter)
  }
}
