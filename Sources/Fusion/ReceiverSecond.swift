package import Advertising

/// The report of one receiver about a stretch of time, usually one second: what it received of each
/// beacon.
package struct ReceiverSecond: Sendable, Hashable {
  package struct Reception: Sendable, Hashable {
    package var beacon: BeaconIdentity
    /// The number of advertisements, at least one.
    package var count: Int
    /// The mean of their signal strengths in dBm, or `nil` if none had one.
    package var mean: Double?
    /// The signal strength at 1 m that the beacon advertises, in dBm.
    package var measuredPower: Int8?

    package init(
      _ beacon: BeaconIdentity, count: Int, mean: Double?, measuredPower: Int8? = nil
    ) {
      self.beacon = beacon
      self.count = count
      self.mean = mean
      self.measuredPower = measuredPower
    }
  }

  package var receiver: String
  /// A number of the receiver's start, and the number of the report since then.
  package var boot: UInt64
  package var number: UInt64
  /// The end of the stretch in milliseconds since 1970, by the receiver's wall clock.
  package var time: Int64
  /// The length of the stretch in seconds, from 0.001 to 3600.
  package var seconds: Double
  /// The seconds from ``time`` to the sending, if the report had to wait.
  package var delay: Double
  /// Whether the receiver could receive. If it could not, the missing beacons are no evidence.
  package var isReceiving: Bool
  package var receptions: [Reception]

  package init(
    receiver: String, boot: UInt64, number: UInt64, time: Int64, seconds: Double = 1,
    delay: Double = 0, isReceiving: Bool = true, receptions: [Reception]
  ) {
    self.receiver = receiver
    self.boot = boot
    self.number = number
    self.time = time
    self.seconds = seconds
    self.delay = delay
    self.isReceiving = isReceiving
    self.receptions = receptions
  }
  /// The second in which the stretch ended.
  package var second: Int64 { time >= 0 ? time / 1000 : (time - 999) / 1000 }
}
