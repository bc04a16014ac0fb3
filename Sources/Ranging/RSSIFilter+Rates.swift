extension RSSIFilter {
  /// What follows from interval and noise and changes slowly: computed once in 16 packets.
  @usableFromInline
  struct Rates: BitwiseCopyable, Sendable, Equatable {
    /// The share of a packet in the level and in the fast mean, once these have their memory.
    @usableFromInline var levelGain: Float = 0
    @usableFromInline var fastGain: Float = 0
    /// One over the deviation of a packet's distance to the fast mean, per dB.
    @usableFromInline var scale: Float = 0
    /// One over the detector's limit, per dB: autocorrelation counted in.
    @usableFromInline var evidence: Float = 0
    /// The share of a packet in the learned noise.
    @usableFromInline var learning: Float = 0

    @inlinable
    init() {}
  }

  /// Computes the rates anew: for each of the first packets, then for every 16th.
  ///
  /// Packets count alike, whatever the gap before them: with the mean gap x in memories, each has
  /// the share 1 - exp(-x). For the level that is taken as x / (1 + x), within 0.004 of it up to
  /// x = 1/12, and for the fast mean as 1 - 1 / (1 + x + x²/2), within 0.016 up to x = 2/3: the
  /// longest steps that the default parameters know.
  @inlinable
  mutating func refresh(_ parameters: Parameters) {
    let slow = gap / parameters.levelTime(gap)
    let quick = gap / parameters.fastTime(gap)
    rates.levelGain = slow / (1 + slow)
    rates.fastGain = 1 - 1 / (1 + quick + 0.5 * quick * quick)
    // From an exponential mean of gain g, packets lie 2 / (2 - g) times their variance away.
    rates.scale = (1 - 0.5 * rates.fastGain).squareRoot() / spread
    rates.evidence = 1 / (spread * parameters.limit(interval: gap) * inflation)
    rates.learning = 1 / (Float(min(received, 60)) + 10)
  }
}
