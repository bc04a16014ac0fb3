import Advertising
import Scanning

/// What a recording holds of one beacon, in constant memory.
struct BeaconStatistics {
  /// When it was first received, as the recording shows it.
  let first: WallClockTime
  /// When it was last received, as the recording shows it.
  private(set) var last: WallClockTime
  private(set) var sightings = 0
  /// Sightings with a signal strength.
  private var measured = 0
  private var weakest: Int8 = .max
  private var strongest: Int8 = .min
  private var gaps = AdvertisingInterval()
  /// The power in the latest frame.
  private(set) var measuredPower: Int8
  /// Where the latest frame came from.
  private(set) var address: BluetoothAddress
  private(set) var addressType: AddressType
  /// How often another address than the one before used the identity.
  private(set) var addressChanges = 0

  private var sum = 0
  private var squares = 0
  private var latest: MonotonicTime

  /// Starts with the first sighting, which is still to be given to ``receive(_:)``.
  init(_ sighting: Sighting) {
    first = sighting.wallTime
    last = sighting.wallTime
    latest = sighting.time
    measuredPower = sighting.measuredPower
    address = sighting.address
    addressType = sighting.addressType
  }

  @inline(__always)
  mutating func receive(_ sighting: Sighting) {
    if sightings > 0 { gaps.add(gap: sighting.time.nanoseconds(since: latest)) }
    sightings &+= 1
    last = sighting.wallTime
    latest = sighting.time
    measuredPower = sighting.measuredPower
    if sighting.address != address {
      addressChanges &+= 1
      address = sighting.address
      addressType = sighting.addressType
    }
    guard let rssi = sighting.rssi else { return }
    measured &+= 1
    sum &+= Int(rssi)
    squares &+= Int(rssi) &* Int(rssi)
    weakest = min(weakest, rssi)
    strongest = max(strongest, rssi)
  }

  /// Its interval and loss; `nil` where several senders use the identity in turn: the gaps belong to none of them.
  var interval: AdvertisingInterval? { addressChanges * 4 > sightings ? nil : gaps }

  /// The weakest and the strongest signal in dBm; `nil` where none was measured.
  var extremes: (weakest: Int8, strongest: Int8)? { measured > 0 ? (weakest, strongest) : nil }

  /// Mean signal strength in dBm; `nil` where none was measured.
  var mean: Double? { measured > 0 ? Double(sum) / Double(measured) : nil }

  /// Its standard deviation in dB.
  var deviation: Double? {
    guard let mean, measured > 1 else { return nil }
    let variance = (Double(squares) - mean * Double(sum)) / Double(measured - 1)
    return max(0, variance).squareRoot()
  }
}
