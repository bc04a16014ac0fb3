import Positioning
import Scanning

/// The location updates of one client, their deferral, and its request for one fix. Functions
/// return the events for the client.
struct ClientUpdates {
  private struct Updates {
    private(set) var settings: UpdateSettings
    private var filter: DistanceFilter
    private var pause: PauseRule

    init(_ settings: UpdateSettings) {
      self.settings = settings
      filter = DistanceFilter(distance: settings.distanceFilter)
      pause = PauseRule(activity: settings.activity)
    }

    var isPaused: Bool { pause.isPaused }

    var request: LocationRequest {
      isPaused
        ? .paused
        : .standard(
          settings.accuracy, distanceFilter: settings.distanceFilter, interval: settings.interval)
    }

    /// Changes the settings. Returns whether that resumes updates.
    mutating func set(_ settings: UpdateSettings, restarts: Bool) -> Bool {
      self.settings = settings
      filter.distance = settings.distanceFilter
      return restarts && pause.start(activity: settings.activity) != nil
    }

    /// Receives a fix. Returns whether it is delivered, and whether updates pause or resume.
    mutating func receive(
      _ fix: Fix, at now: MonotonicTime
    ) -> (isDelivered: Bool, change: PauseRule.Change?) {
      let wasPaused = isPaused
      // The time for which the receiver has been at an old fix is unknown: a rest begins now.
      var seen = fix
      seen.time = now
      let change = settings.pausesAutomatically ? pause.receive(seen) : nil
      // The fix that pauses or resumes updates is delivered.
      return ((!wasPaused || change == .resumed) && filter.receive(fix), change)
    }

    /// Takes a fix as a sign of rest, or of movement since the pause. Returns a pause or its end.
    mutating func rest(at fix: Fix) -> PauseRule.Change? {
      guard settings.pausesAutomatically else { return nil }
      let change = pause.receive(fix)
      if change == .resumed { _ = filter.receive(fix) }
      return change
    }
  }

  private var updates: Updates?
  private var request: FixRequest?
  private var deferral = DeferredUpdates(DeferredUpdates.Conditions(isUpdating: false))
  private var received: MonotonicTime?
  /// Whether a source works that the application may use.
  private var isAvailable: Bool

  init(isAvailable: Bool) { self.isAvailable = isAvailable }

  var settings: UpdateSettings? { updates?.settings }
  var isRequesting: Bool { request != nil }
  /// Whether updates pause while the receiver rests, and resume when it moves.
  var dependsOnRest: Bool { updates?.settings.pausesAutomatically ?? false }

  var requests: [LocationRequest] {
    [updates?.request, request.map { .standard($0.accuracy, distanceFilter: nil) }]
      .compactMap(\.self)
  }

  /// The time of the next call of ``advance(to:refusal:)``, unless a fix comes before.
  var deadline: MonotonicTime? {
    [request?.deadline, deferral.deadline].compactMap(\.self).min()
  }

  // MARK: What the client wants

  /// Starts updates, with the latest fix if there is one, or resumes paused ones. A request for one
  /// fix ends without an answer, as in Core Location.
  mutating func start(_ settings: UpdateSettings, latest: Fix?) -> [LocationEvent] {
    request = nil
    guard updates == nil else { return set(settings, restarts: true) }
    updates = Updates(settings)
    let events = setConditions()
    // The fix may be old, so the next one is delivered at any distance.
    guard let latest else { return events }
    received = latest.time
    return events + [.fixes([latest])]
  }

  mutating func change(_ settings: UpdateSettings) -> [LocationEvent] {
    guard let old = updates?.settings else { return [] }
    return set(
      settings, restarts: settings.activity != old.activity || !settings.pausesAutomatically)
  }

  private mutating func set(_ settings: UpdateSettings, restarts: Bool) -> [LocationEvent] {
    let isResumed = updates?.set(settings, restarts: restarts) ?? false
    return (isResumed ? [.resumed] : []) + setConditions()
  }

  mutating func stop() -> [LocationEvent] {
    updates = nil
    return setConditions()
  }

  /// Requests one fix. The known one is the answer at once if it is recent, accurate enough and
  /// new, and at the end if no other comes.
  mutating func request(
    _ accuracy: AccuracyClass, known: Fix?, isRecent: Bool, isRefused: Bool
  ) -> [LocationEvent] {
    if isRecent, let known, known.horizontalAccuracy <= accuracy.meters, received != known.time {
      received = known.time
      return [.requestedFix(known)]
    }
    request = FixRequest(accuracy, known: known, isRefused: isRefused)
    return []
  }

