extension RSSIFilter {
  /// How an ``RSSIFilter`` smooths. The defaults suit beacons from 10 Hz to one packet in 10 s.
  @frozen
  public struct Parameters: BitwiseCopyable, Sendable, Hashable {
    /// The memory of the level in seconds, at the least.
    public var memory: Float
    /// The memory of the level in packets, at the least: it rules where the beacon is slow.
    public var packets: Float
    /// The memory of the fast mean in seconds, at the least.
    public var fastMemory: Float
    /// The memory of the fast mean in packets, at the least.
    public var fastPackets: Float
    /// The change that the detector overlooks, in deviations of a packet: half of the smallest
    /// change it is built to find (Page 1954).
    public var slack: Float
    /// The evidence at which the detector fires for a beacon of 1 Hz, in deviations.
    ///
    /// The mean time between false alarms grows as exp(2 · slack · threshold) packets (Siegmund,
    /// *Sequential Analysis*, 1985): 6 is about an hour at 1 Hz in white noise.
    public var threshold: Float
    /// What each doubling of the packet rate adds to the threshold, so that false alarms stay rare
    /// per hour and not merely per packet. ln 2 / (2 · slack) keeps them equal; the default is a
    /// little more.
    public var thresholdPerDoubling: Float
    /// How many times its own variance the square of a trend must be to count for half.
    public var caution: Float
    /// The silence in seconds after which the signal is forgotten; at least ten intervals.
    public var silence: Float

    /// The default parameters.
    @inlinable
    public init() {
      memory = 8
      packets = 12
      fastMemory = 1.2
      fastPackets = 1.5
      slack = 0.75
      threshold = 6
      thresholdPerDoubling = 0.6
      caution = 30
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
