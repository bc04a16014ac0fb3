package import Positioning
package import Scanning

/// The events that a ``LocationService`` delivers to a client.
package enum LocationEvent: ServiceEvent, Hashable {
  /// Fixes of the client's location updates, in the order of time: several where they were
  /// deferred.
  case fixes([Fix])
  /// The answer to a request for one fix, unless the client's updates deliver that fix.
  case requestedFix(Fix)
  /// No fix came in the time that a request for one may take.
  case requestTimedOut
  /// A request for one fix ended, because the source refuses the application: its state.
  case requestFailed(LocationHealth)
  /// Location updates are paused, because no movement is likely.
  case paused
  /// Location updates go on after a pause.
  case resumed
  /// A deferral of location updates has ended: as it was requested, or by an error. The fixes that
  /// were held back come before it, also where the client has stopped its updates.
  case deferralFinished(DeferredUpdatesError?, held: [Fix])
  /// The place has changed significantly.
  case significantChange(Fix)
  /// A visit began or ended.
  case visit(VisitReport)
  /// A monitored circle was entered or left, or its state was determined.
  case circle(CircleEvent)
  /// The answer to a request for a circle's state.
  case circleState(CircularRegion, GeofenceState)
  /// Monitoring of a circle has started.
  case registered(MonitoredCircle)
  /// The direction of the device.
  case heading(Heading)
  /// The source's state changed, at a wall-clock time.
  case health(LocationHealth, at: WallClockTime)
  /// The application may not use the service any more.
  case refused(AuthorizationStatus)
  /// The source will not deliver any more: why, and whether that is a failure.
  case ended(String, isFailure: Bool)

  /// Indicates whether a later event replaces this one: that is so of headings.
  package var isReplaceable: Bool {
    if case .heading = self { true } else { false }
  }
}

/// A visit, in wall-clock time.
package struct VisitReport: Sendable, Hashable, Codable {
  package var place: Coordinate
  /// The radius around ``place`` that contains the place of the visit with a probability of 68 %,
  /// in meters.
  package var horizontalAccuracy: Double
  /// `nil` where the visit had begun before the service was started.
  package var arrival: WallClockTime?
  /// `nil` while the visit continues.
  package var departure: WallClockTime?

  init(_ visit: Visit, _ offset: WallClockOffset) {
    (place, horizontalAccuracy) = (visit.place, visit.horizontalAccuracy)
    arrival = visit.arrival?.wallClockTime(offset)
    departure = visit.departure?.wallClockTime(offset)
  }
}

/// A circle that a client monitors.
package struct MonitoredCircle: Sendable, Hashable, Codable {
  package var region: CircularRegion
  /// Indicates whether the client acts on entries. The service reports them in any case.
  package var notifiesOnEntry = true
  /// Indicates whether the client acts on exits. The service reports them in any case.
  package var notifiesOnExit = true

  package init(_ region: CircularRegion) { self.region = region }
}

/// A change of a monitored circle, with its reason.
package struct CircleEvent: Sendable, Hashable, Codable {
  package var circle: MonitoredCircle
  /// The change, its time and its reason.
  package var transition: GeofenceTransition
  /// The distance from the transition's time to wall-clock time.
  package var wallClockOffset: WallClockOffset

  /// The time of the change.
  package var wallClockTime: WallClockTime { transition.time.wallClockTime(wallClockOffset) }
}

/// The state of a monitored circle at a moment.
package struct CircleSnapshot: Sendable, Hashable, Codable {
  package var circle: MonitoredCircle
  package var state: GeofenceState
  /// Since when it is in this state, also over restarts; `nil` where that is not known.
  package var since: WallClockTime?
}

/// The parts of the location service that a client and its group use.
package struct LocationUse: Sendable, Hashable {
  /// The settings of the client's updates; `nil` while there are none.
  package var updates: UpdateSettings?
  /// Indicates whether the client waits for one fix.
  package var isRequesting = false
  /// Indicates whether the client receives headings.
  package var headings = false
  /// Indicates whether the group receives visits.
  package var visits = false
  /// Indicates whether the group receives significant changes.
  package var significantChanges = false

  /// Indicates whether fixes are needed, other than for circles.
  package var needsFixes: Bool { updates != nil || isRequesting || visits || significantChanges }
}

/// The settings of a client's location updates.
package struct UpdateSettings: Sendable, Hashable, Codable {
  /// The accuracy that the client needs.
  package var accuracy = AccuracyClass.best
  /// The least movement between two updates, in meters; `nil` where each fix is delivered.
  package var distanceFilter: Double?
  /// The time between two updates that the client needs at most, in seconds: the sources need not
  /// work more often.
  package var interval = 0.0
  /// The activity of the client, which determines pauses.
  package var activity = ActivityType.other
  /// Indicates whether updates may pause while no movement is likely.
  package var pausesAutomatically = true
  /// Indicates whether fixes of a recording may come several at once, up to ``batch``: the client changes nothing between
  /// two of them. A change of hands costs more than a fix.
  package var takesBatches = false

  /// The greatest number of fixes at once: 256.
  static let batch = 256

  package init() {}
}

/// The reason that a request of the location service fails.
package enum LocationServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The source cannot be used; the sentence says why.
  case unavailable(String)
  /// The application is not authorized.
  case denied
  /// The circle cannot be monitored.
  case circle(String, GeofenceError)
  /// The circle's identifier is longer than the maximum of 4,096 bytes.
  case identifierTooLong(bytes: Int)

  /// One sentence for people.
  package var description: String {
    switch self {
    case .unavailable(let sentence): sentence
    case .denied: "this application is not authorized to use location services"
    case .circle(let identifier, let error): "region '\(identifier)': \(error)"
    case .identifierTooLong(let bytes):
      "the region's identifier has \(bytes) bytes; shorten it to \(BeaconService.maximumIdentifierBytes) at most"
    }
  }
}