  mutating func cancelRequest() { request = nil }

  /// Defers updates. A request for one fix ends without an answer, as in Core Location.
  mutating func allowDeferral(
    untilTraveled meters: Double, timeout seconds: Double, at now: MonotonicTime?
  ) -> [LocationEvent] {
    request = nil
    return Self.events(deferral.allow(untilTraveled: meters, timeout: seconds, at: now))
  }

  mutating func disallowDeferral() -> [LocationEvent] { Self.events(deferral.disallow()) }

  // MARK: What the source delivers

  /// Receives a fix for updates and for the request, which an update with the fix answers too.
  mutating func receive(
    _ fix: Fix, at now: MonotonicTime, refusal: LocationHealth?
  ) -> [LocationEvent] {
    let answer = request?.receive(fix, at: now)
    var events: [LocationEvent] = []
    var isDelivered = false
    if let (isPassed, change) = updates?.receive(fix, at: now) {
      if change == .resumed { events = [.resumed] + setConditions() }
      if isPassed {
        let delivered = Self.events(deferral.receive(fix, at: now))
        isDelivered = !delivered.isEmpty
        if isDelivered { received = fix.time }
        events += delivered
      }
      if change == .paused { events += paused() }
    }
    guard let answer else { return events }
    request = nil
    return isDelivered && answer == .fix(fix) ? events : events + end(answer, refusal: refusal)
  }

  /// Receives the latest fix as one of now, because the receiver rests.
  mutating func rest(at fix: Fix) -> [LocationEvent] {
    switch updates?.rest(at: fix) {
    case .paused: return paused()
    case .resumed:
      received = fix.time
      return [.resumed] + setConditions() + Self.events(deferral.receive(fix, at: fix.time))
    case nil: return []
    }
  }

  /// Advances the time. A request without a fix fails at its end if the source refuses locations.
  mutating func advance(to now: MonotonicTime, refusal: LocationHealth?) -> [LocationEvent] {
    var events: [LocationEvent] = []
    if let answer = request?.advance(to: now) {
      request = nil
      events = end(answer, refusal: refusal)
    }
    return events + Self.events(deferral.advance(to: now))
  }

  mutating func refuse(_ refusal: LocationHealth) -> [LocationEvent] {
    guard isRequesting else { return [] }
    request = nil
    return [.requestFailed(refusal)]
  }

  /// Ends the request with the best fix so far, because no other one comes.
  mutating func endRequest(refusal: LocationHealth?) -> [LocationEvent] {
    guard let answer = request?.end else { return [] }
    request = nil
    return end(answer, refusal: refusal)
  }

  private mutating func end(
    _ answer: FixRequest.Answer, refusal: LocationHealth?
  ) -> [LocationEvent] {
    switch answer {
    case .fix(let fix):
      received = fix.time
      return [.requestedFix(fix)]
    case .timedOut: return [refusal.map { .requestFailed($0) } ?? .requestTimedOut]
    }
  }

  private mutating func paused() -> [LocationEvent] { setConditions() + [.paused] }

  // MARK: Deferral

  mutating func setAvailable(_ isAvailable: Bool) -> [LocationEvent] {
    self.isAvailable = isAvailable
    return setConditions()
  }

  private mutating func setConditions() -> [LocationEvent] {
    Self.events(
      deferral.set(
        DeferredUpdates.Conditions(
          isUpdating: updates?.isPaused == false, accuracy: settings?.accuracy ?? .best,
          distanceFilter: settings?.distanceFilter, isAvailable: isAvailable)))
  }

  /// Returns the events of a deferral. Its end has the fixes that were delivered just before.
  private static func events(_ changes: [DeferredUpdates.Event]) -> [LocationEvent] {
    var events: [LocationEvent] = []
    for change in changes {
      switch change {
      case .deliver(let fixes): events.append(.fixes(fixes))
      case .finish(let error):
        var held: [Fix] = []
        if case .fixes(let fixes)? = events.last {
          held = fixes
          events.removeLast()
        }
        events.append(.deferralFinished(error, held: held))
      }
    }
    return events
  }
}
