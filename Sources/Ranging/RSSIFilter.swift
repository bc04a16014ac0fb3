/// The smoothed signal strength of one beacon.
///
/// Three parts, each given only the packets:
///
/// - A **level**: the plain mean since the last change, which becomes an exponential mean once it
///   holds ``Parameters/memory`` seconds or ``Parameters/packets`` packets, whichever is longer.
/// - A **change detector**: Page's two-sided cumulative sum (Biometrika 41, 1954). When it fires,
///   the level starts anew from the mean *since the change*, not from a short window.
/// - A **trend**: a fast mean. What is reported leans from the level towards it only as far as
///   their difference exceeds its own standard error, so a walk is followed and noise is not.
///
/// The noise and its autocorrelation are learned per beacon, because fading is not white: both the
/// detector's limit and the variance of the mean grow with them. The interval is learned too.
///
/// The value is trivially copyable, owns no clock and calls no library function per packet.
package struct RSSIFilter: BitwiseCopyable, Sendable, Equatable {
  /// When the last packet was received, in nanoseconds.
  @usableFromInline var latest: Int64
  /// The number of packets received.
  @usableFromInline var received: UInt32
  /// The mean gap, in seconds.
  @usableFromInline var gap: Float
  /// The standard deviation of a packet, in dB.
  @usableFromInline var spread: Float
  /// The mean since the last change, in dBm.
  @usableFromInline var level: Float
  /// The fast mean, in dBm.
  @usableFromInline var fast: Float
  /// The packets that `level` and `fast` rest on since the last change.
  @usableFromInline var levelCount: Float
  @usableFromInline var fastCount: Float
  /// The autocorrelation of neighboring packets, and the last packet's surprise.
  @usableFromInline var correlation: Float
  @usableFromInline var lastSurprise: Float
  /// What follows from interval and noise and changes slowly; see `refresh`.
  @usableFromInline var rates: Rates
  /// A suspected rise and a suspected fall.
  @usableFromInline var rise: Run
  @usableFromInline var fall: Run

  /// Creates a filter that has received nothing.
  @inlinable
  package init() {
    latest = .min
    received = 0
    gap = 0
    spread = Self.assumedDeviation
    level = 0
    fast = 0
    levelCount = 0
    fastCount = 0
    correlation = 0
    lastSurprise = 0
    rates = Rates()
    rise = Run()
    fall = Run()
  }

  /// The deviation of a packet before it is learned, in dB: indoor recordings show 2–5 dB.
  @inlinable static var assumedDeviation: Float { 4 }

  /// Receives a packet.
  ///
  /// Every packet counts alike, those of one event received on three channels too. A signal strength
  /// that is not a number or lies outside -128...127 dBm is ignored.
  ///
  /// - Parameters:
  ///   - rssi: The signal strength, in dBm.
  ///   - time: When it was received, in nanoseconds of a monotonic clock. A time that is not later
  ///     than the last one is taken as the same instant.
  ///   - parameters: How to smooth. A change takes effect within 16 packets.
  @inlinable
  package mutating func update(
    rssi: Float, at time: Int64, parameters: Parameters = Parameters()
  ) {
    guard rssi >= -128, rssi <= 127 else { return }
    guard received > 0 else {
      start(rssi: rssi, at: time)
      return
    }
    let elapsed = Self.seconds(from: latest, to: time)
    latest = max(latest, time)
    if forgets(after: elapsed, parameters) { forget(for: rssi) }
    if received < 16 {
      settle(elapsed, parameters)
    } else {
      gap = max(gap + (min(elapsed, 4 * gap + 0.5) - gap) * 0.0625, Self.shortestGap)
      received &+= received < .max ? 1 : 0
      if received & 15 == 0 { refresh(parameters) }
    }

    // One clip for all that follows: a packet counts for at most three deviations.
    let reach = 3 * spread
    let surprise = min(max(rssi - fast, -reach), reach)
    let residual = surprise + (fast - level)
    levelCount += 1
    fastCount += 1
    fast += max(1 / fastCount, rates.fastGain) * surprise
    level += max(1 / levelCount, rates.levelGain) * residual

    let slack = parameters.slack * spread
    rise.add((residual - slack) * rates.evidence, rssi: rssi)
    fall.add((-residual - slack) * rates.evidence, rssi: rssi)
    learnNoise(surprise * rates.scale)
    if max(rise.score, fall.score) > 1 { restart() }
  }
}
