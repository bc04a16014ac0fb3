extension RSSIFilter {
  /// How an ``RSSIFilter`` smooths. The defaults suit beacons from 10 Hz to one packet in 10 s.
  package struct Parameters: BitwiseCopyable, Sendable, Hashable {
    /// The memory of the level in seconds, at the least.
    package var memory: Float
    /// The memory of the level in packets, at the least: it rules where the beacon is slow.
    package var packets: Float
    /// The memory of the fast mean in seconds, at the least.
    package var fastMemory: Float
    /// The memory of the fast mean in packets, at the least.
    package var fastPackets: Float
    /// The change that the detector overlooks, in deviations of a packet: half of the change it is
    /// built to find soonest (Page 1954). Smaller ones are left to the trend.
    package var slack: Float
    /// The evidence at which the detector fires for a beacon of 1 Hz, in deviations.
    ///
    /// In white noise false alarms are about exp(2 · slack · (threshold + 1.17)) / (4 · slack²)
    /// packets apart (Siegmund, *Sequential Analysis*, 1985): five days at 1 Hz. Real fading is
    /// not white, and what is to spare here is for what ``RSSIFilter`` does not learn of it.
    package var threshold: Float
    /// What each doubling of the packet rate adds to the threshold. In white noise
    /// ln 2 / (2 · slack) = 0.35 keeps false alarms equally rare an hour; fading, which binds more
    /// packets together the faster they come, asks for more.
    package var thresholdPerDoubling: Float
    /// How many times its own variance the square of a trend must be to count for half.
    package var caution: Float
    /// The silence in seconds after which the signal is forgotten; at least ten intervals.
    package var silence: Float

    /// The default parameters.
    @inlinable
    package init() {
      memory = 10
      packets = 12
      fastMemory = 1.2
      fastPackets = 1.5
      slack = 1
      threshold = 6
      thresholdPerDoubling = 0.6
      caution = 15
      silence = 10
    }

    /// The level's time constant in seconds for a packet interval in seconds.
    @inlinable
    func levelTime(_ interval: Float) -> Float { max(max(memory, packets * interval), 0.01) }

    /// The fast mean's time constant in seconds for a packet interval in seconds.
    @inlinable
    func fastTime(_ interval: Float) -> Float { max(max(fastMemory, fastPackets * interval), 0.01) }

    /// The detector's limit in deviations for a packet interval in seconds.
    ///
    /// The binary logarithm is read off the exponent and the mantissa taken as linear: it is at
    /// most 0.086 short, which moves the limit by 0.05.
    @inlinable
    func limit(interval: Float) -> Float {
      let bounded = min(max(interval, 0.01), 64)
      let logarithm = Float(Int32(bitPattern: bounded.bitPattern) &- 0x3F80_0000) * 0x1p-23
      return max(2, threshold - thresholdPerDoubling * logarithm)
    }
  }
}
