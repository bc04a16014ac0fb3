import Advertising
import Scanning

struct BeaconStatistics {
  let first: WallClockTime
  private(set) var last: WallClockTime
  private(set) var sightings = 0
  private(set) var signal = SignalStatistics()
  private var gaps = AdvertisingInterval()
  private(set) var measuredPower: Int8
  private(set) var address: BluetoothAddress
  private(set) var addressType: AddressType
  private(set) var addressChanges = 0

  private var latest: MonotonicTime
  /// The counts of sightings and of signal strengths, and the sum of these, when the latest sender
  /// began.
  private var before: (sightings: Int32, measured: Int32, sum: Int32) = (0, 0, 0)

  /// Starts with the first sighting, which must also be passed to ``receive(_:)``.
  init(_ sighting: Sighting) {
    first = sighting.wallTime
    last = sighting.wallTime
    latest = sighting.time
    measuredPower = sighting.measuredPower
    address = sighting.address
    addressType = sighting.addressType
  }

  /// Receives a sighting from the latest address; returns `false`, without a change, for another.
  @inline(__always)
  mutating func receive(_ sighting: Sighting) -> Bool {
    guard sighting.address == address else { return false }
    if sightings > 0 { gaps.add(gap: sighting.time.nanoseconds(since: latest)) }
    sightings &+= 1
    last = sighting.wallTime
    latest = sighting.time
    measuredPower = sighting.measuredPower
    if let rssi = sighting.rssi { signal.receive(rssi) }
    return true
  }

  /// Records that a sighting's sender uses the identity now, and returns the former sender.
  mutating func change(to sighting: Sighting) -> BeaconSender {
    defer {
      before = counts
      address = sighting.address
      addressType = sighting.addressType
    }
    addressChanges &+= 1
    return sender
  }

  // Differences of numbers that wrap are right.
  private var counts: (sightings: Int32, measured: Int32, sum: Int32) {
    (
      Int32(truncatingIfNeeded: sightings), Int32(truncatingIfNeeded: signal.measured),
      Int32(truncatingIfNeeded: signal.sum)
    )
  }

  var sender: BeaconSender {
    let now = counts
    return BeaconSender(
      address: address, addressType: addressType, sightings: Int(now.sightings &- before.sightings),
      measured: Int(now.measured &- before.measured), sum: Int(now.sum &- before.sum))
  }

  /// The interval and loss, or `nil` if several senders alternate.
  var interval: AdvertisingInterval? { addressChanges * 4 > sightings ? nil : gaps }
}

struct SignalStatistics: Sendable {
  fileprivate private(set) var measured = 0
  private var weakest: Int8 = .max
  private var strongest: Int8 = .min
  fileprivate private(set) var sum = 0
  private var squares = 0

  @inline(__always)
  mutating func receive(_ rssi: Int8) {
    measured &+= 1
    sum &+= Int(rssi)
    squares &+= Int(rssi) &* Int(rssi)
    weakest = min(weakest, rssi)
    strongest = max(strongest, rssi)
  }

  /// The weakest and strongest signal in dBm, or `nil` if none was measured.
  var extremes: (weakest: Int8, strongest: Int8)? { measured > 0 ? (weakest, strongest) : nil }
  var mean: Double? { measured > 0 ? Double(sum) / Double(measured) : nil }

  var deviation: Double? {
    guard let mean, measured > 1 else { return nil }
    let variance = (Double(squares) - mean * Double(sum)) / Double(measured - 1)
    return max(0, variance).squareRoot()
  }
}
