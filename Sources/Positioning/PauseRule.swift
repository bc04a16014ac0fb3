internal import Clocks

/// The rule that pauses location updates while no movement is likely.
///
/// Updates pause when the receiver has stayed within a radius for a time, which depend on the
/// activity, beyond the accuracy of its fixes. They resume when two successive fixes lie beyond the
/// radius and their accuracy, or when the client starts them again.
package struct PauseRule: Hashable, Sendable, Codable {
  package enum Change: Hashable, Sendable {
    case paused
    case resumed
  }

  package private(set) var activity: ActivityType
  package private(set) var isPaused = false
  /// The fix from which the receiver has not moved.
  private var anchor: Fix?
  /// The number of successive fixes that show movement while updates are paused.
  private var moved = 0

  package init(activity: ActivityType = .other) { self.activity = activity }

  /// The limits within which a receiver rests, in meters and seconds.
  private var limits: (radius: Double, seconds: Double) {
    switch activity {
    // Longer than the traffic jams and ferries during which a driver still needs directions.
    case .automotiveNavigation: (radius: 100, seconds: 20 * 60)
    // Longer than a rest during training.
    case .fitness: (radius: 50, seconds: 10 * 60)
    // Trains and boats wait for long.
    case .otherNavigation: (radius: 200, seconds: 30 * 60)
    // A balloon may hover; an aircraft on the ground is parked.
    case .airborne: (radius: 500, seconds: 60 * 60)
    case .other: (radius: 50, seconds: 15 * 60)
    }
  }

  /// Restarts the time, because the client started updates or set another activity.
  package mutating func start(activity: ActivityType) -> Change? {
    defer { self = PauseRule(activity: activity) }
    return isPaused ? .resumed : nil
  }

  /// Receives a fix. The fix that pauses or resumes updates is itself delivered.
  package mutating func receive(_ fix: Fix) -> Change? {
    guard let anchor else {
      self.anchor = fix
      return nil
    }
    let isBeyond =
      fix.place.distance(to: anchor.place)
      > limits.radius + fix.horizontalAccuracy + anchor.horizontalAccuracy
    if isPaused {
      moved = isBeyond ? moved + 1 : 0
      guard moved >= 2 else { return nil }
      self.anchor = fix
      isPaused = false
      moved = 0
      return .resumed
    }
    if isBeyond {
      self.anchor = fix
    } else if fix.time.seconds(since: anchor.time) >= limits.seconds {
      isPaused = true
      return .paused
    } else if fix.horizontalAccuracy < anchor.horizontalAccuracy {
      // A better fix of the same place does not restart the time.
      self.anchor?.place = fix.place
      self.anchor?.horizontalAccuracy = fix.horizontalAccuracy
    }
    return nil
  }
}
