internal import RealModule

extension GapLearner {
  /// The long gaps of a beacon: how many there are, and how they thin out.
  ///
  /// The **tail rule**: above a threshold, gaps are taken to thin out exponentially. Of λ gaps a day
  /// that reach the threshold u, λ · exp(-(L - u) / β) exceed L, so that L = u + β · ln(λ / wanted)
  /// gives the wanted number of false exits a day. It is applied twice: to about the 40 longest gaps of
  /// the last half day, which are enough to estimate β well, and to the 4 longest, which show a second
  /// and rarer cause of silence long before there are 40 of it. The longer timeout counts.
  package struct Tail: Sendable, BitwiseCopyable {
    /// Some of the longest gaps.
    package struct Line: Sendable, BitwiseCopyable {
      /// The shortest of them, in seconds.
      package var threshold: Float = 0
      /// In how many seconds their number falls to 1/e.
      package var scale: Float = 0
      /// How many there are a day.
      package var perDay: Float = 0

      /// Returns the gap that is exceeded so many times a day, in seconds; at least ``threshold``.
      package func gap(perDay wanted: Float) -> Float {
        guard perDay > wanted, wanted > 0 else { return threshold }
        return threshold + scale * Float.log(perDay / wanted)
      }
    }

    /// About the forty longest gaps.
    package private(set) var common = Line()
    /// About the four longest.
    package private(set) var rare = Line()
    /// The share of packets that is not received, from 0 to 1.
    package private(set) var loss: Float = 0

    init() {}

    /// How many gaps each line rests on.
    private static let commonGaps: Float = 40
    private static let rareGaps: Float = 4
    /// Made-up gaps that count with each line's own, so that a few do not decide alone.
    private static let madeUp: Float = 4
    /// Until 64 gaps are known, made-up gaps last two intervals at least: half of the packets lost. At
    /// reduced duty as much more is taken for lost.
    private static let assumedIntervals: Float = 2
    private static let assumedGaps: Float = 64
    /// How many of its standard errors are added to the scale of the common line.
    private static let errors: Float = 0.5

    init(
      _ histogram: GapHistogram, interval: Float, watched: Float, weight: Float,
      share: Float
    ) {
      let mean = max(watched / max(weight, 1), interval)
      loss = min(max(1 - interval / mean, 0), 1)
      // Were packets lost independently, any gap would be exceeded by as much as gaps last.
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

    /// The scale of gaps that are multiples of an interval T and exceed a base by the mean e.
    ///
    /// Each multiple has the share 1 - T / e of the one before, so the scale is T / ln(e / (e - T)):
    /// near e - T / 2 where e is long.
    private static func scale(_ excess: Float, _ interval: Float) -> Float {
      let excess = max(excess, 1.02 * interval)
      return interval / Float.log(excess / (excess - interval))
    }

    /// Returns the gap that is exceeded so many times a day, in seconds, without floor or ceiling.
    package func timeout(falseExitsPerDay wanted: Float) -> Float {
      max(common.gap(perDay: wanted), rare.gap(perDay: wanted))
    }
  }
}

/// The longest gaps of a histogram.
private struct LongGaps {
  /// How many.
  var count: Float = 0
  /// How long they are together, in seconds.
  var sum: Float = 0
  /// The longest multiple of the interval that is not one of them, in seconds.
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

  /// By how much they exceed the base in the mean, in seconds, with some made-up ones.
  func excess(_ madeUp: Float, of length: Float) -> Float {
    (sum - count * base + madeUp * length) / (count + madeUp)
  }

  /// The gap that stands for a bin, in seconds: the mean of the multiples of the interval in it.
  private static func typical(_ bin: Int, _ interval: Float) -> Float {
    let (start, end) = GapHistogram.range(of: bin)
    let first = (start / interval - 0.05).rounded(.up)
    let last = (end / interval - 0.05).rounded(.up) - 1
    return last >= first ? 0.5 * (first + last) * interval : 0.5 * (start + end)
  }
}
