extension RSSIFilter {
  /// The time from one instant to a later one, in seconds; 0 if it is not later.
  @inlinable
  static func seconds(from earlier: Int64, to later: Int64) -> Float {
    guard later > earlier else { return 0 }
    // Unsigned, the difference is right even where the signed one would overflow.
    let nanoseconds = min(UInt64(bitPattern: later &- earlier), UInt64(Int64.max))
    return Float(Int64(truncatingIfNeeded: nanoseconds)) * 1e-9
  }

  /// The first packet.
  @inlinable
  mutating func start(rssi: Float, at time: Int64) {
    latest = time
    heard = 1
    level = rssi
    fast = rssi
    levelCount = 1
    fastCount = 1
  }

  /// Forgets the signal, but not the interval and the noise: the beacon was silent for long.
  /// The level starts at the signal that broke the silence.
  @inlinable
  mutating func forget(for rssi: Float) {
    level = rssi
    fast = rssi
    levelCount = 0
    fastCount = 0
    lastResidual = 0
    rise = Run()
    fall = Run()
  }

  /// Starts the level anew from the mean of the packets since a change.
  @inlinable
  mutating func restart() {
    let run = rise.score > fall.score ? rise : fall
    level = run.sum / run.count
    levelCount = run.count
    fast = level
    fastCount = run.count
    rise = Run()
    fall = Run()
  }

  /// The mean gap of the last 16 packets. One gap counts for at most four intervals and half a
  /// second, so that a pause does not pass for a slow beacon.
  @inlinable
  @inline(__always)
  mutating func learnInterval(_ elapsed: Float) {
    let bounded = min(elapsed, heard == 1 ? 30 : 4 * gap + 0.5)
    gap += (bounded - gap) * (heard < 16 ? 1 / Float(heard) : 0.0625)
  }

  /// Learns the deviation and the autocorrelation from the distance to the fast mean, over about
  /// 70 packets. Clipped at three deviations (Huber), so that an outlier teaches little. What a
  /// walk adds is small, because the fast mean walks along.
  ///
  /// - Parameter innovation: The distance in dB, times 1 - g / 4 for a fast mean of gain g: an
  ///   innovation has 2 / (2 - g) of a packet's variance.
  @inlinable
  @inline(__always)
  mutating func learnNoise(_ innovation: Float) {
    let residual = min(max(innovation * rates.spread, -3), 3)
    let product = min(max(residual * lastResidual, -1), 1)
    correlation += (product - correlation) * rates.learning
    lastResidual = residual
    // d² (1 + g (z² - 1)) without its square root, to first order in g.
    let growth = 1 + 0.5 * rates.learning * (residual * residual - 1)
    spread = min(max(spread * growth, 1), 20)
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
