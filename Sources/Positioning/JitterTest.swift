internal import Clocks
internal import RealModule

/// Compares two explanations of each fix: the receiver moves steadily or rests, with the errors
/// that it states; or it rests and jitters, whatever it states.
///
/// Each explanation is a Kalman filter that predicts the next fix. The logarithm of the ratio of
/// their likelihoods is the evidence that the receiver is where its fixes are: jitter reaches a
/// ratio of A about once in A times at most (Ville's inequality). The jitter is a Gauss-Markov
/// process along each axis; the least evidence of eight durations counts.
struct JitterTest: Sendable {
  /// The jitter that any receiver may have, whatever accuracy it states, in meters along each axis.
  static let jitter = 30.0
  /// The standard deviation of a circular normal distribution along an axis, over its 68 % radius.
  static let axis = 0.6624
  /// The times in seconds in which the correlation of the jitter falls to 1/e.
  private static let durations = SIMD8(3.0, 8, 20, 50, 120, 300, 800, 2000)
  /// The limits of one fix's evidence against jitter, as logarithms: no fix decides alone.
  private static let limits = (least: -20.0, greatest: 6.0)
  /// The seconds for which a path survives fixes that jump off it, such as reflections at a house.
  private static let reflection = 20.0
  /// The conditions of a departure: these fixes and seconds on a new path, at this speed in m/s,
  /// from rest (a path slower than `rest`) or with a velocity that differs by `change`.
  private static let start = (rest: 1.0, fixes: 3, seconds: 3.0, speed: 2.0, change: 3.0)
  /// The logarithms of the odds that a jump is a departure: at first, and at most.
  private static let (firstOdds, greatestOdds) = (-1.5, 3.0)
  /// The gap in seconds after which the test starts again.
  private static let longestGap = 300.0

  /// The greatest logarithm that the way so far counts for: a ratio of 3,000.
  private static let most = 8.0
  /// The least speed of travel, in meters per second.
  static let walk = 0.5

  /// The evidence against jitter so far, from 0 to ``most``, while the receiver travels.
  private(set) var way = SIMD8<Double>.zero
  private var time: MonotonicTime?
  private var onPath: MonotonicTime?
  /// The speed of the path, in meters per second.
  var speed: Double { steady.speed }
  private var steady = Filter(.steady)
  /// The path of the fixes that jump off the steady one, with the logarithm of its odds.
  private var departure: (path: Filter, began: MonotonicTime, fixes: Int, odds: Double)?
  private var jitters = (0..<8).map { Filter(.jitter(seconds: durations[$0])) }

  /// Returns a fix's evidence for travel; that against jitter counts only during movement.
  static func travel(_ ratios: SIMD8<Double>, speed: Double) -> SIMD8<Double> {
    speed >= walk ? ratios : pointwiseMin(ratios, .zero)
  }

  /// Adds a fix, and returns its evidence against jitter of each duration, as logarithms of ratios.
  mutating func add(_ place: Coordinate, at time: MonotonicTime, accuracy: Double) -> SIMD8<Double>
  {
    let (vector, deviation) = (place.vector, min(accuracy, 1e6) * Self.axis)
    let before = self.time
    self.time = time
    guard let before, let onPath, time.seconds(since: before) <= Self.longestGap else {
      self.onPath = time
      (way, departure) = (.zero, nil)
      steady.start(vector, deviation: deviation)
      for index in jitters.indices { jitters[index].start(vector, deviation: deviation) }
      return .zero
    }
    let seconds = time.seconds(since: before)
    let rested = steady.speed < Self.start.rest
    var (likelihood, isJump) = steady.add(vector, deviation: deviation, after: seconds)
    if isJump {
      likelihood = depart(vector, at: time, deviation, after: seconds, steady: likelihood)
      if isDeparted(at: time, rested: rested), let departure {
        (steady, isJump) = (departure.path, false)
      }
    }
    if !isJump {
      (self.onPath, departure) = (time, nil)
    } else if time.seconds(since: onPath) > Self.reflection {
      (self.onPath, departure) = (time, nil)
      steady.start(vector, deviation: deviation)
    }
    var ratios = SIMD8<Double>.zero
    for index in jitters.indices {
      ratios[index] =
        likelihood - jitters[index].add(vector, deviation: deviation, after: seconds).likelihood
    }
    ratios.clamp(
      lowerBound: SIMD8(repeating: Self.limits.least),
      upperBound: SIMD8(repeating: isJump ? 0 : Self.limits.greatest))
    way += Self.travel(ratios, speed: speed)
    way.clamp(lowerBound: .zero, upperBound: SIMD8(repeating: Self.most))
    return ratios
  }

  /// Adds a fix that jumps off the steady path to that of a departure from it. Returns the
  /// logarithm of the fix's likelihood by both, given that by the steady path.
  private mutating func depart(
    _ vector: SIMD3<Double>, at time: MonotonicTime, _ deviation: Double, after seconds: Double,
    steady: Double
  ) -> Double {
    if var departure {
      let (likelihood, isJump) = departure.path.add(vector, deviation: deviation, after: seconds)
      if !isJump {
        let odds = departure.odds
        departure.fixes += 1
        departure.odds = min(odds + likelihood - steady, Self.greatestOdds)
        self.departure = departure
        return Self.sum(steady, odds + likelihood) - Self.sum(0, odds)
      }
    }
    var path = Filter(.steady)
    path.start(vector, deviation: deviation)
    departure = (path, time, 0, Self.firstOdds)
    return steady
  }

