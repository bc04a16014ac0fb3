internal import Clocks

/// The evidence of fixes about a circle that is open. Distances are in meters, negative inside.
struct GeofenceEvidence: Sendable {
  struct Look {
    var time: MonotonicTime
    /// The seconds since the previous fix.
    var interval: Double
    var distanceOutside: Double
    /// The radius of 68 %, in meters.
    var accuracy: Double
    /// The evidence of the fix against jitter, by ``JitterTest``.
    var againstJitter: SIMD8<Double>
    /// The speed along the path of the fixes, in meters per second.
    var speed: Double
    /// The evidence of the way before the fix against jitter.
    var way: SIMD8<Double>
  }

  /// The least logarithm of the likelihood ratio of a path to jitter: a ratio of 9 million.
  private static let noJitter = 16.0
  /// The same for a receiver that stays, which slow jitter resembles.
  private static let noSlowJitter = 40.0
  /// The least logarithm, which lets a receiver that stayed at an edge for long move on.
  private static let least = SIMD8<Double>(repeating: -4)
  /// The longest time in which an error is forgotten, in seconds.
  private static let correlation = 60.0
  /// The same for jitter.
  private static let jitterCorrelation = 300.0
  /// The shortest stay that decides, in seconds.
  private static let shortestStay = 60.0
  /// The seconds of fixes that determine a first state.
  private static let firstLook = 8.0
  /// The time for which a stay is remembered, in seconds.
  private static let longestStay = 1800.0

  private(set) var start: MonotonicTime
  private(set) var fixes = 0
  private(set) var last: Look
  private var weight = 0.0
  /// The seconds in the mean.
  private var duration = 0.0
  private var mean = 0.0
  private var squares = 0.0
  /// The mean of the last minute.
  private var recent = 0.0
  private var accuracy = 0.0
  /// The evidence against jitter of all fixes, and of the way and the fixes that move.
  private var againstJitter = SIMD8<Double>.zero
  private var travel = SIMD8<Double>.zero
  /// The latest consecutive fixes that lie clearly beyond.
  private var clear: (fixes: Int, side: GeofenceState, start: MonotonicTime)?

  /// The number of fixes on each side that lie beyond by their accuracy.
  private var beyond = (inside: 0, outside: 0)

  var side: GeofenceState { mean < 0 ? .inside : .outside }

  init(_ look: Look) {
    (start, last, travel) = (look.time, look, look.way)
  }

  /// The first state that the fixes since ``start`` allow by the rules of ``GeofenceMonitor``.
  var firstState: GeofenceState? {
    guard (side == .inside ? beyond.inside : beyond.outside) >= 2,
      last.time.seconds(since: start) >= Self.firstLook,
      abs(mean) > 1.5 * max(accuracy, last.accuracy), side(beyond: last.accuracy) == side
    else { return nil }
    return side
  }

  /// Adds a fix, and returns the side if it is now decided, with the rule that decided.
  mutating func add(_ look: Look) -> (side: GeofenceState, rule: GeofenceTransition.Rule)? {
    last = look
    fixes += 1
    addToMean(look)
    switch side(beyond: look.accuracy) {
    case .inside?: beyond.inside += 1
    case .outside?: beyond.outside += 1
    case .unknown?, nil: break
    }
    addToClear(look)
    if let clear, clear.fixes >= 2, look.time.seconds(since: clear.start) >= 0.5 {
      return (clear.side, .clear)
    }
    addToRatios(look)
    if isPath { return (side, .travel) }
    return isStay ? (side, .stay) : nil
  }

  /// Whether the rule for travel of ``GeofenceMonitor`` holds.
  private var isPath: Bool {
    fixes >= 3 && last.speed >= JitterTest.walk && travel.min() >= Self.noJitter
      && side(beyond: last.accuracy) == side && recent * mean > 0 && abs(recent) >= 1.5 * accuracy
  }

  /// Whether the rule for stays of ``GeofenceMonitor`` holds.
  private var isStay: Bool {
    guard duration >= Self.shortestStay, fixes >= 16 else { return false }
    let spread = max((squares / weight).squareRoot(), accuracy / 2)
    let error = spread * (2 * Self.correlation / duration).squareRoot()
    guard abs(mean) >= max(2 * accuracy, 7 * error) else { return false }
    let jitter = max(JitterTest.jitter, accuracy * JitterTest.axis)
    let lasting = 2 * Self.jitterCorrelation
    return againstJitter.min() >= Self.noSlowJitter
      || abs(mean) >= 4 * jitter * (lasting / (duration + lasting)).squareRoot()
  }

  private mutating func addToMean(_ look: Look) {
    let step = fixes == 1 ? 0 : min(look.interval, 60)
    let kept = max(0, 1 - step / Self.longestStay)
    (weight, squares) = (weight * kept, squares * kept)
    duration = duration * kept + step
    let share = max(step, 0.01)
    var difference = look.distanceOutside - mean
    if weight > 0, abs(difference) > 5 * max(JitterTest.jitter, look.accuracy) {
      // The receiver has moved on.
      (weight, squares, duration, mean, difference) = (0, 0, 0, look.distanceOutside, 0)
    }
    weight += share
    mean += difference * share / weight
    squares += share * difference * (look.distanceOutside - mean)
    accuracy += (look.accuracy - accuracy) * share / weight
    recent += (look.distanceOutside - recent) * share / min(weight, max(share, 60))
  }

  private mutating func addToRatios(_ look: Look) {
    let ratios = look.againstJitter
    againstJitter = pointwiseMax(againstJitter + ratios, Self.least)
    travel = pointwiseMax(
      travel + JitterTest.travel(ratios, speed: look.speed), Self.least)
    // A receiver that travels does not come back.
    if let lastSide = side(beyond: look.accuracy), lastSide != side {
      travel = pointwiseMin(travel, .zero)
    }
  }

  private mutating func addToClear(_ look: Look) {
    guard abs(look.distanceOutside) >= max(3 * look.accuracy, 6 * JitterTest.jitter) else {
      return clear = nil
    }
    let side: GeofenceState = look.distanceOutside < 0 ? .inside : .outside
    if clear?.side == side { clear?.fixes += 1 } else { clear = (1, side, look.time) }
  }

  /// The side on which the last fix lies beyond doubt, if any.
  var sureSideOfLast: GeofenceState? { side(beyond: 2 * last.accuracy) }

  private func side(beyond margin: Double) -> GeofenceState? {
    guard abs(last.distanceOutside) >= margin else { return nil }
    return last.distanceOutside < 0 ? .inside : .outside
  }
}
