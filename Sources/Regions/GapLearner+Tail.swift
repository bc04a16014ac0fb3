internal import RealModule

extension GapLearner {
  /// The long gaps of a beacon: their number, and how fast it falls with length.
  ///
  /// The **tail rule** assumes an exponential fall above a threshold u. Of λ gaps a day that reach
  /// u, λ · exp(-(L - u) / β) exceed L, so L = u + β · ln(λ / wanted) gives the wanted number of
  /// false exits a day. It is applied twice: to about the 40 longest gaps of the last half day,
  /// which suffice to estimate β well, and to the 4 longest, which show a second and rarer cause of
  /// silence long before 40 gaps do. The longer timeout counts.
  package struct Tail: Sendable, BitwiseCopyable {
    /// The tail rule on some of the longest gaps.
    package struct Line: Sendable, BitwiseCopyable {
      /// The shortest of these gaps, in seconds.
      package var threshold: Float = 0
      /// The seconds in which their number falls to 1/e.
      package var scale: Float = 0
      /// Their number per day.
      package var perDay: Float = 0

      /// Returns the gap in seconds that is exceeded a number of times a day, at least
      /// ``threshold``.
      package func gap(perDay wanted: Float) -> Float {
        guard perDay > wanted, wanted > 0 else { return threshold }
        return threshold + scale * Float.log(perDay / wanted)
      }
    }

    package private(set) var common = Line()
    package private(set) var rare = Line()
    /// The share of packets that is not received, from 0 to 1.
    package private(set) var loss: Float = 0

    init() {}

    /// The number of gaps that each line uses.
    private static let commonGaps: Float = 40
    private static let rareGaps: Float = 4
    /// The artificial gaps that are added to each line, to limit the effect of a few real ones.
    private static let madeUp: Float = 4
    /// The least length of artificial gaps, in intervals, until 64 gaps are known: half of the
    /// packets lost. Reduced duty multiplies it.
    private static let assumedIntervals: Float = 2
    private static let assumedGaps: Float = 64
    /// The standard errors that are added to the scale of the common line.
    private static let errors: Float = 0.5

    init(
      _ histogram: GapHistogram, interval: Float, watched: Float, weight: Float,
      share: Float
    ) {
      let mean = max(watched / max(weight, 1), interval)
      loss = min(max(1 - interval / mean, 0), 1)
      // If packets were lost independently, the mean excess over any gap would be the mean gap.
      let assumed =
        Self.assumedIntervals / max(share, 0.01) * interval
        * min(1, Self.assumedGaps / max(weight, 1))
      let some = LongGaps(histogram, interval: interval, about: min(Self.commonGaps, weight / 4))
      let few = LongGaps(histogram, interval: interval, about: min(Self.rareGaps, weight / 4))
      let excess = some.excess(Self.madeUp, of: max(mean, assumed))
      let days = max(watched, interval) / 86400
      common = Line(
        threshold: some.base + interval,
        scale: Self.scale(excess, interval)
          * (1 + Self.errors / (some.count + Self.madeUp).squareRoot()),
        perDay: some.count / days)
      rare = Line(
        threshold: few.base + interval,
        scale: Self.scale(few.excess(Self.madeUp, of: excess), interval),
        perDay: few.count / days)
    }

    /// Returns the scale of multiples of an interval T that exceed a base by the mean e.
    ///
    /// Each multiple has the share 1 - T / e of the previous one, so the scale is T / ln(e / (e -
    /// T)), which is near e - T / 2 for long e.
    private static func scale(_ excess: Float, _ interval: Float) -> Float {
      let excess = max(excess, 1.02 * interval)
      return interval / Float.log(excess / (excess - interval))
    }

    /// Returns the gap in seconds that is exceeded a number of times a day, without limits.
    package func timeout(falseExitsPerDay wanted: Float) -> Float {
      max(common.gap(perDay: wanted), rare.gap(perDay: wanted))
    }
  }
}

/// The longest gaps of a histogram.
private struct LongGaps {
  var count: Float = 0
  /// Their total, in seconds.
  var sum: Float = 0
  /// The longest multiple of the interval that is too short, in seconds.
  var base: Float = 0

  init(_ histogram: GapHistogram, interval: Float, about wanted: Float) {
    var bin = GapHistogram.bins
    while bin > 0, count < wanted || count == 0 {
      bin -= 1
      guard histogram[bin] > 0 else { continue }
      count += histogram[bin]
      sum += histogram[bin] * Self.typical(bin, interval)
    }
    let start = GapHistogram.range(of: bin).start
    base = interval * max(0, (start / interval - 0.1).rounded(.up) - 1)
  }

  /// Returns their mean excess over the base, in seconds, including artificial gaps.
  func excess(_ madeUp: Float, of length: Float) -> Float {
    (sum - count * base + madeUp * length) / (count + madeUp)
  }

  /// Returns the typical gap in a bin, in seconds: the mean of the multiples of the interval in it.
  private static func typical(_ bin: Int, _ interval: Float) -> Float {
    let (start, end) = GapHistogram.range(of: bin)
    let first = (start / interval - 0.05).rounded(.up)
    let last = (end / interval - 0.05).rounded(.up) - 1
    return last >= first ? 0.5 * (first + last) * interval : 0.5 * (start + end)
  }
}
