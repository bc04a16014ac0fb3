extension RSSIFilter {
  /// The noise of one beacon, learned from means over two seconds each, or from single packets if
  /// these are rarer.
  ///
  /// The second difference of three neighboring means has six times their variance, at any level
  /// and any steady slope; a walk adds little. Multiplied by the number of packets, it is the
  /// variance of a packet if packets were independent. It includes the fading that correlates
  /// packets at the scale that matters, whatever its spectrum.
  @usableFromInline
  struct Noise: BitwiseCopyable, Sendable, Equatable {
    /// The variance of a packet as if packets were independent, in dB². It starts as that of 5 dB,
    /// because indoor recordings show 2–5 dB.
    @usableFromInline var variance: Float = 25
    /// The weight of the next sample in ``variance``.
    @usableFromInline var gain: Float = 1.0 / 18
    /// The packets of the current mean: sum in dBm, number, and seconds.
    @usableFromInline var sum: Float = 0
    @usableFromInline var count: Float = 0
    @usableFromInline var seconds: Float = 0
    /// The last two means, in dBm, and how many of them are valid.
    @usableFromInline var last: Float = 0
    @usableFromInline var lastButOne: Float = 0
    @usableFromInline var means: Float = 0

    @inlinable
    init() {}

    /// Restarts after a gap: the means before it are not neighbors of those after it.
    @inlinable
    mutating func restart() { (sum, count, seconds, means) = (0, 0, 0, 0) }

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
        // Clipped at three deviations (Huber), so a jump or a dip has little effect.
        let sample = min(bend * bend * self.count * (1 / 6), 9 * variance)
        variance = max(variance + (sample - variance) * gain, 1)
        // A plain mean of the samples at first, later an exponential one of fifty.
        if gain > 0.02 { gain = max(gain / (1 + gain), 0.02) }
      }
      (lastButOne, last, means) = (last, mean, min(means + 1, 2))
      (self.sum, self.count, self.seconds) = (0, 0, 0)
    }
  }
}