  private func isDeparted(at time: MonotonicTime, rested: Bool) -> Bool {
    guard let departure else { return false }
    return departure.fixes >= Self.start.fixes && departure.path.speed >= Self.start.speed
      && time.seconds(since: departure.began) >= Self.start.seconds
      && (rested || departure.path.differs(from: steady, by: Self.start.change))
  }

  /// Returns the logarithm of the sum of two exponentials.
  private static func sum(_ first: Double, _ second: Double) -> Double {
    max(first, second) + Double.log(onePlus: Double.exp(-abs(first - second)))
  }
}

/// A Kalman filter with two numbers for each axis and the same variances along all axes.
private struct Filter: Sendable {
  enum Model: Sendable {
    /// A place, and a velocity that random accelerations change.
    case steady
    /// A place, and an error that decays.
    case jitter(seconds: Double)
  }

  let model: Model
  private var place = SIMD3<Double>.zero
  /// The velocity or the error.
  private var second = SIMD3<Double>.zero
  private var variances = (place: 0.0, both: 0.0, second: 0.0)

  /// The standard deviation of a reflection along each axis, in meters.
  private static let reflection = 50.0

  init(_ model: Model) { self.model = model }

  /// Returns whether the velocities of two steady paths differ by a number of meters per second.
  func differs(from other: Filter, by speed: Double) -> Bool {
    let change = second - other.second
    return (change * change).sum() >= speed * speed
  }

  var speed: Double { (second * second).sum().squareRoot() }

  mutating func start(_ vector: SIMD3<Double>, deviation: Double) {
    (place, second) = (vector, .zero)
    let noise = deviation * deviation
    switch model {
    case .steady: variances = (noise, 0, 2500)
    case .jitter:
      let jitter = max(JitterTest.jitter, deviation)
      variances = (noise + jitter * jitter, -jitter * jitter, jitter * jitter)
    }
  }

  /// Adds a fix whose errors have a standard deviation along each axis. Returns the logarithm of
  /// its likelihood, less a constant, and whether it lies four standard deviations away.
  mutating func add(
    _ vector: SIMD3<Double>, deviation: Double, after seconds: Double
  ) -> (likelihood: Double, isJump: Bool) {
    predict(seconds, deviation)
    let noise = deviation * deviation
    var (forPlace, forSecond) = (variances.place, variances.both)
    var (expected, variance) = (place, variances.place + noise)
    if case .jitter = model {
      expected += second
      variance += 2 * variances.both + variances.second
      forPlace += variances.both
      forSecond += variances.second
    }
    let surprise = vector - expected
    let squared = (surprise * surprise).sum()
    var likelihood = -Double.log(variance) - squared / (2 * variance)
    guard squared < 16 * variance else {
      if case .jitter = model {
        place += surprise
      } else {
        // It may be a turn.
        variances.second += 3 + 0.03 * speed * speed
        // Or one fix in fifty is a reflection: one must not outweigh all fixes before it.
        let wide = variance + Self.reflection * Self.reflection
        likelihood = max(likelihood, -Double.log(50 * wide) - squared / (2 * wide))
      }
      return (likelihood, true)
    }
    place += forPlace / variance * surprise
    second += forSecond / variance * surprise
    if case .jitter = model {
      let excess = max(0, 1 - 1.5 * max(JitterTest.jitter, deviation) / speed)
      place += excess * second
      second -= excess * second
    }
    variances.place -= forPlace * forPlace / variance
    variances.both -= forPlace * forSecond / variance
    variances.second -= forSecond * forSecond / variance
    return (likelihood, false)
  }

  private mutating func predict(_ seconds: Double, _ deviation: Double) {
    switch model {
    case .steady:
      // A fast receiver brakes and turns harder.
      let square = speed * speed
      let change = 0.005 + square * min(0.005 + 0.001 * square, 0.1)
      place += seconds * second
      variances.place +=
        seconds * (2 * variances.both + seconds * (variances.second + seconds * change / 3))
      variances.both += seconds * (variances.second + seconds * change / 2)
      variances.second += seconds * change
    case .jitter(let duration):
      let kept = Double.exp(-seconds / duration)
      let jitter = max(JitterTest.jitter, deviation)
      second *= kept
      variances.both *= kept
      variances.second = kept * kept * variances.second + jitter * jitter * (1 - kept * kept)
      // The place may change slowly, and does change if the error would be too large.
      variances.place += 0.1 * seconds
    }
  }
}

extension Coordinate {
  /// The place in meters from the earth's center. A short chord is as good as a geodesic.
  fileprivate var vector: SIMD3<Double> {
    let vertical = SurfaceVector(self).vector
    let curvature = Ellipsoid.a / (1 - Ellipsoid.e2 * vertical.z * vertical.z).squareRoot()
    return curvature * vertical * SIMD3(1, 1, 1 - Ellipsoid.e2)
  }
}
