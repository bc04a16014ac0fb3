package import Clocks
internal import RealModule

/// Detects arrivals at places where the receiver stays, and departures from them.
///
/// A stay is a stay point of Li et al. ("Mining user similarity based on location history", ACM GIS
/// 2008): fixes within a distance for a time. Stays are found while they last:
///
/// - **Arrival.** The latest fixes are joined to spots of 15 s. A stay begins when at least four in
///   five of the spots of ``minimumStay`` lie around their weighted geometric median and do not
///   walk: most spots a minute apart differ by no more than their accuracy, and the first third is
///   near the last one.
/// - **Departure.** A stay ends when at least two fixes have been away for ``absence`` without one
///   that is back: beyond ``radius`` and their own accuracy.
/// - **Times.** The arrival is when the receiver could have come from the last spot on the way, at
///   1.4 m/s for 500 m and 10 m/s beyond, but not after its first fix near the center. The
///   departure is when it must have left for the first fix that is away.
/// - **Gaps.** A gap that begins and ends at one place belongs to the stay.
/// - **Bad fixes.** A fix with an accuracy worse than ``coarsest`` counts only as away.
///
/// A stay that had begun at the first fix has no arrival, and is not reported until it ends. A stay
/// continues after a restart; ``move(by:)`` adapts its times to another clock.
package struct VisitDetector: Hashable, Sendable, Codable {
  package enum Change: Hashable, Sendable {
    /// A stay was established; the arrival is in the past.
    case arrived(Visit)
    /// A stay ended; the departure is in the past.
    case departed(Visit)
  }

  /// The spots on the way, or during a stay those that are away.
  private var spots: [Spot] = []
  private var stay: Stay?
  /// The time of the first fix that counted.
  private var first: MonotonicTime?
  private var latest: Fix?
  private var away: Away?

  /// The least duration of a stay, in seconds.
  package static let minimumStay = 300.0
  /// The greatest distance from the center of a stay, in meters.
  package static let radius = 150.0
  /// The duration of a spot, in seconds.
  private static let spot = 15.0
  /// The time of the spots that establish a stay, in seconds.
  private static let window = 330.0
  /// The longest absence that does not end a stay, in seconds.
  package static let absence = 180.0
  /// The worst accuracy radius of fixes that count fully, in meters.
  package static let coarsest = 200.0
  /// The seconds for which fixes must be away before a gap ends a stay.
  package static let evidence = 10.0
  /// The greatest number of spots.
  package static let capacity = 64

  package init() {}

  /// Whether the receiver stays at a place, and no fix contradicts it.
  package var isStaying: Bool { stay != nil && away == nil }

  package var visit: Visit? { stay?.visit(departure: nil) }

  /// Receives a fix. One that is older than the last is ignored.
  package mutating func receive(_ fix: Fix) -> [Change] {
    guard fix.horizontalAccuracy.isFinite, fix.horizontalAccuracy >= 0,
      latest.map({ $0.time <= fix.time }) ?? true
    else { return [] }
    var changes = advance(to: fix.time)
    take(fix, &changes)
    return changes
  }

  /// The time at which ``advance(to:)`` reports a change without another fix.
  package var deadline: MonotonicTime? {
    // Fixes that are away for a moment may be the last ones before a building blocks the signal.
    guard let away, let last = away.last, last.seconds(since: away.since) >= Self.evidence else {
      return nil
    }
    return away.since.advanced(bySeconds: Self.absence)
  }

  package mutating func advance(to now: MonotonicTime) -> [Change] {
    guard let deadline, now >= deadline else { return [] }
    var changes: [Change] = []
    depart(&changes)
    return changes
  }

  package var latestTime: MonotonicTime? { latest?.time }

  /// Moves all times onto another monotonic clock, which is ahead by some nanoseconds.
  package mutating func move(by nanoseconds: Int64) {
    for (index, spot) in spots.enumerated() {
      spots[index].first = spot.first.advanced(by: nanoseconds)
      spots[index].last = spot.last.advanced(by: nanoseconds)
    }
    first = first?.advanced(by: nanoseconds)
    if let latest { self.latest?.time = latest.time.advanced(by: nanoseconds) }
    if let away {
      self.away?.since = away.since.advanced(by: nanoseconds)
      self.away?.last = away.last?.advanced(by: nanoseconds)
    }
    stay?.move(by: nanoseconds)
  }

  private mutating func take(_ fix: Fix, _ changes: inout [Change]) {
    let point = SurfaceVector(fix.place)
    guard fix.horizontalAccuracy <= Self.coarsest else {
      if let stay, stay.distance(to: point) > Self.radius + 3 * fix.horizontalAccuracy {
        leave(fix, stay.distance(to: point), &changes)
      }
      return
    }
    latest = fix
    if first == nil { first = fix.time }
    guard let stay else {
      add(fix, point)
      establish(&changes)
      trim()
      return
    }
    let distance = stay.distance(to: point)
    if distance > Self.radius + fix.horizontalAccuracy {
      add(fix, point)
      trim()
      leave(fix, distance, &changes)
    } else if distance <= Self.radius {
      self.stay?.add(point, accuracy: fix.horizontalAccuracy, at: fix.time)
      away = nil
      spots = []
    }
  }

  // MARK: Departure

  private struct Away: Hashable, Sendable, Codable {
    var since: MonotonicTime
    /// The time of the latest fix that is away.
    var last: MonotonicTime?
    /// Meters from the center of the stay.
    var distance: Double
    var count: Int
  }

  private mutating func leave(_ fix: Fix, _ distance: Double, _ changes: inout [Change]) {
    if away == nil { away = Away(since: fix.time, distance: distance, count: 0) }
    away?.count += 1
    away?.last = fix.time
    guard let away, away.count >= 2, fix.time.seconds(since: away.since) >= Self.absence else {
      return
    }
    depart(&changes)
  }

  private mutating func depart(_ changes: inout [Change]) {
    guard let stay, let away else { return }
    let travel = Self.travel(away.distance)
    let departure = max(stay.lastNear, away.since.advanced(bySeconds: -travel))
    if let visit = stay.visit(departure: departure) { changes.append(.departed(visit)) }
    self.stay = nil
    self.away = nil
    establish(&changes)
  }

  /// Returns the seconds that a way of a length in meters takes.
  private static func travel(_ distance: Double) -> Double {
    min(distance, 500) / 1.4 + max(distance - 500, 0) / 10
  }

  // MARK: Arrival

  private mutating func add(_ fix: Fix, _ point: SurfaceVector) {
    if let spot = spots.last, fix.time.seconds(since: spot.first) < Self.spot {
      spots[spots.count - 1].add(fix, point)
    } else {
      spots.append(Spot(fix, point))
    }
  }

  /// Removes the oldest spots that no arrival needs.
  private mutating func trim() {
    guard let last = spots.last else { return }
    let surplus = spots.indices.dropLast(4).prefix { index in
      spots.count - index > Self.capacity
        || last.first.seconds(since: spots[index].first) > 2 * Self.window
    }
    spots.removeFirst(surplus.count)
  }

  private mutating func establish(_ changes: inout [Change]) {
    guard stay == nil, let found = gapAtOnePlace() ?? latestStay() else { return }
    stay = found
    spots = []
    if let visit = found.visit(departure: nil), visit.arrival != nil {
      changes.append(.arrived(visit))
    }
  }

  /// Returns the stay during a gap that ended with the latest spot.
  private func gapAtOnePlace() -> Stay? {
    let pair = spots.suffix(2)
    guard let before = pair.first, let after = pair.last,
      after.first.seconds(since: before.last) >= Self.minimumStay
    else { return nil }
    let distance = before.point.distance(to: after.point)
    guard distance <= Self.radius else { return nil }
    return Stay(
      pair, center: Spot.median(pair), near: max(30, distance),
      arrival: before.first == first ? nil : before.last)
  }

  private func latestStay() -> Stay? {
    guard let last = spots.last, spots.count >= 3,
      let oldest = spots.lastIndex(where: { last.last.seconds(since: $0.first) >= Self.window })
    else { return nil }
    let window = spots[min(oldest, spots.count - 3)...]
    let center = Spot.median(window)
    let distances = window.map { $0.point.distance(to: center) }
    // The spots on the way do not widen the place, because the median ignores them.
    let near = max(30, 1.5 * distances.sorted()[distances.count / 2])
    guard near <= Self.radius, !walks(window) else { return nil }
    func isWithin(_ spot: Spot, _ limit: Double) -> Bool {
      spot.point.distance(to: center) <= min(limit, Self.radius)
    }
    // Back to the first spot that may be at the place, over two outliers at a time.
    var (start, arrival) = (spots.count - 1, spots.count - 1)
    for index in spots.indices.reversed() {
      let spot = spots[index]
      if isWithin(spot, near + spot.accuracy) { start = index }
      if start - index > 2 { break }
      if isWithin(spot, max(near, 1.5 * spot.accuracy)) { arrival = index }
    }
    let stay = spots[arrival...].filter { isWithin($0, near + $0.accuracy) }
    guard isWithin(last, near + last.accuracy),
      last.last.seconds(since: spots[arrival].first) >= Self.minimumStay,
      stay.count * 5 >= (spots.count - arrival) * 4
    else { return nil }
    var time: MonotonicTime? = spots[arrival].first
    if spots[start].first == first {
      time = nil
    } else if arrival > 0 {
      let before = spots[arrival - 1]
      let travel = Self.travel(before.point.distance(to: center))
      time = min(before.last.advanced(bySeconds: travel), spots[arrival].first)
    }
    return Stay(stay[...], center: center, near: near, arrival: time)
  }

  private func walks(_ window: ArraySlice<Spot>) -> Bool {
    var (pairs, moved) = (0, 0)
    for (index, spot) in zip(window.indices, window) {
      guard
        let later = window[index...].first(where: {
          $0.first.seconds(since: spot.first) >= Self.minimumStay / 5
        })
      else { break }
      pairs += 1
      let noise = 1.5 * Double.hypot(spot.accuracy, later.accuracy)
      if spot.point.distance(to: later.point) > max(25, noise) { moved += 1 }
    }
    if pairs > 1, moved * 5 > pairs * 3 { return true }
    let third = max(window.count / 3, 1)
    let (early, late) = (window.prefix(third), window.suffix(third))
    let noise = max(early.map(\.accuracy).max() ?? 0, late.map(\.accuracy).max() ?? 0)
    return Spot.median(early).distance(to: Spot.median(late)) > Self.radius / 2 + noise
  }
}
