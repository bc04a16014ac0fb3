/// An interacting multiple model filter of the signal strength of one beacon. It separates the part
/// that depends on the distance.
///
/// - **State.** The signal is the sum of the level that the distance alone would give, of
///   shadowing, which changes only as the beacon moves, and of noise. Both parts are followed with
///   their covariance, because only the signal of a moving beacon distinguishes them.
/// - **Measurements** are means of the packets of ``measurementSeconds`` each, so most packets cost
///   one addition. A beacon that sends less often is measured with each packet.
/// - **Motions.** Four Kalman filters follow a beacon that is still, strolls, walks, or jumps. The
///   probability of each follows from its predictions, and each mixes in the others' states by the
///   probability of a change (H. A. P. Blom and Y. Bar-Shalom, "The interacting multiple model
///   algorithm for systems with Markovian switching coefficients", IEEE Transactions on Automatic
///   Control 33, 1988).
/// - **Path loss.** A movement changes the level more at shorter distances; ``SignalLaw`` has the
///   amount.
/// - **Outliers.** Measurements have Student's t distribution, so one dip counts for little and two
///   that agree count for much.
/// - **Noise** is learned for each beacon, because fading is not white; see ``Noise``.
///
/// The value is trivially copyable, owns no clock and calls no library function.
package struct RSSIFilter: BitwiseCopyable, Sendable, Equatable {
  /// For each motion: the level and the shadowing, in dB above ``level`` and ``shadowing``.
  @usableFromInline var levels = SIMD4<Float>.zero
  @usableFromInline var shadows = SIMD4<Float>.zero
  /// For each motion, in dB²: the variances of the two, and their covariance.
  @usableFromInline var levelVariances = SIMD4<Float>.zero
  @usableFromInline var covariances = SIMD4<Float>.zero
  @usableFromInline var shadowVariances = SIMD4<Float>.zero
  /// The probability of each motion.
  @usableFromInline var probabilities = SIMD4<Float>.zero
  /// The means of the mixture: the level, in dBm, and the shadowing, in dB.
  @usableFromInline var level: Float = 0
  @usableFromInline var shadowing: Float = 0
  /// The variances and the covariance of the mixture, in dB², the same in each lane.
  @usableFromInline var levelVariance = SIMD4<Float>.zero
  @usableFromInline var covariance = SIMD4<Float>.zero
  @usableFromInline var shadowVariance = SIMD4<Float>.zero
  /// The time of the last packet, in nanoseconds.
  @usableFromInline var latest: Int64 = .min
  /// The number of packets received, and of measurements since the level was last reset.
  @usableFromInline var received: UInt32 = 0
  @usableFromInline var measurements: UInt32 = 0
  /// The mean gap, in seconds.
  @usableFromInline var gap: Float = 0
  /// The packets since the last measurement: sum in dBm, number, and elapsed seconds.
  @usableFromInline var pendingSum: Float = 0
  @usableFromInline var pendingCount: Float = 0
  @usableFromInline var pendingSeconds: Float = 0
  @usableFromInline var noise = Noise()

  @inlinable
  package init() {}

  /// Receives a packet in dBm at a time in nanoseconds of a monotonic clock, and returns whether it
  /// completed a measurement, which alone changes ``mean``. A time before the last one counts as
  /// the last one.
  ///
  /// Every packet counts alike, including those of one event on three channels. A signal strength
  /// that is not a number or lies outside -128...127 dBm is ignored.
  @inlinable
  @discardableResult
  package mutating func update(rssi: Float, at time: Int64, law: SignalLaw = .standard) -> Bool {
    guard rssi >= -128, rssi <= 127 else { return false }
    let silence = received > 0 ? Self.seconds(from: latest, to: time) : .infinity
    latest = max(latest, time)
    let isNew = forgets(after: silence)
    learnInterval(silence)
    if isNew {
      begin(at: rssi, law)
      return true
    }
    pendingSum += rssi
    pendingCount += 1
    pendingSeconds += silence
    let isComplete = pendingSeconds + 0.5 * gap >= Self.measurementSeconds
    guard isComplete || measurements < 4 || pendingCount >= 256 else { return false }
    measure(law)
    return true
  }

  /// The time over which packets are averaged, in seconds.
  @inlinable static var measurementSeconds: Float { 0.3 }

  /// Returns whether a packet after a gap in seconds resets the level: after 10 s and ten
  /// intervals. The interval and the noise are kept.
  @inlinable
  package func forgets(after silence: Float) -> Bool { silence > 10 && silence > 10 * gap }

  /// Begins with a packet: all of it is the level, with the error of shadowing and, because that of
  /// a new beacon is not known, twice that of noise.
  @inlinable
  mutating func begin(at rssi: Float, _ law: SignalLaw) {
    (level, shadowing) = (rssi, 0)
    shadowVariance = SIMD4(repeating: law.shadowVariance)
    covariance = -shadowVariance
    levelVariance = shadowVariance + 2 * noise.variance
    (levels, shadows) = (.zero, .zero)
    (levelVariances, covariances, shadowVariances) = (levelVariance, covariance, shadowVariance)
    probabilities = Self.shares
    measurements = 1
    (pendingSum, pendingCount, pendingSeconds) = (0, 0, 0)
    noise.restart()
  }

  /// Learns the interval: the mean of the first 16 gaps, then an exponential mean of as many.
  ///
  /// One gap counts for at most four intervals and half a second, which bounds the effect of a
  /// pause. The least interval of a microsecond avoids slow denormals when the clock does not
  /// advance.
  @inlinable
  @inline(__always)
  mutating func learnInterval(_ seconds: Float) {
    if received >= 16 {
      gap = max(gap + (min(seconds, 4 * gap + 0.5) - gap) * 0.0625, 1e-6)
    } else if received > 0 {
      let bounded = min(seconds, received == 1 ? 30 : 4 * gap + 0.5)
      gap = max(gap + (bounded - gap) / Float(received), 1e-6)
    }
    received &+= received < .max ? 1 : 0
  }

  /// Returns the time from one instant to a later one, in seconds; 0 if it is not later.
  @inlinable
  static func seconds(from earlier: Int64, to later: Int64) -> Float {
    guard later > earlier else { return 0 }
    let difference = later.subtractingReportingOverflow(earlier)
    return Float(difference.overflow ? .max : difference.partialValue) * 1e-9
  }
}
