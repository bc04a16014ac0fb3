extension RSSIFilter {
  /// Divisions done once in eight packets instead of for each.
  @frozen
  @usableFromInline
  struct Rates: BitwiseCopyable, Sendable, Equatable {
    /// One over the level's and the fast mean's time constants, per second.
    @usableFromInline var level: Float = 0
    @usableFromInline var fast: Float = 0
    /// One over the deviation of a packet, per dB.
    @usableFromInline var spread: Float = 0
    /// One over the detector's limit in deviations, autocorrelation counted in.
    @usableFromInline var evidence: Float = 0
    /// What one packet adds to the learnt noise.
    @usableFromInline var learning: Float = 0

    @inlinable
    init() {}
  }

  /// Computes the rates anew: for each of the first packets, then for every eighth.
  @inlinable
  mutating func refresh(_ parameters: Parameters) {
    rates.level = 1 / parameters.levelTime(gap)
    rates.fast = 1 / parameters.fastTime(gap)
    rates.spread = 1 / spread
    rates.evidence = 1 / (parameters.limit(interval: gap) * inflation)
    rates.learning = 1 / (Float(min(heard, 60)) + 10)
  }

  /// 1 - exp(-x) to within 2e-4 up to x = 0.25, the longest step with the default parameters.
  ///
  /// The series of the exponential function to its third power; above 1 it stays at its value
  /// there, 2/3.
  @inlinable
  @inline(__always)
  static func slowGain(_ x: Float) -> Float {
    let step = min(x, 1)
    return step * (1 - step * (0.5 - step * 0.166_666_67))
  }

  /// 1 - exp(-x) to within 0.0025 up to x = 2; above that it stays at its value there.
  ///
  /// A least-maximum fit of a cubic without constant term.
  @inlinable
  @inline(__always)
  static func fastGain(_ x: Float) -> Float {
    let step = min(x, 2)
    return step * (0.9729 - step * (0.4073 - step * 0.0688))
  }
}
