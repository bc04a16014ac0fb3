package import Positioning
package import Scanning

package enum LocationEvent: ServiceEvent, Hashable {
  /// Fixes of the client's updates, in the order of time; several if they were deferred.
  case fixes([Fix])
  /// The answer to a request for one fix, unless the client's updates deliver that fix.
  case requestedFix(Fix)
  case requestTimedOut
  /// A request for one fix ended, because the source refuses the application.
  case requestFailed(LocationHealth)
  /// Location updates are paused, because no movement is likely.
  case paused
  case resumed
  /// A deferral has ended, as requested or by an error, with the fixes that were held back.
  case deferralFinished(DeferredUpdatesError?, held: [Fix])
  case significantChange(Fix)
  case visit(VisitReport)
  /// A monitored circle was entered or left, or its state was determined.
  case circle(CircleEvent)
  case circleState(CircularRegion, GeofenceState)
  case registered(MonitoredCircle)
  case heading(Heading)
  case health(LocationHealth, at: WallClockTime)
  case refused(AuthorizationStatus)
  /// The source has ended: the reason, and whether that is a failure.
  case ended(String, isFailure: Bool)

  package var isReplaceable: Bool {
    if case .heading = self { true } else { false }
  }
}

package struct MonitoredCircle: Sendable, Hashable, Codable {
  package var region: CircularRegion
  /// Whether the client acts on entries. The service reports them in any case.
  package var notifiesOnEntry = true
  package var notifiesOnExit = true

  package init(_ region: CircularRegion) { self.region = region }
}

package struct CircleEvent: Sendable, Hashable, Codable {
  package var circle: MonitoredCircle
  package var transition: GeofenceTransition
  package var wallClockOffset: WallClockOffset

  package var wallClockTime: WallClockTime { transition.time.wallClockTime(wallClockOffset) }
}

package struct CircleSnapshot: Sendable, Hashable, Codable {
  package var circle: MonitoredCircle
  package var state: GeofenceState
  /// The start of this state, also over restarts; `nil` if it is unknown.
  package var since: WallClockTime?
}

/// The parts of the location service that a client and its group use.
package struct LocationUse: Sendable, Hashable, Codable {
  package var updates: UpdateSettings?
  package var isRequesting = false
  package var headings = false
  package var visits = false
  package var significantChanges = false

  /// Whether fixes are needed, other than for circles.
  package var needsFixes: Bool { updates != nil || isRequesting || visits || significantChanges }
}

package struct UpdateSettings: Sendable, Hashable, Codable {
  package var accuracy = AccuracyClass.best
  /// The minimum movement between two updates, in meters; `nil` to deliver each fix.
  package var distanceFilter: Double?
  /// The longest interval between updates that the client accepts, in seconds.
  package var interval = 0.0
  /// The activity of the client, which determines pauses.
  package var activity = ActivityType.other
  package var pausesAutomatically = true
  /// Whether a recording may deliver up to ``batch`` fixes at once, which is faster.
  package var takesBatches = false

  static let batch = 256

  package init() {}
}

package typealias LocationServiceError = ServiceError<GeofenceError>
