extension RSSIFilter {
  /// The drift of the level for each motion, in dB² per second: still, slow, walking, jumping.
  @inlinable static var drifts: SIMD4<Float> { SIMD4(0.0001, 0.06, 2, 30) }

  /// The share of each motion among beacons whose motion has just changed.
  @inlinable static var shares: SIMD4<Float> { SIMD4(0.86, 0.08, 0.02, 0.04) }

  /// The rate of changes to each motion, per second, in the first second after a measurement.
  @inlinable static var changeRates: SIMD4<Float> { 0.008 * shares }

  /// The same after that second. A beacon that moves in part of a long gap seems to have jumped.
  @inlinable static var lateChangeRates: SIMD4<Float> { SIMD4(0, 0, 0, 0.001) }

  /// The degrees of freedom of the measurements' distribution.
  @inlinable static var freedom: Float { 7 }

  /// Processes the packets since the last measurement as one measurement.
  @inlinable
  @inline(__always)
  mutating func measure() {
    let scale = 1 / pendingCount
    let measured = pendingSum * scale - mean
    let measuredVariance = noise.variance * scale

    // Mixing: the state given that this motion is the current one, whichever was before. Unlike the
    // probabilities below, these are not normalized. None falls so low that it could not recover. A
    // motion continues for the first second of a long gap; only a beacon whose motion changes
    // within the gap is expected to drift for all of it. Therefore, for a slow beacon, a second
    // measurement that agrees with the first one after a jump is strong evidence for the jump.
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

    // Kalman's update, with Student's t as a normal distribution whose variance grows with the
    // surprise: `weight` is 1 without surprise, and the density is weight⁴ over the deviation. The
    // gain `share * total` avoids a division that waits for the other one.
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

    // The mixture's mean, relative to the previous one, and its variance. The sums are independent,
    // because the chain of operations takes the time here, not their number.
    let factor = 1 / Self.sum(posterior)
    let moved = Self.sum(posterior * updated) * factor
    let squares = Self.sum(posterior * (variances + updated * updated)) * factor
    probabilities = posterior * factor
    levels = updated - moved
    mean += moved
    // Rounding cannot take the variance below this, however far the level jumped.
    variance = max(squares - moved * moved, 1e-4)

    noise.learn(sum: pendingSum, count: pendingCount, seconds: pendingSeconds, gap: gap)
    measurements &+= measurements < .max ? 1 : 0
    (pendingSum, pendingCount, pendingSeconds) = (0, 0, 0)
  }

  /// Returns the sum of the lanes, added in pairs, which takes half the time of `sum()`.
  @inlinable
  @inline(__always)
  static func sum(_ lanes: SIMD4<Float>) -> Float {
    let pairs = lanes.lowHalf + lanes.highHalf
    return pairs.x + pairs.y
  }

  /// Returns 1 over the square root, within 0.2 %, faster than one root: a guess from the exponent
  /// and one step of Newton's method (C. Lomont, "Fast inverse square root", 2003).
  @inlinable
  @inline(__always)
  static func inverseRoot(_ value: SIMD4<Float>) -> SIMD4<Float> {
    let bits = 0x5F37_5A86 &- (unsafe unsafeBitCast(value, to: SIMD4<UInt32>.self) &>> 1)
    let guess = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self)
    return guess * (1.5 - 0.5 * value * guess * guess)
  }
}
