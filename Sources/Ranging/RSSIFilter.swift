/// The smoothed signal strength of one beacon: an interacting multiple model filter.
///
/// - **Measurements** are the means of the packets of ``measurementSeconds`` each, so that most packets cost an
///   addition. A beacon that sends less often is measured with each packet.
/// - **Motions.** Four Kalman filters follow the level. They differ in how fast they expect it to drift: that of
///   a beacon that is still, that moves slowly, that walks, and that jumps. The probability of each follows from how
///   well it foresaw the measurements, and each starts from what the others know as far as the motion may have
///   changed (H. A. P. Blom and Y. Bar-Shalom, "The interacting multiple model algorithm for systems with
///   Markovian switching coefficients", IEEE Transactions on Automatic Control 33, 1988).
/// - **Outliers.** Measurements have Student's t distribution rather than a normal one, so a dip counts for
///   little and two that agree count for much.
/// - **Noise** is learned for each beacon, because fading is not white; see ``Noise``.
///
/// The mean and the variance are those of the mixture: the distance's interval needs nothing else.
///
/// The value is trivially copyable, owns no clock and calls no library function.
package struct RSSIFilter: BitwiseCopyable, Sendable, Equatable {
  /// The level by each motion in dB above ``mean``, its variance in dB², and the motion's probability.
  @usableFromInline var levels = SIMD4<Float>.zero
  @usableFromInline var variances = SIMD4<Float>.zero
  @usableFromInline var probabilities = SIMD4<Float>.zero
  /// When the last packet was received, in nanoseconds.
  @usableFromInline var latest: Int64 = .min
  /// The number of packets received, and of measurements since the level began.
  @usableFromInline var received: UInt32 = 0
  @usableFromInline var measurements: UInt32 = 0
  /// The mean gap, in seconds.
  @usableFromInline var gap: Float = 0
  /// The packets since the last measurement: sum in dBm, number, and seconds since that.
  @usableFromInline var pendingSum: Float = 0
  @usableFromInline var pendingCount: Float = 0
  @usableFromInline var pendingSeconds: Float = 0
  @usableFromInline var noise = Noise()

  /// The smoothed signal strength, in dBm; 0 before the first packet.
  @usableFromInline package var mean: Float = 0

  /// The variance of ``mean``, in dB².
  ///
  /// It holds what fading and noise do to the mean, not shadowing or calibration: see ``ErrorBudget`` for those.
  @usableFromInline package var variance = Float.greatestFiniteMagnitude

  /// Creates a filter that has received nothing.
  @inlinable
  package init() {}

  /// Receives a packet in dBm at a time in nanoseconds of a monotonic clock, and returns whether it completed a
  /// measurement: ``mean`` changes with those alone. A time that is not later than the last one is taken as the same.
  ///
  /// Every packet counts alike, those of one event received on three channels too. A signal strength that is not a number
  /// or lies outside -128...127 dBm is ignored.
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

  /// The time over which packets are averaged.
  @inlinable static var measurementSeconds: Float { 0.3 }

  /// Returns whether the level begins anew with the first packet after a silence in seconds: after 10 s and ten
  /// intervals. Interval and noise are kept.
  @inlinable
  package func forgets(after silence: Float) -> Bool { silence > 10 && silence > 10 * gap }

  /// Begins the level with a packet.
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
  /// One gap counts for at most four intervals and half a second, so that a pause does not pass for a slow beacon. Where
  /// time stands still the interval does not fall below a microsecond: numbers that shrink without end become
  /// denormal, and those are slow.
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
