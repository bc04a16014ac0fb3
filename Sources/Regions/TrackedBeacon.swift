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
  /// The reception time of the last sighting of this sender; `.min` if its next gap is unknown.
  var senderReceived = Int64.min
  /// The other senders of the identity, the one received longest ago first.
  var otherSenders: [OtherSender] = []
  /// The number of successive senders that were new.
  var newSenders = 0
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
  /// The number of losses of reception before the last sighting of this sender.
  var losses: UInt32 = 0

  /// A sender of the identity besides the one received last.
  struct OtherSender: Sendable {
    let address: BluetoothAddress
    let received: Int64
    let losses: UInt32
  }

  /// The most other senders whose gaps are learned.
  private static let maximumOtherSenders = 16

  /// Changes to the sender of a sighting. A gap is the silence of one sender: several beacons of
  /// one identity seem to send more often than each does. A private address may change with each
  /// packet: after as many new senders in a row as are kept, the gaps between them count.
  mutating func changeSender(to sighting: Sighting) {
    defer { sender = (sighting.address, sighting.addressType) }
    guard let sender else { return }
    let known = otherSenders.firstIndex { $0.address == sighting.address }
    newSenders = known == nil ? min(newSenders + 1, Self.maximumOtherSenders) : 0
    let returning = known.map { otherSenders.remove(at: $0) }
    if otherSenders.count == Self.maximumOtherSenders { otherSenders.removeFirst() }
    otherSenders.append(
      OtherSender(address: sender.address, received: senderReceived, losses: losses))
    guard newSenders < Self.maximumOtherSenders else { return }
    senderReceived = returning?.received ?? .min
    losses = returning?.losses ?? .max
  }

  /// Ignores the gaps that have begun, because reception changes within them.
  mutating func breakGaps() {
    losses = .max
    otherSenders.removeAll()
  }

  /// Returns the reception time of the exit by a timeout in seconds.
  func deadline(_ seconds: Double) -> Int64 {
    ReceptionClock.add(lastReceived, ReceptionClock.nanoseconds(seconds))
  }
}
