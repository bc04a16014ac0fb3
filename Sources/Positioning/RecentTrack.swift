internal import RealModule
internal import Scanning

/// The fixes of the last minutes: whether they travel, and whether they do so as smoothly as their accuracy
/// demands.
///
/// Jitter indoors is correlated, so that it looks like a walk over a short time; but it does not lead away. Only a
/// receiver that is ``distance`` from where it was no longer than ``window`` ago travels. At jitter of 30 m along
/// each axis that is 5.9 standard deviations of the difference of two places: once in 36 million.
struct RecentTrack: Sendable {
  /// How far a receiver that travels has come, in meters, besides the accuracies of both fixes.
  private static let distance = 250.0
  /// How far it has come where its fixes form a smooth path: jitter has no such path, and seldom comes so far.
  private static let smoothDistance = 150.0
  /// In how much time, in nanoseconds: 1.04 m/s at least, a slow walk.
  private static let window: Int64 = 240_000_000_000
  /// The shortest time between two fixes that are kept, in nanoseconds; with ``window`` it bounds their number to
  /// 267.
  private static let spacing: Int64 = 900_000_000

  private struct Point {
    var time: MonotonicTime
    /// The place in meters from the center of the earth: a chord is as good as a geodesic over so short a way.
    var vector: SIMD3<Double>
    var accuracy: Double

    func length(to other: Point) -> Double { norm(vector - other.vector) }
  }

  /// How a receiver travels.
  struct Travel: Sendable {
    /// How long it took for the last ``RecentTrack/distance``, in seconds.
    var duration: Double
    /// Whether the fixes deviate from a smooth path no more than their accuracy explains.
    var isSmooth: Bool
  }

  private var points: [Point] = []
  /// How the receiver travels; `nil` while it may stand still.
  private(set) var travel: Travel?

  mutating func append(_ place: Coordinate, at time: MonotonicTime, accuracy: Double) {
    if let last = points.last, time.nanoseconds(since: last.time) < Self.spacing { return }
    points.removeAll { time.nanoseconds(since: $0.time) > Self.window }
    points.append(Point(time: time, vector: place.vector, accuracy: accuracy))
    travel = findTravel()
  }

  private func findTravel() -> Travel? {
    guard let last = points.last, points.count >= 4 else { return nil }
    let distance = Self.smoothDistance + last.accuracy
    // The faster the receiver, the less jitter can explain it, and the more it turns and brakes from fix to fix.
    if let duration = duration(of: distance),
      isSmooth(step: duration / 24, limit: max(1.1, distance / duration / 5))
    {
      return Travel(duration: duration, isSmooth: true)
    }
    return duration(of: Self.distance + last.accuracy).map { Travel(duration: $0, isSmooth: false) }
  }

  /// Returns how many seconds ago the receiver was so many meters and the accuracy of that fix away; `nil` if it
  /// was not.
  private func duration(of distance: Double) -> Double? {
    let last = points[points.count - 1]
    let previous = points[points.count - 2]
    // Two fixes then and two now, so that no single outlier is taken for travel.
    for index in stride(from: points.count - 3, through: 1, by: -1) {
      let ends = (points[index], points[index - 1])
      let needed = distance + max(ends.0.accuracy, ends.1.accuracy)
      guard ends.0.length(to: last) > needed, ends.1.length(to: last) > needed,
        ends.0.length(to: previous) > needed / 2, ends.1.length(to: previous) > needed / 2
      else { continue }
      return last.time.seconds(since: ends.0.time)
    }
    return nil
  }

  /// Returns whether the last fixes that lie a step apart deviate from the middle of their neighbors, in the
  /// quadratic mean without the two largest of fourteen, by no more than so many times their accuracy. Independent
  /// errors of that accuracy make it 0.9 times; a corner or an outlier makes two or three large deviations.
  private func isSmooth(step: Double, limit: Double) -> Bool {
    var chosen: [Point] = []
    for point in points.reversed() {
      if let next = chosen.last, next.time.seconds(since: point.time) < step * 0.99 { continue }
      chosen.append(point)
      if chosen.count == 16 { break }
    }
    guard chosen.count >= 4 else { return false }
    var squares: [Double] = []
    for index in 1..<(chosen.count - 1) {
      let (before, middle, after) = (chosen[index + 1], chosen[index], chosen[index - 1])
      let share = middle.time.seconds(since: before.time) / after.time.seconds(since: before.time)
      let deviation =
        (middle.vector - before.vector - share * (after.vector - before.vector)) / middle.accuracy
      squares.append((deviation * deviation).sum())
    }
    squares.sort()
    let counted = squares.prefix(max(squares.count - 2, 2))
    return counted.reduce(0, +) <= limit * limit * Double(counted.count)
  }
}

private func norm(_ vector: SIMD3<Double>) -> Double { (vector * vector).sum().squareRoot() }

extension Coordinate {
  /// The place on the ellipsoid in meters from the center of the earth.
  fileprivate var vector: SIMD3<Double> {
    let (equator, f) = (6_378_137.0, 1 / 298.257_223_563)
    let squared = f * (2 - f)
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    let curvature = equator / (1 - squared * Double.sin(north) * Double.sin(north)).squareRoot()
    return SIMD3(
      curvature * Double.cos(north) * Double.cos(east),
      curvature * Double.cos(north) * Double.sin(east),
      curvature * (1 - squared) * Double.sin(north))
  }
}
