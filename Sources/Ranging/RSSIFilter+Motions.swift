extension RSSIFilter {
  /// The walk of each motion, in m² per second: still, strolling, walking, jumping.
  @inlinable static var drifts: SIMD4<Float> { SIMD4(1e-6, 0.5, 3, 10) }

  /// The change of the level without a motion of the beacon, in dB² per second.
  @inlinable static var unrest: Float { 0.0003 }

  /// The time in which each motion changes the shadowing, in seconds.
  @inlinable static var shadowSeconds: SIMD4<Float> { SIMD4(1e9, 8, 5, 12) }

  /// The share of the level's variance by which each motion is overestimated.
  @inlinable static var overratedShares: SIMD4<Float> { SIMD4(0, 0.2, 0.4, 0.4) }

  /// The share of each motion among beacons whose motion has just changed.
  @inlinable static var shares: SIMD4<Float> { SIMD4(0.66, 0.22, 0.062, 0.058) }

  /// The rate of changes to each motion, per second, in the first second after a measurement.
  @inlinable static var changeRates: SIMD4<Float> { 0.0018 * shares }

  /// The rate of jumps after that second, without other changes. A beacon that moves in part of a
  /// long gap appears to have jumped.
  @inlinable static var lateJumpRate: Float { 0.0015 }

  /// The degrees of freedom of the measurements' distribution.
  @inlinable static var freedom: Float { 7 }

  /// Processes the packets since the last measurement as one measurement.
  @inlinable
  @inline(__always)
  mutating func measure(_ law: SignalLaw) {
    let scale = 1 / pendingCount
    let measured = pendingSum * scale - level - shadowing
    let measuredVariance = noise.variance * scale

    // Mixing: the state given that this motion is the current one, whichever was before. Unlike the
    // probabilities below, these are not normalized. None falls so low that it could not recover. A
    // motion continues for the first second of a long gap; only a beacon whose motion changes
    // within the gap is expected to move for all of it. Therefore, for a slow beacon, a second
    // measurement that agrees with the first one after a jump is strong evidence for the jump.
    let early = min(pendingSeconds, 1)
    let late = pendingSeconds - early
    var changed = early * Self.changeRates + 1e-6
    changed.w += late * Self.lateJumpRate
    let prior = probabilities + changed
    let mixed = changed / prior
    let expectedLevel = levels - mixed * levels
    var expectedShadow = shadows - mixed * shadows
    var levelSpread =
      levelVariances + mixed * (levelVariance - levelVariances + expectedLevel * levels)
    var jointSpread = covariances + mixed * (covariance - covariances + expectedLevel * shadows)
    var shadowSpread =
      shadowVariances + mixed * (shadowVariance - shadowVariances + expectedShadow * shadows)

    // Prediction: the level drifts, the shadowing forgets (an Ornstein-Uhlenbeck process).
    // Jumps end at some 64 dB, beyond which nothing is known: greater variances would lose the small
    // ones to rounding.
    let slope = law.scale(at: level)
    let seconds = early + mixed * min(late, 400 / slope)
    levelSpread += (Self.drifts * slope + Self.unrest) * seconds
    let kept = Self.shadowSeconds / (Self.shadowSeconds + seconds)
    expectedShadow = kept * (expectedShadow + shadowing) - shadowing
    jointSpread *= kept
    shadowSpread = kept * kept * (shadowSpread - law.shadowVariance) + law.shadowVariance

    // Kalman's update, with Student's t as a normal distribution whose variance grows with the
    // surprise: `weight` is 1 without surprise, and the density is weight⁴ over the deviation. The
    // gain avoids a division that waits for the other one.
    let levelPart = levelSpread + jointSpread
    let shadowPart = jointSpread + shadowSpread
    let spread = levelPart + shadowPart
    let error = measured - expectedLevel - expectedShadow
    let total = spread + measuredVariance
    let surprised = total + error * error * (1 / Self.freedom)
    let weight = total / surprised
    let gain = total / (spread * total + measuredVariance * surprised)
    let levelGain = levelPart * gain
    let shadowGain = shadowPart * gain
    let updatedLevel = expectedLevel + levelGain * error
    let updatedShadow = expectedShadow + shadowGain * error
    levelVariances = levelSpread - levelGain * levelPart
    covariances = jointSpread - levelGain * shadowPart
    shadowVariances = shadowSpread - shadowGain * shadowPart
    let square = weight * weight
    let posterior = square * square * (prior * Self.inverseRoot(total))

    // The mixture's means, relative to the previous ones, and its covariance. The sums are
    // independent, because the chain of operations takes the time here, not their number.
    probabilities = posterior / Self.sum(posterior)
    let levelMoved = Self.sum(probabilities * updatedLevel)
    let shadowMoved = Self.sum(probabilities * updatedShadow)
    levels = updatedLevel - levelMoved
    shadows = updatedShadow - shadowMoved
    level += levelMoved.x
    shadowing += shadowMoved.x
    levelVariance = Self.sum(probabilities * (levelVariances + levels * levels))
    covariance = Self.sum(probabilities * (covariances + levels * shadows))
    shadowVariance = Self.sum(probabilities * (shadowVariances + shadows * shadows))

    noise.learn(sum: pendingSum, count: pendingCount, seconds: pendingSeconds, gap: gap)
    measurements &+= measurements < .max ? 1 : 0
    (pendingSum, pendingCount, pendingSeconds) = (0, 0, 0)
  }

  /// Returns the sum of the lanes in each lane. The lanes change places as halves of wider ones,
  /// because single lanes would let the compiler compute all that leads to them in pairs.
  @inlinable
  @inline(__always)
  static func sum(_ lanes: SIMD4<Float>) -> SIMD4<Float> {
    let halves = unsafe unsafeBitCast(lanes, to: SIMD2<UInt64>.self)
    let exchanged = SIMD2(halves.y, halves.x)
    let pairs = unsafe lanes + unsafeBitCast(exchanged, to: SIMD4<Float>.self)
    let words = unsafe unsafeBitCast(pairs, to: SIMD2<UInt64>.self)
    let rotated = words &<< 32 | words &>> 32
    return unsafe pairs + unsafeBitCast(rotated, to: SIMD4<Float>.self)
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
