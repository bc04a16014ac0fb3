internal import Clocks

/// The rule by which location updates are paused while no movement is likely.
///
/// Updates pause when the receiver has stayed within ``Limits/radius`` meters for ``Limits/seconds``: each fix
/// counts as a movement only by what it lies beyond its accuracy radius, so that indoor jitter is none. A silent
/// source is no reason to pause: what does not deliver fixes is not known to rest.
///
/// While updates are paused, the source runs for ``LocationRequest/paused``. They resume by themselves when two
/// fixes in a row lie beyond the radius and their accuracy, or when the client starts them anew. (Apple's manager
/// resumes only when its client starts updates again; here no user brings an app to the front, which would be the
/// reason to do so.)
package struct PauseRule: Hashable, Sendable, Codable {
  package enum Change: Hashable, Sendable {
    case paused
    case resumed
  }

  /// How still a receiver must be.
  package struct Limits: Hashable, Sendable {
    /// Meters.
    package var radius: Double
    package var seconds: Double
  }

  package private(set) var activity: ActivityType
  package private(set) var isPaused = false
  /// The fix from which the receiver has not moved.
  private var anchor: Fix?
  /// The number of fixes in a row that show a movement while updates are paused.
  private var moved = 0

  package init(activity: ActivityType = .other) { self.activity = activity }

  /// The limits of the activity.
  package var limits: Limits {
    switch activity {
    // Longer than the jams and ferries at which a driver still wants the way.
    case .automotiveNavigation: Limits(radius: 100, seconds: 20 * 60)
    // Someone who trains and rests.
    case .fitness: Limits(radius: 50, seconds: 10 * 60)
    // Trains and boats wait for long.
    case .otherNavigation: Limits(radius: 200, seconds: 30 * 60)
    // A balloon may hover; an aircraft on the ground is parked.
    case .airborne: Limits(radius: 500, seconds: 60 * 60)
    case .other: Limits(radius: 50, seconds: 15 * 60)
    }
  }

  /// Receives that the client started updates, or set another activity: the time begins anew.
  package mutating func start(activity: ActivityType) -> Change? {
    defer { self = PauseRule(activity: activity) }
    return isPaused ? .resumed : nil
  }

  /// Receives a fix. The one that pauses or resumes updates is itself delivered.
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
      (self.anchor, isPaused, moved) = (fix, false, 0)
      return .resumed
    }
    if isBeyond {
      self.anchor = fix
    } else if fix.time.seconds(since: anchor.time) >= limits.seconds {
      isPaused = true
      return .paused
    } else if fix.horizontalAccuracy < anchor.horizontalAccuracy {
      // A better fix of the same place; the time goes on.
      self.anchor?.place = fix.place
      self.anchor?.horizontalAccuracy = fix.horizontalAccuracy
    }
    return nil
  }
}
