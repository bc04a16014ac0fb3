extension RSSIFilter {
  /// How much the level drifts by each motion, in dB² a second: still, slow, walking, jumping.
  @inlinable static var drifts: SIMD4<Float> { SIMD4(0.0001, 0.06, 2, 30) }

  /// The share of each motion among the beacons whose motion has just changed.
  @inlinable static var shares: SIMD4<Float> { SIMD4(0.86, 0.08, 0.02, 0.04) }

  /// How often the motion changes, per second.
  @inlinable static var changeRate: Float { 0.008 }

  /// The degrees of freedom of the measurements' distribution.
  @inlinable static var freedom: Float { 7 }

  /// Takes the packets since the last measurement as one.
  @inlinable
  @inline(__always)
  mutating func measure() {
    let scale = 1 / pendingCount
    let measured = pendingSum * scale
    let measuredVariance = noise.variance * scale
    let seconds = pendingSeconds

    // Mixing: what is known if the motion is this one now, whichever it was before.
    let (mean, variance) = estimate
    let change = Self.changeRate * seconds / (1 + Self.changeRate * seconds)
    let changed = change * Self.shares
    let prior = (1 - change) * probabilities + changed
    let mixed = changed / prior
    let apart = mean - levels
    let expected = levels + mixed * apart
    let spread =
      variances + mixed * (variance - variances + (1 - mixed) * apart * apart)
      + seconds * Self.drifts

    // Kalman's update, in which Student's t is a normal distribution whose variance grows with the
    // surprise: `weight` is 1 without one, and the density weight⁴ over the deviation.
    let error = measured - expected
    let total = spread + measuredVariance
    let weight = total / (total + error * error * (1 / Self.freedom))
    let share = spread / (spread * weight + measuredVariance)
    levels = expected + share * weight * error
    variances = share * measuredVariance
    let square = weight * weight
    let posterior = prior * square * square * Self.inverseRoot(total)
    // None falls so low that it could not return.
    probabilities = posterior * (1 / posterior.sum()) + 1e-6

    noise.learn(sum: pendingSum, count: pendingCount, seconds: seconds, gap: gap)
    measurements &+= measurements < .max ? 1 : 0
    (pendingSum, pendingCount, pendingSeconds) = (0, 0, 0)
  }

  /// Returns 1 over the square root, within 0.2 %: a guess from the exponent and one step of Newton's method (C.
  /// Lomont, "Fast inverse square root", 2003). Four lanes at once take less than one root.
  @inlinable
  @inline(__always)
  static func inverseRoot(_ value: SIMD4<Float>) -> SIMD4<Float> {
    let bits = 0x5F37_5A86 &- (unsafe unsafeBitCast(value, to: SIMD4<UInt32>.self) &>> 1)
    let guess = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self)
    return guess * (1.5 - 0.5 * value * guess * guess)
  }
}
