internal import Advertising
internal import Scanning

struct TrackedBeacon: Sendable {
  var identity: BeaconIdentity
  /// The serial number of the beacon at this place.
  var serial: UInt32
  /// The reception time of the last sighting, adapted to the silence at the current duty.
  var lastReceived = Int64.min
  /// The silence at the other duty since the last sighting, in nanoseconds.
  var otherSilence: Int64 = 0
  /// The moment of the last sighting.
  var lastTime = MonotonicTime(nanoseconds: 0)
  var rssi: Int8?
  var measuredPower: Int8 = .max
  var sender: (address: BluetoothAddress, type: AddressType)?
  var samples = 0
  /// The learned gaps at the current duty, and at the other one.
  var learner = GapLearner()
  var otherLearner = GapLearner(share: RegionMonitor.slowShare)
  /// The signal, for regions that need each sighting.
  var statistics = SignalStatistics()
  var links: [Link] = []
  /// The generation of the index to which `links` belong.
  var generation: UInt32?
  /// The number of links that need each sighting.
  var attentive = 0
  /// The shortest exit timeout of links inside, in nanoseconds; `.max` if there is none.
  var shortest = Int64.max
  /// The reception time of the next check, no later than an exit is possible; `.max` for never.
  var wake = Int64.max
  /// The number of losses of reception before the last sighting.
  var losses: UInt32 = 0

  /// Returns the reception time of the exit by a timeout in seconds.
  func deadline(_ seconds: Double) -> Int64 {
    ReceptionClock.add(lastReceived, ReceptionClock.nanoseconds(seconds))
  }
}
