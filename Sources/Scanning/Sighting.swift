public import Advertising

/// One iBeacon frame that an adapter received.
@frozen
public struct Sighting: Hashable, Sendable, Codable, BitwiseCopyable {
  /// When it was received, on a line that never goes back: all logic runs on it. Live, it is the monotonic clock;
  /// in a replay it is the recorded time, held where the recording's clock steps back.
  public var time: MonotonicTime
  /// When it was received by the wall clock, or by the capture. Only shown.
  public var wallTime: WallClockTime
  /// The beacon that sent it.
  public var beacon: BeaconIdentity
  /// The power in dBm that the frame states is measured at 1 m, as received.
  public var measuredPower: Int8
  /// Received signal strength in dBm; `nil` where it was not measured. Such a sighting counts for
  /// presence, never for distance.
  public var rssi: Int8?
  /// The kind of ``address``.
  public var addressType: AddressType
  /// The advertiser's address.
  public var address: BluetoothAddress
  /// The adapter that received it: its index on the host, or in the capture.
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
}

extension Sighting {
  /// Creates a sighting of a frame in a report.
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

  /// Subtracts an adapter's offset from the signal strength: how much stronger than true it measures, in dB. One
  /// that is not finite changes nothing.
  package mutating func subtract(offset: Double) {
    guard offset != 0, offset.isFinite, let rssi else { return }
    self.rssi = Int8(min(max((Double(rssi) - offset).rounded(), -127), 20))
  }
}
