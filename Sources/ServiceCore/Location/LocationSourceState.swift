import Positioning
import Scanning

struct LocationSourceState {
  private var states: [LocationHealth.Subject: LocationHealth] = [:]
  /// Whether the source has rested since it reported ``health``.
  private var isHealthOld = false
  /// Whether GeoClue's latest answer refuses this application the location. The answer holds while
  /// no client needs locations, because GeoClue is not asked again.
  private(set) var isRefused = false
  /// Whether the source delivers a fix only when the place has changed.
  var reportsOnlyChanges = false
  private(set) var newestFix: Fix?
  /// The time when the receiver was last known to be at ``newestFix``; `nil` after the source has
  /// rested or lost the place.
  private var lastSeen: MonotonicTime?
  private(set) var now: MonotonicTime?
  private(set) var wallClockOffset = WallClockOffset.zero
  private var hasOffset = false

  /// The seconds from one check of a resting receiver to the next.
  private static let restInterval = 60.0

  var health: LocationHealth? { states[.locations] }

  var refusal: LocationHealth? { health.flatMap { $0.refusesLocations ? $0 : nil } }

  /// The latest state, if it refuses locations and the source has not rested since.
  var currentRefusal: LocationHealth? { isHealthOld ? nil : refusal }

  /// Whether the source has a fault. While it rests, none is known.
  var hasFault: Bool { !isHealthOld && health?.condition.isFault == true }

  /// Whether the latest fix is recent enough to answer a request. One from before a rest is not.
  var isFixRecent: Bool {
    guard let newestFix, lastSeen != nil else { return false }
    return (now ?? newestFix.time).seconds(since: newestFix.time) <= FixRequest.recent
  }

  /// The latest fix, if it may answer a request; at any age if the source delivers only changes.
  var validFix: Fix? {
    isFixRecent || reportsOnlyChanges && lastSeen != nil ? newestFix : nil
  }

  /// Receives a change of the state. Returns whether it is new: a source repeats it after a rest.
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
    // A source that refuses the application delivers no fixes.
    isRefused = false
  }

  /// Sets the offset to wall-clock time. Returns whether it is the first one.
  mutating func setOffset(_ offset: WallClockOffset) -> Bool {
    defer { hasOffset = true }
    wallClockOffset = offset
    return !hasOffset
  }

  mutating func advance(to now: MonotonicTime) { self.now = max(self.now ?? now, now) }

  mutating func rest() { (isHealthOld, lastSeen) = (true, nil) }

  /// The time when the receiver counts as still at the latest fix; `nil` if the source delivers
  /// fixes in any case or may have lost the place.
  var restDeadline: MonotonicTime? {
    reportsOnlyChanges ? lastSeen?.advanced(bySeconds: Self.restInterval) : nil
  }

  /// Returns the latest fix as one of now, if a source that delivers only changes was silent.
  mutating func restingFix(at now: MonotonicTime) -> Fix? {
    guard let restDeadline, now >= restDeadline, var fix = newestFix else { return nil }
    (fix.time, lastSeen) = (now, now)
    return fix
  }
}
