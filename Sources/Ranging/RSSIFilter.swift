/// The smoothed signal strength of one beacon.
///
/// Three parts, each told only the packets:
///
/// - A **level**: the plain mean since the last change, which becomes an exponential mean once it
///   holds ``Parameters/memory`` seconds or ``Parameters/packets`` packets, whichever is longer.
/// - A **change detector**: Page's two-sided cumulative sum (Biometrika 41, 1954). When it fires,
///   the level starts anew from the mean *since the change*, not from a short window.
/// - A **trend**: a fast mean. What is reported leans from the level towards it only as far as
///   their difference exceeds its own standard error, so a walk is followed and noise is not.
///
/// The noise and its autocorrelation are learnt per beacon, because fading is not white: both the
/// detector's limit and the variance of the mean grow with them. The interval is learnt too.
///
/// The value is trivially copyable, owns no clock and calls no library function per packet.
@frozen
public struct RSSIFilter: BitwiseCopyable, Sendable, Equatable {
  /// When the last packet was heard, in nanoseconds.
  @usableFromInline var latest: Int64
  /// The packets heard in all.
  @usableFromInline var heard: UInt32
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
  /// The autocorrelation of neighbouring packets, and the last packet's share of it.
  @usableFromInline var correlation: Float
  @usableFromInline var lastResidual: Float
  /// What follows from interval and noise and changes slowly; see `refresh`.
  @usableFromInline var rates: Rates
  /// A suspected rise and a suspected fall.
  @usableFromInline var rise: Run
  @usableFromInline var fall: Run

  /// A filter that has heard nothing.
  @inlinable
  public init() {
    latest = .min
    heard = 0
    gap = 0
    spread = Self.assumedDeviation
    level = 0
    fast = 0
    levelCount = 0
    fastCount = 0
    correlation = 0
    lastResidual = 0
    rates = Rates()
    rise = Run()
    fall = Run()
  }

  /// The deviation of a packet before it is learnt, in dB: indoor recordings show 2–5 dB.
  @inlinable static var assumedDeviation: Float { 4 }

  /// Takes one packet in.
  ///
  /// Adverts of one event that are heard on several channels are packets like any other: each
  /// counts for at least half an interval. A signal strength that is not a number or lies outside
  /// -128...127 dBm is not heard at all.
  ///
  /// - Parameters:
  ///   - rssi: The signal strength, in dBm.
  ///   - time: When it was heard, in nanoseconds of a monotonic clock. A time that is not later
  ///     than the last one is taken as the same instant.
  ///   - parameters: How to smooth. They may change between packets.
  @inlinable
  public mutating func update(
    rssi: Float, at time: Int64, parameters: Parameters = Parameters()
  ) {
    guard rssi >= -128, rssi <= 127 else { return }
    guard heard > 0 else {
      start(rssi: rssi, at: time)
      return
    }
    let elapsed = Self.seconds(from: latest, to: time)
    latest = max(latest, time)
    if elapsed > max(parameters.silence, 10 * gap) { forget(for: rssi) }
    learnInterval(elapsed)
    if heard < .max { heard += 1 }
    if heard < 16 || heard & 7 == 0 { refresh(parameters) }

    let weight = min(max(elapsed, 0.5 * gap), 3 * gap)
    levelCount += 1
    fastCount += 1
    let levelGain = max(1 / levelCount, Self.slowGain(weight * rates.level))
    let fastGain = max(1 / fastCount, Self.fastGain(weight * rates.fast))
    let reach = 4 * spread
    let surprise = rssi - fast
    let residual = rssi - level
    // A level under suspicion moves at half its pace, so that it does not hide the change.
    let doubt = 1 - 0.5 * min(max(rise.score, fall.score), 1)
    fast += fastGain * min(max(surprise, -reach), reach)
    level += levelGain * doubt * min(max(residual, -reach), reach)
    learnNoise(surprise * (1 - 0.25 * fastGain))

    let score = min(max(residual * rates.spread, -3), 3)
    rise.add((score - parameters.slack) * rates.evidence, rssi: rssi)
    fall.add((-score - parameters.slack) * rates.evidence, rssi: rssi)
    if max(rise.score, fall.score) > 1 { restart() }
  }
}
