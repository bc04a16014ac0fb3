public import Advertising

/// One iBeacon frame, heard once: who, when, how loud, and by which adapter.
@frozen
public struct Sighting: Hashable, Sendable, BitwiseCopyable {
  /// When it was heard, on a line that never goes back: all logic runs on it. Live, it is the
  /// monotonic clock; in a replay it is the recorded time, held where the recording's clock steps
  /// back.
  public var time: MonotonicTime
  /// What a clock on the wall said, or what the capture recorded. Only shown.
  public var wallTime: WallClockTime
  /// Which beacon it was.
  public var beacon: BeaconIdentity
  /// The power in dBm that the frame says is measured at 1 m, as heard.
  public var measuredPower: Int8
  /// Received signal strength in dBm; `nil` where it was not measured. Such a sighting counts for
  /// presence, never for distance.
  public var rssi: Int8?
  /// What kind of address ``address`` is.
  public var addressType: AddressType
  /// The advertiser's address.
  public var address: BluetoothAddress
  /// Which adapter heard it: its index on the host, or in the capture.
  public var adapter: UInt16

  /// Makes a sighting.
  @inlinable
  public init(
    time: MonotonicTime, wallTime: WallClockTime, beacon: BeaconIdentity, measuredPower: Int8,
    rssi: Int8?,
    address: BluetoothAddress, addressType: AddressType, adapter: UInt16 = 0
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
  /// Takes off how much stronger than true the adapter heard, in dB; a finite number.
  package mutating func take(off offset: Double) {
    guard offset != 0, let rssi else { return }
    self.rssi = Int8(min(max((Double(rssi) - offset).rounded(), -127), 20))
  }
}
