internal import Scanning

/// What fixes say of one circle while its state is open. Distances are to the boundary, in meters, negative inside.
struct GeofenceEvidence: Sendable {
  /// What a fix says of a circle.
  struct Look {
    var time: MonotonicTime
    /// The seconds since the fix before.
    var interval: Double
    var distanceOutside: Double
    /// In meters, 68 %.
    var accuracy: Double
    var travel: RecentTrack.Travel?
  }

  /// Fixes in succession that lie on one side by a margin.
  private struct Run: Sendable {
    var side: GeofenceState
    var start: MonotonicTime
    var fixes = 1
  }

  /// The jitter that any receiver may have, whatever accuracy it states, in meters along each axis.
  private static let jitter = 30.0
  /// How long it may take until jitter is forgotten, in seconds.
  private static let correlation = 60.0
  /// The shortest stay that decides, in seconds.
  private static let shortestStay = 30.0
  /// How long a stay is remembered, in seconds.
  private static let longestStay = 1800.0
  /// From this accuracy on, in meters, a place is taken to be found by cells or Wi-Fi, where an error stays.
  private static let network = 100.0

  private(set) var start: MonotonicTime
  private(set) var fixes = 0
  private(set) var last: Look
  private var weight = 0.0
  /// The seconds that the mean is over.
  private var duration = 0.0
  private var mean = 0.0
  private var squares = 0.0
  private var accuracy = 0.0
  private var clearRun: Run?
  private var travelRun: Run?

  /// The side on which the mean of the fixes lies.
  var side: GeofenceState { mean < 0 ? .inside : .outside }

  init(_ look: Look) {
    (start, last) = (look.time, look)
  }

  /// Adds a fix.
  ///
  /// - Returns: The side that is now decided, and by which rule.
  mutating func add(_ look: Look) -> (side: GeofenceState, rule: GeofenceTransition.Rule)? {
    last = look
    fixes += 1
    addToMean(look)
    let clear = max(3 * look.accuracy, 5 * Self.jitter)
    Self.extend(&clearRun, look, margin: clear)
    if let run = clearRun, run.fixes >= 2, look.time.seconds(since: run.start) >= 0.5 {
      return (run.side, .clear)
    }
    let isSmooth = look.travel?.isSmooth ?? true
    Self.extend(
      &travelRun, look, margin: max(2 * look.accuracy, isSmooth ? 0 : 2.5 * Self.jitter))
    if let run = travelRun, let travel = look.travel, run.fixes >= 2,
      look.time.seconds(since: run.start) >= max(0.9, travel.duration / 5)
    {
      return (run.side, .travel)
    }
    return isStay ? (side, .stay) : nil
  }

  private mutating func addToMean(_ look: Look) {
    let step = fixes == 1 ? 0 : min(look.interval, 60)
    let kept = max(0, 1 - step / Self.longestStay)
    (weight, squares) = (weight * kept, squares * kept)
    duration = duration * kept + step
    let share = max(step, 0.01)
    weight += share
    let difference = look.distanceOutside - mean
    mean += difference * share / weight
    squares += share * difference * (look.distanceOutside - mean)
    accuracy += (look.accuracy - accuracy) * share / weight
  }

  /// Whether the mean lies beyond the boundary by the mean accuracy, and by seven times the standard error that the
  /// spread of the fixes has when they are correlated.
  private var isStay: Bool {
    guard duration >= Self.shortestStay, fixes >= 16 else { return false }
    let spread = max((squares / weight).squareRoot(), accuracy / 4)
    let error = spread * (2 * Self.correlation / duration).squareRoot()
    let needed = accuracy >= Self.network ? 2 * accuracy : accuracy
    return abs(mean) >= max(needed, 7 * error)
  }

  /// The side on which the last fix lies beyond doubt; `nil` if it is open.
  var sideOfLast: GeofenceState? {
    abs(last.distanceOutside) >= 2 * last.accuracy
      ? (last.distanceOutside < 0 ? .inside : .outside) : nil
  }

  private static func extend(_ run: inout Run?, _ look: Look, margin: Double) {
    guard abs(look.distanceOutside) >= margin else { return run = nil }
    let side: GeofenceState = look.distanceOutside < 0 ? .inside : .outside
    if run?.side == side { run?.fixes += 1 } else { run = Run(side: side, start: look.time) }
  }
}
