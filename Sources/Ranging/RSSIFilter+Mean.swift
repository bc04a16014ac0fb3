extension RSSIFilter {
  /// When the last packet was received, in nanoseconds of the caller's clock.
  @inlinable
  package var lastTime: Int64 { latest }

  /// The number of packets received; it stays at its greatest value rather than wrapping.
  @inlinable
  package var count: UInt32 { received }

  /// The learned time between packets as received, in seconds; 0 before the second packet.
  ///
  /// Loss makes it longer than the beacon's own advertising interval.
  @inlinable
  package var interval: Float { gap }

  /// The learned standard deviation of one packet, in dB, outliers clipped.
  @inlinable
  package var deviation: Float { spread }

  /// The smoothed signal strength with the default parameters, in dBm; 0 before the first packet.
  @inlinable
  package var mean: Float { estimate(Parameters()).mean }

  /// The variance of ``mean`` with the default parameters, in dB².
  ///
  /// It holds what fading and noise do to the mean, not shadowing or calibration: see
  /// ``ErrorBudget`` for those.
  @inlinable
  package var variance: Float { estimate(Parameters()).variance }

  /// The square root of ``variance``, in dB.
  @inlinable
  package var standardError: Float { variance.squareRoot() }

  /// The smoothed signal strength is at least this, in dBm, whatever its exact value.
  @inlinable
  package var weakest: Float { min(level, fast) }

  /// The smoothed signal strength is at most this, in dBm.
  @inlinable
  package var strongest: Float { max(level, fast) }

  /// Returns the smoothed signal strength and its variance.
  ///
  /// - Parameter parameters: The parameters that ``update(rssi:at:parameters:)`` was given.
  /// - Returns: The mean in dBm and its variance in dB².
  @inlinable
  package func estimate(_ parameters: Parameters) -> (mean: Float, variance: Float) {
    guard received > 0 else { return (0, .greatestFiniteMagnitude) }
    let single = spread * spread * inflation
    // An exponential mean over T seconds rests on 2T / interval packets.
    let step = max(gap, 0.001)
    let levelPackets = max(1, min(levelCount, 2 * parameters.levelTime(gap) / step))
    let fastPackets = max(1, min(fastCount, 2 * parameters.fastTime(gap) / step))
    let levelVariance = single / levelPackets
    let trend = fast - level
    let trendVariance = single * max(1 / fastPackets - 1 / levelPackets, 0.02)
    // Shrinkage: nothing of a trend within its error, all of one far beyond it.
    let lean = trend * trend / (trend * trend + parameters.caution * trendVariance)
    let variance = levelVariance + lean * lean * trendVariance
    // Measured against the fast mean, slow fading shows only a part of its correlation. Twice more
    // the same inflation comes closer to the truth and costs white noise nothing.
    return (level + lean * trend, variance * inflation * inflation)
  }
}
