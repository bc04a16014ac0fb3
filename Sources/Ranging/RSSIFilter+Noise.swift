extension RSSIFilter {
  /// The noise of one beacon, learned from the means of two seconds each, or of single packets if these are rarer.
  ///
  /// The second difference of three neighboring means has six times their variance, whatever the level
  /// between them and however steadily it falls: what a walk adds is small. Multiplied by the number of packets, it is the
  /// variance that a packet would have if packets were independent. Fading that binds packets together is so
  /// counted in at the scale at which it matters, and nothing needs to be known of its spectrum.
  @usableFromInline
  struct Noise: BitwiseCopyable, Sendable, Equatable {
    /// The variance of a packet, as if packets were independent, in dB². At first that of 5 dB: indoor recordings show 2–5 dB.
    @usableFromInline var variance: Float = 25
    /// The share of the next sample in ``variance``.
    @usableFromInline var gain: Float = 1.0 / 18
    /// The packets of the mean that is gathered: sum in dBm, number, and seconds.
    @usableFromInline var sum: Float = 0
    @usableFromInline var count: Float = 0
    @usableFromInline var seconds: Float = 0
    /// The last two means, in dBm, and how many there were since the level began, at most 2.
    @usableFromInline var last: Float = 0
    @usableFromInline var lastButOne: Float = 0
    @usableFromInline var means: Float = 0

    @inlinable
    init() {}

    /// Begins after a silence: the means before it are no neighbors of those after it.
    @inlinable
    mutating func restart() { (sum, count, seconds, means) = (0, 0, 0, 0) }

    /// Learns from the packets of a measurement.
    @inlinable
    @inline(__always)
    mutating func learn(sum: Float, count: Float, seconds: Float, gap: Float) {
      self.sum += sum
      self.count += count
      self.seconds += seconds
      guard self.seconds + 0.5 * max(gap, RSSIFilter.measurementSeconds) > 2 else { return }
      let mean = self.sum / self.count
      if means == 2 {
        let bend = mean - 2 * last + lastButOne
        // Clipped at three deviations (Huber), so that a jump or a dip teaches little.
        let sample = min(bend * bend * self.count * (1 / 6), 9 * variance)
        variance = max(variance + (sample - variance) * gain, 1)
        // The plain mean of the samples, which becomes an exponential one of fifty.
        if gain > 0.02 { gain = max(gain / (1 + gain), 0.02) }
      }
      (lastButOne, last, means) = (last, mean, min(means + 1, 2))
      (self.sum, self.count, self.seconds) = (0, 0, 0)
    }
  }
}
