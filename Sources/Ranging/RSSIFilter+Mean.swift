extension RSSIFilter {
  /// The smoothed signal strength, in dBm; 0 before the first packet.
  @inlinable
  package var mean: Float { level + shadowing }

  /// The variance of ``mean`` from fading and noise, in dB². ``ErrorBudget`` adds the other errors.
  @inlinable
  package var variance: Float {
    guard received > 0 else { return .greatestFiniteMagnitude }
    return max(levelVariance.x + 2 * covariance.x + shadowVariance.x, 1e-4)
  }

  /// The square root of ``variance``, in dB.
  @inlinable
  package var standardError: Float { variance.squareRoot() }

  /// Returns the level that the distance alone explains, in dBm, and its variance in dB² at a time
  /// in nanoseconds: with shadowing, and with the motion since the last packet.
  ///
  /// For a moving beacon, the model overestimates the variance by a constant share, because fading
  /// that it counts as shadowing averages out along the path. The share is the excess width of the
  /// intervals of simulated walks.
  package func distanceLevel(at time: Int64, law: SignalLaw) -> (mean: Float, variance: Float) {
    let unmeasured = min(Self.seconds(from: latest, to: time), 5)
    let moved =
      Self.sum(probabilities * Self.drifts).x * law.scale(at: level) * unmeasured
    let overrated = Self.sum(probabilities * Self.overratedShares).x
    return (level, max(levelVariance.x + moved, 0) * (1 - overrated))
  }

  /// The time of the last packet, in nanoseconds of the caller's clock.
  @inlinable
  package var lastTime: Int64 { latest }

  /// The number of packets received, which saturates.
  @inlinable
  package var count: UInt32 { received }

  /// The mean time between received packets, in seconds, which grows with loss; 0 before the
  /// second.
  @inlinable
  package var interval: Float { gap }
}
