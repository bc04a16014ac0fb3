import Positioning
import Scanning

/// The state of a location source and its latest fix.
struct LocationSourceState {
  /// The latest state of each subject.
  private var states: [LocationHealth.Subject: LocationHealth] = [:]
  /// Indicates whether the source has rested since it reported ``health``.
  private var isHealthOld = false
  /// Indicates whether GeoClue's latest answer was that this application may not have the location.
  /// While no client needs locations it is not asked again, and the answer holds.
  private(set) var isRefused = false
  /// Indicates whether the source delivers a fix only when the place has changed.
  var reportsOnlyChanges = false
  /// The latest fix of all; `nil` if there was none.
  private(set) var newestFix: Fix?
  /// The time at which the receiver was last known to be at ``newestFix``; `nil` once the source
  /// has rested or lost the place.
  private var lastSeen: MonotonicTime?
  /// The latest time of the source.
  private(set) var now: MonotonicTime?
  private(set) var wallClockOffset = WallClockOffset.zero
  private var hasOffset = false

  /// The time from one look at a receiver that rests to the next, in seconds.
  private static let restInterval = 60.0

  /// The latest state of locations; `nil` before it is known.
  var health: LocationHealth? { states[.locations] }

  /// The latest state, where it refuses locations.
  var refusal: LocationHealth? { health.flatMap { $0.refusesLocations ? $0 : nil } }

  /// The latest state, where it refuses locations and the source has not rested since.
  var currentRefusal: LocationHealth? { isHealthOld ? nil : refusal }

  /// Indicates whether the source has a fault, as far as is known: while it rests, nothing is.
  var hasFault: Bool { !isHealthOld && health?.condition.isFault == true }

  /// Indicates whether the latest fix is recent enough to answer a request. Before a rest nothing
  /// is known of how long ago it was.
  var isFixRecent: Bool {
    guard let newestFix, lastSeen != nil else { return false }
    return (now ?? newestFix.time).seconds(since: newestFix.time) <= FixRequest.recent
  }

  /// The latest fix, where it may answer a request; where a source that delivers only changes is
  /// silent, it holds however old it is.
  var validFix: Fix? {
    isFixRecent || reportsOnlyChanges && lastSeen != nil ? newestFix : nil
  }

  /// Receives a change of the state; returns whether it is new. After a rest a source reports its
  /// state again.
  mutating func receive(_ change: LocationHealth) -> Bool {
    let latest = states[change.subject]
    let isNew = latest?.condition != change.condition || latest?.sentence != change.sentence
    if isNew { states[change.subject] = change }
    guard change.subject == .locations else { return isNew }
    isHealthOld = false
    if change.condition == .denied {
      isRefused = true
    } else if !change.condition.isFault {
      isRefused = false
    }
    if change.condition != .receiving { lastSeen = nil }
    return isNew
  }

  mutating func receive(_ fix: Fix) {
    (newestFix, lastSeen) = (fix, fix.time)
    // A source that refuses the application delivers none.
    isRefused = false
  }

  /// Receives the distance to wall-clock time; returns whether it is the first one.
  mutating func setOffset(_ offset: WallClockOffset) -> Bool {
    defer { hasOffset = true }
    wallClockOffset = offset
    return !hasOffset
  }

  mutating func advance(to now: MonotonicTime) { self.now = max(self.now ?? now, now) }

  /// Records that the source rests.
  mutating func rest() { (isHealthOld, lastSeen) = (true, nil) }

  /// The time at which the receiver is taken to be at the latest fix still; `nil` where the source
  /// delivers fixes in any case, or may have lost the place.
  var restDeadline: MonotonicTime? {
    reportsOnlyChanges ? lastSeen?.advanced(bySeconds: Self.restInterval) : nil
  }

  /// Takes the latest fix for one of now, and returns it, where a source that delivers fixes only
  /// when the place has changed has been silent.
  mutating func restingFix(at now: MonotonicTime) -> Fix? {
    guard let restDeadline, now >= restDeadline, var fix = newestFix else { return nil }
    (fix.time, lastSeen) = (now, now)
    return fix
  }
}
