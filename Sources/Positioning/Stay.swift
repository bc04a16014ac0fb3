import Clocks

/// The fixes of a few seconds.
struct Spot: Hashable, Sendable, Codable {
  var first: MonotonicTime
  var last: MonotonicTime
  /// The sum of the places, weighted by accuracy.
  private var sum = SIMD3<Double>.zero
  private var weight = 0.0
  private var count = 0.0

  init(_ fix: Fix, _ point: SurfaceVector) {
    first = fix.time
    last = fix.time
    add(fix, point)
  }

  mutating func add(_ fix: Fix, _ point: SurfaceVector) {
    last = fix.time
    // No receiver is better than 5 m for long.
    let weight = 1 / square(max(fix.horizontalAccuracy, 5))
    sum += weight * point.vector
    self.weight += weight
    count += 1
  }

  var point: SurfaceVector { SurfaceVector(sum).normalized() }
  /// The accuracy in meters. Successive fixes have similar errors, so many are no better than one.
  var accuracy: Double { (count / weight).squareRoot() }

  /// The accuracy radius in meters up to which fixes count alike, on the way and inside a building.
  static let goodEnough = 30.0

  /// Returns the geometric median of spots by accuracy (Weiszfeld, Tohoku Math. J. 43, 1937).
  static func median(_ spots: ArraySlice<Spot>) -> SurfaceVector {
    let spots = spots.map { (vector: $0.point.vector, accuracy: max($0.accuracy, goodEnough)) }
    var center = SurfaceVector(
      spots.reduce(SIMD3.zero) { $0 + $1.vector / $1.accuracy }
    ).normalized()
    for _ in 0..<8 {
      var sum = SIMD3<Double>.zero
      for spot in spots {
        // 10 m off the singularity at each spot.
        let distance = SurfaceVector(spot.vector).distance(to: center)
        sum += spot.vector / (spot.accuracy * max(distance, 10))
      }
      center = SurfaceVector(sum).normalized()
    }
    return center
  }
}

struct Stay: Hashable, Sendable, Codable {
  private var center: SurfaceVector
  private var sum = SIMD3<Double>.zero
  private var weight = 0.0
  /// The weighted sum of the squared distances from the center, in m².
  private var spread = 0.0
  /// The weighted sum of the squared accuracy radii, in m².
  private var noise = 0.0
  /// The seconds covered by fixes.
  private var seconds = 0.0
  private var latest: MonotonicTime
  private let leastNear: Double
  private var arrival: MonotonicTime?
  /// The time of the last fix near the center.
  private(set) var lastNear: MonotonicTime

  /// The longest time that one fix counts for, in seconds.
  private static let longestShare = 60.0
  /// The time in which the error of a source changes, in seconds.
  private static let drift = 1800.0

  /// Creates a stay from spots around a center, within a radius in meters.
  init(_ spots: ArraySlice<Spot>, center: SurfaceVector, near: Double, arrival: MonotonicTime?) {
    self.center = center
    leastNear = near
    self.arrival = arrival
    latest = spots[spots.startIndex].first
    lastNear = latest
    for spot in spots { add(spot.point, accuracy: spot.accuracy, at: spot.last) }
  }

  mutating func add(_ point: SurfaceVector, accuracy: Double, at time: MonotonicTime) {
    let share = min(time.seconds(since: latest), Self.longestShare)
    let distance = distance(to: point)
    let near = max(leastNear, 1.5 * accuracy, 1.5 * deviation)
    // Beyond this the weight falls as 1 / distance (Huber, Ann. Math. Stat. 35, 1964).
    let added =
      max(share, 0.1) * min(1, near / max(distance, 1)) / square(max(accuracy, Spot.goodEnough))
    sum += added * point.vector
    weight += added
    spread += added * distance * distance
    noise += added * accuracy * accuracy
    seconds += share
    latest = time
    center = SurfaceVector(sum).normalized()
    if distance <= near { lastNear = time }
  }

  private var deviation: Double { weight > 0 ? (spread / weight).squareRoot() : 0 }

  func distance(to point: SurfaceVector) -> Double { center.distance(to: point) }

  mutating func move(by nanoseconds: Int64) {
    latest = latest.advanced(by: nanoseconds)
    arrival = arrival?.advanced(by: nanoseconds)
    lastNear = lastNear.advanced(by: nanoseconds)
  }

  func visit(departure: MonotonicTime?) -> Visit? {
    guard let place = center.place else { return nil }
    let variance = max(spread, noise) / weight
    return Visit(
      place: place, horizontalAccuracy: (variance / (1 + seconds / Self.drift)).squareRoot(),
      arrival: arrival, departure: departure)
  }
}

private func square(_ value: Double) -> Double { value * value }
