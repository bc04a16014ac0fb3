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

  /// The smoothed signal strength, in dBm; 0 before the first packet.
  @inlinable
  @inline(__always)
  package var mean: Float { levels[0] + (probabilities * (levels - levels[0])).sum() }

  /// The smoothed signal strength in dBm, and its variance in dB².
  ///
  /// The variance holds what fading and noise do to the mean, not shadowing or calibration: see
  /// ``ErrorBudget`` for those.
  @inlinable
  @inline(__always)
  package var estimate: (mean: Float, variance: Float) {
    guard received > 0 else { return (0, .greatestFiniteMagnitude) }
    let mean = mean
    let apart = levels - mean
    return (mean, (probabilities * (variances + apart * apart)).sum())
  }

  /// The variance of ``mean``, in dB².
  @inlinable
  package var variance: Float { estimate.variance }

  /// The square root of ``variance``, in dB.
  @inlinable
  package var standardError: Float { variance.squareRoot() }
}
