extension RSSIFilter {
  /// How much the level drifts by each motion, in dB² a second: still, slow, walking, jumping.
  @inlinable static var drifts: SIMD4<Float> { SIMD4(0.0001, 0.06, 2, 30) }

  /// The share of each motion among the beacons whose motion has just changed.
  @inlinable static var shares: SIMD4<Float> { SIMD4(0.86, 0.08, 0.02, 0.04) }

  /// How often the motion changes to each, per second, in the first second after a measurement.
  @inlinable static var changeRates: SIMD4<Float> { 0.008 * shares }

  /// The same in the seconds after the first. A beacon that moves for part of a long gap appears to have jumped.
  @inlinable static var lateChangeRates: SIMD4<Float> { SIMD4(0, 0, 0, 0.001) }

  /// The degrees of freedom of the measurements' distribution.
  @inlinable static var freedom: Float { 7 }

  /// Takes the packets since the last measurement as one.
  @inlinable
  @inline(__always)
  mutating func measure() {
    let scale = 1 / pendingCount
    let measured = pendingSum * scale - mean
    let measuredVariance = noise.variance * scale

    // Mixing: what is known if the motion is this one now, whichever it was before. The probabilities are not
    // normalized here, as they are below. None falls so low that it could not return.
    // A motion from before a long gap goes on for one second of it. Only a beacon that begins to move within the gap
    // is expected to drift for all of it. So, of a slow beacon, a second measurement that agrees with the first one after a
    // jump is strong evidence for the jump.
    let early = min(pendingSeconds, 1)
    let late = pendingSeconds - early
    let changed = early * Self.changeRates + late * Self.lateChangeRates + 1e-6
    let prior = probabilities + changed
    let mixed = changed / prior
    let expected = levels - mixed * levels
    let apart = levels * levels
    let spread =
      variances + early * Self.drifts
      + mixed * (variance - variances + apart - mixed * apart + late * Self.drifts)

    // Kalman's update, in which Student's t is a normal distribution whose variance grows with the
    // surprise: `weight` is 1 without one, and the density weight⁴ over the deviation. The gain is
    // `share * total`, from a fraction extended by `surprised`, so that neither division waits for the other.
    let error = measured - expected
    let total = spread + measuredVariance
    let surprised = total + error * error * (1 / Self.freedom)
    let weight = total / surprised
    let surprisedVariance = measuredVariance * surprised
    let share = spread / (spread * total + surprisedVariance)
    let updated = expected + share * total * error
    variances = share * surprisedVariance
    let square = weight * weight
    let posterior = square * square * (prior * Self.inverseRoot(total))

    // The mixture's mean, above the one before, and its variance. The sums do not wait for one another: what takes
    // the time here is the chain of operations, not their number.
    let factor = 1 / Self.sum(posterior)
    let moved = Self.sum(posterior * updated) * factor
    let squares = Self.sum(posterior * (variances + updated * updated)) * factor
    probabilities = posterior * factor
    levels = updated - moved
    mean += moved
    // Rounding takes it no lower, however far the level jumped.
    variance = max(squares - moved * moved, 1e-4)

    noise.learn(sum: pendingSum, count: pendingCount, seconds: pendingSeconds, gap: gap)
    measurements &+= measurements < .max ? 1 : 0
    (pendingSum, pendingCount, pendingSeconds) = (0, 0, 0)
  }

  /// Returns the sum of the lanes, added in pairs: `sum()` adds one after the other, which takes twice as long.
  @inlinable
  @inline(__always)
  static func sum(_ lanes: SIMD4<Float>) -> Float {
    let pairs = lanes.lowHalf + lanes.highHalf
    return pairs.x + pairs.y
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
