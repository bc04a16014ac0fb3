package import Clocks

/// The fixes of the significant-change service: the cached one, then changes of 500 m or more, at
/// most one in five minutes.
///
/// A change is a fix at least 500 m, and at least its own accuracy radius, from the last delivered
/// one. The newest within five minutes waits until they are over, unless the receiver returns.
package struct SignificantChange: Hashable, Sendable, Codable {
  /// The least change, in meters.
  package static let distance = 500.0
  /// The least time between two deliveries, in seconds.
  package static let interval = 300.0

  private var delivered: Fix?
  private var waiting: Fix?

  package init() {}

  /// Starts with the source's cached fix, if any, and returns it for delivery.
  package mutating func start(cached: Fix?) -> Fix? {
    waiting = nil
    if let cached { delivered = cached }
    return cached
  }

  package mutating func receive(_ fix: Fix) -> Fix? {
    if let delivered {
      let moved = fix.place.distance(to: delivered.place)
      if moved >= max(Self.distance, fix.horizontalAccuracy) {
        waiting = fix
      } else if moved + fix.horizontalAccuracy < Self.distance {
        waiting = nil
      }
      return advance(to: fix.time)
    }
    delivered = fix
    return fix
  }

  /// The time at which ``advance(to:)`` delivers the waiting fix.
  package var deadline: MonotonicTime? {
    guard waiting != nil, let delivered else { return nil }
    return delivered.time.advanced(bySeconds: Self.interval)
  }

  package mutating func advance(to now: MonotonicTime) -> Fix? {
    guard let fix = waiting, let deadline, now >= deadline else { return nil }
    (delivered, waiting) = (fix, nil)
    // The next five minutes count from now.
    delivered?.time = now
    return fix
  }

  package var latestTime: MonotonicTime? {
    [delivered?.time, waiting?.time].compactMap { $0 }.max()
  }

  /// Moves all times onto another monotonic clock.
  package mutating func move(by nanoseconds: Int64) {
    if let delivered { self.delivered?.time = delivered.time.advanced(by: nanoseconds) }
    if let waiting { self.waiting?.time = waiting.time.advanced(by: nanoseconds) }
  }
}
