extension RSSIFilter {
  /// Returns the time from one instant to a later one, in seconds; 0 if it is not later.
  @inlinable
  static func seconds(from earlier: Int64, to later: Int64) -> Float {
    guard later > earlier else { return 0 }
    // Unsigned, the difference is right even where the signed one would overflow.
    let nanoseconds = min(UInt64(bitPattern: later &- earlier), UInt64(Int64.max))
    return Float(Int64(truncatingIfNeeded: nanoseconds)) * 1e-9
  }

  /// Starts with the first packet.
  @inlinable
  mutating func start(rssi: Float, at time: Int64) {
    latest = time
    received = 1
    level = rssi
    fast = rssi
    levelCount = 1
    fastCount = 1
  }

  /// Returns whether the level starts anew with the first packet after a silence in seconds.
  @inlinable
  package func forgets(after silence: Float, _ parameters: Parameters) -> Bool {
    silence > max(parameters.silence, 10 * gap)
  }

  /// Forgets the signal, but not the interval and the noise: the beacon was silent for long.
  /// The level starts at the signal that broke the silence.
  @inlinable
  mutating func forget(for rssi: Float) {
    level = rssi
    fast = rssi
    levelCount = 0
    fastCount = 0
    lastSurprise = 0
    rise = Run()
    fall = Run()
  }

  /// Starts the level anew from the mean of the packets since a change.
  ///
  /// They were chosen for lying far off, and some may be from before it: they count for half, so
  /// that the packets to come soon outweigh them.
  @inlinable
  mutating func restart() {
    let run = rise.score > fall.score ? rise : fall
    level = run.sum / run.count
    levelCount = max(1, 0.5 * run.count)
    fast = level
    fastCount = levelCount
    rise = Run()
    fall = Run()
  }

  /// Where time stands still the interval does not fall below a microsecond: numbers that shrink
  /// without end become denormal, and those are slow.
  @inlinable static var shortestGap: Float { 1e-6 }

  /// Learns from one of the first 16 packets: the interval is their mean gap, and everything follows it at once.
  ///
  /// After them it is an exponential mean of 16 gaps. One gap counts for at most four intervals
  /// and half a second, so that a pause does not pass for a slow beacon.
  @inlinable
  mutating func settle(_ elapsed: Float, _ parameters: Parameters) {
    let bounded = min(elapsed, received == 1 ? 30 : 4 * gap + 0.5)
    gap = max(gap + (bounded - gap) / Float(received), Self.shortestGap)
    received += 1
    refresh(parameters)
  }

  /// Learns the deviation and the autocorrelation from the distance to the fast mean, over about
  /// 70 packets. It comes clipped at three deviations (Huber), so that an outlier teaches little.
  /// What a walk adds is small, because the fast mean walks along.
  ///
  /// - Parameter surprise: The distance to the fast mean, in deviations of that distance.
  @inlinable
  @inline(__always)
  mutating func learnNoise(_ surprise: Float) {
    let product = min(max(surprise * lastSurprise, -1), 1)
    lastSurprise = surprise
    correlation += (product - correlation) * rates.learning
    // d² (1 + g (z² - 1)) without its square root, to first order in g.
    spread = max(spread + spread * (0.5 * rates.learning) * (surprise * surprise - 1), 1)
  }

  /// By how much autocorrelation inflates the variance of a mean: 1 for white noise.
  ///
  /// For first-order autocorrelation ρ it is (1 + ρ) / (1 - ρ) = 1 + 2ρ / (1 - ρ) (Bartlett,
  /// J. R. Stat. Soc. 98, 1935). Radio is part white and part slow, for which neighbours show too
  /// little of it: hence 4 rather than 2.
  @inlinable
  var inflation: Float {
    let bounded = min(max(correlation, 0), 0.9)
    return 1 + 4 * bounded / (1 - bounded)
  }
}
