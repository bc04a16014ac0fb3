public import Advertising

/// An iBeacon frame that an adapter received.
@frozen
public struct Sighting: Hashable, Sendable, Codable, BitwiseCopyable {
  /// The time of reception on a line that never goes back, which all logic uses: the monotonic
  /// clock, or in a replay the recorded time, which stops where the recording's clock steps back.
  public var time: MonotonicTime
  /// The time of reception by the wall clock or the capture, for display only.
  public var wallTime: WallClockTime
  /// The beacon that sent it.
  public var beacon: BeaconIdentity
  /// The signal strength at 1 m that the frame states, in dBm, as received.
  public var measuredPower: Int8
  /// The received signal strength in dBm; `nil` if not measured, which counts only for presence.
  public var rssi: Int8?
  /// The kind of ``address``.
  public var addressType: AddressType
  /// The advertiser's address.
  public var address: BluetoothAddress
  /// The index of the receiving adapter on the host, or in the capture.
  public var adapter: UInt16

  /// Creates a sighting.
  @inlinable
  public init(
    time: MonotonicTime, wallTime: WallClockTime, beacon: BeaconIdentity, measuredPower: Int8,
    rssi: Int8?, address: BluetoothAddress, addressType: AddressType, adapter: UInt16 = 0
  ) {
    self.time = time
    self.wallTime = wallTime
    self.beacon = beacon
    self.measuredPower = measuredPower
    self.rssi = rssi
    self.address = address
    self.addressType = addressType
    self.adapter = adapter
  }

  @inlinable @inline(__always)
  package init(
    _ frame: IBeacon, _ report: AdvertisingReportFields, time: MonotonicTime,
    wallTime: WallClockTime, adapter: UInt16
  ) {
    self.init(
      time: time, wallTime: wallTime, beacon: frame.identity, measuredPower: frame.measuredPower,
      rssi: report.rssi, address: report.address, addressType: report.addressType,
      adapter: adapter)
  }

  /// Subtracts from the signal strength the offset in dB by which an adapter measures too strong.
  /// An offset that is not finite changes nothing.
  package mutating func subtract(offset: Double) {
    guard offset != 0, offset.isFinite, let rssi else { return }
    self.rssi = Int8(min(max((Double(rssi) - offset).rounded(), -127), 20))
  }
}
