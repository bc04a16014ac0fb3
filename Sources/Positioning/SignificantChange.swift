package import Clocks

/// The fixes of the significant-change service: the cached one at first, then changes of 500 m or more, at most one
/// in five minutes.
///
/// A change is a fix at least 500 m, and at least its own accuracy radius, from the one that was delivered last.
/// One that comes within five minutes waits: the newest such fix is delivered when the five minutes are over,
/// unless the receiver has returned by then. Both are measured from fix to fix, so an old cached fix delays
/// nothing.
///
/// The state continues after a restart: it is `Codable`.
package struct SignificantChange: Hashable, Sendable, Codable {
  /// The least change, in meters: 500.
  package static let distance = 500.0
  /// The least time between two deliveries, in seconds: 300.
  package static let interval = 300.0

  /// The fix that was delivered last.
  private var delivered: Fix?
  /// The newest change that waits for the five minutes to end.
  private var waiting: Fix?

  package init() {}

  /// Starts with the fix that the source has cached, and returns the fix to deliver: the cached one, if there is
  /// one.
  package mutating func start(cached: Fix?) -> Fix? {
    waiting = nil
    if let cached { delivered = cached }
    return cached
  }

  /// Receives a fix, and returns the fix to deliver.
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

  /// When ``advance(to:)`` delivers a fix that waits.
  package var deadline: MonotonicTime? {
    guard waiting != nil, let delivered else { return nil }
    return delivered.time.advanced(bySeconds: Self.interval)
  }

  /// Receives the time, and returns the fix to deliver.
  package mutating func advance(to now: MonotonicTime) -> Fix? {
    guard let fix = waiting, let deadline, now >= deadline else { return nil }
    (delivered, waiting) = (fix, nil)
    // The next five minutes count from now.
    delivered?.time = now
    return fix
  }

  /// The time of the latest fix that the state has.
  package var latestTime: MonotonicTime? {
    [delivered?.time, waiting?.time].compactMap { $0 }.max()
  }

  /// Moves all times, onto another line.
  package mutating func move(by nanoseconds: Int64) {
    if let delivered { self.delivered?.time = delivered.time.advanced(by: nanoseconds) }
    if let waiting { self.waiting?.time = waiting.time.advanced(by: nanoseconds) }
  }
}
