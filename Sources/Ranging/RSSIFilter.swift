/// The smoothed signal strength of one beacon: an interacting multiple model filter.
///
/// - **Measurements** are means of the packets of ``measurementSeconds`` each, so most packets cost
///   one addition. A beacon that sends less often is measured with each packet.
/// - **Motions.** Four Kalman filters follow the level of a beacon that is still, moves slowly,
///   walks, or jumps. The probability of each follows from its predictions, and each mixes in the
///   others' states by the probability of a change (H. A. P. Blom and Y. Bar-Shalom, "The
///   interacting multiple model algorithm for systems with Markovian switching coefficients", IEEE
///   Transactions on Automatic Control 33, 1988).
/// - **Outliers.** Measurements have Student's t distribution, so one dip counts for little and two
///   that agree count for much.
/// - **Noise** is learned for each beacon, because fading is not white; see ``Noise``.
///
/// The mean and the variance of the mixture suffice for the interval of the distance.
///
/// The value is trivially copyable, owns no clock and calls no library function.
package struct RSSIFilter: BitwiseCopyable, Sendable, Equatable {
  /// For each motion: the level in dB above ``mean``, its variance in dB², and the probability.
  @usableFromInline var levels = SIMD4<Float>.zero
  @usableFromInline var variances = SIMD4<Float>.zero
  @usableFromInline var probabilities = SIMD4<Float>.zero
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

  /// The smoothed signal strength, in dBm; 0 before the first packet.
  @usableFromInline package var mean: Float = 0

  /// The variance of ``mean`` from fading and noise, in dB². ``ErrorBudget`` adds the other errors.
  @usableFromInline package var variance = Float.greatestFiniteMagnitude

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
  package mutating func update(rssi: Float, at time: Int64) -> Bool {
    guard rssi >= -128, rssi <= 127 else { return false }
    let silence = received > 0 ? Self.seconds(from: latest, to: time) : .infinity
    latest = max(latest, time)
    let isNew = forgets(after: silence)
    learnInterval(silence)
    if isNew {
      begin(at: rssi)
      return true
    }
    pendingSum += rssi
    pendingCount += 1
    pendingSeconds += silence
    let isComplete = pendingSeconds + 0.5 * gap >= Self.measurementSeconds
    guard isComplete || measurements < 4 || pendingCount >= 256 else { return false }
    measure()
    return true
  }

  /// The time over which packets are averaged, in seconds.
  @inlinable static var measurementSeconds: Float { 0.3 }

  /// Returns whether a packet after a gap in seconds resets the level: after 10 s and ten
  /// intervals. The interval and the noise are kept.
  @inlinable
  package func forgets(after silence: Float) -> Bool { silence > 10 && silence > 10 * gap }

  @inlinable
  mutating func begin(at rssi: Float) {
    (mean, variance) = (rssi, 2 * noise.variance)
    levels = .zero
    variances = SIMD4(repeating: variance)
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
