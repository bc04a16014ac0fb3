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
  /// Of a beacon that moves, the model overrates the variance by a constant share: fading over the
  /// way averages out which it counts as shadowing. The share is that by which the intervals of
  /// simulated walks were too wide.
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
