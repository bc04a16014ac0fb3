package import Advertising
public import Ranging
public import Regions
public import Scanning

/// An event that a ``BeaconService`` reports to a client.
public enum BeaconEvent: ServiceEvent, Hashable {
  /// Sightings in the order of time, also of beacons that are not ranged.
  case sightings([Sighting])
  /// The beacons that the client ranges.
  case ranging(RangingReport)
  /// A monitored region was entered or left, or its state was determined.
  case region(RegionEvent)
  /// The answer to a request for a region's state.
  case regionState(BeaconRegion, RegionState)
  /// Monitoring of a region has started.
  case registered(BeaconRegion)
  /// The receiver's state changed.
  case health(ScannerHealth, at: WallClockTime)
  /// A problem with the identity or measured power of a ranged or monitored beacon, reported once.
  case identity(IdentityFinding, at: WallClockTime)
  /// The application is no longer authorized.
  case refused(AuthorizationStatus)
  /// The source has ended: the reason, and whether that is a failure.
  case ended(String, isFailure: Bool)

  /// Whether a later event replaces this one, as it does for ranging reports.
  public var isReplaceable: Bool {
    if case .ranging = self { true } else { false }
  }
}

/// The beacons in range at a moment.
public struct RangingReport: Sendable, Hashable, Codable {
  /// The time of the report.
  public var time: MonotonicTime
  /// The offset from the report's times to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// The beacons, closest first, those of unknown proximity last.
  public var beacons: [RangedBeacon]
  /// The client's requests that the report answers, without those that it added since.
  public var requests: Set<RangingRequest> = []

  /// The wall-clock time of the report.
  public var wallClockTime: WallClockTime { time.wallClockTime(wallClockOffset) }
}

/// A region of beacons that a client monitors.
public struct BeaconRegion: Sendable, Hashable, Codable {
  /// The identifier. A region replaces the one of its group with the same identifier.
  public var identifier: String
  /// The beacons of the region.
  public var constraint: BeaconConstraint
  /// The rules for entering and leaving; `nil` for the service's rules.
  public var rules: RegionRules?
  /// Whether the client acts on entries. The service reports them in any case.
  public var notifiesOnEntry = true
  /// Whether the client acts on exits. The service reports them in any case.
  public var notifiesOnExit = true
  /// Whether the client wants the state when the display is switched on.
  public var notifiesEntryStateOnDisplay = false

  /// Creates a region.
  public init(identifier: String, constraint: BeaconConstraint, rules: RegionRules? = nil) {
    (self.identifier, self.constraint, self.rules) = (identifier, constraint, rules)
  }
}

/// A change of a monitored region, with its reason.
public struct RegionEvent: Sendable, Hashable, Codable {
  /// The region.
  public var region: BeaconRegion
  /// The change, its time and its reason.
  public var transition: RegionTransition
  /// The offset from the transition's times to wall-clock time.
  public var wallClockOffset: WallClockOffset

  /// The wall-clock time of the change.
  public var wallClockTime: WallClockTime { transition.time.wallClockTime(wallClockOffset) }
}

/// The state of a monitored region at a moment.
public struct RegionSnapshot: Sendable, Hashable, Codable {
  /// The region.
  public var region: BeaconRegion
  /// The region's state, the number of its beacons, and the time when it will be left.
  public var status: RegionStatus
  /// The start of this state, also over restarts; `nil` if it is unknown.
  public var since: WallClockTime?
  /// The beacons inside and the start of their stays, where the rules report each beacon.
  package var beacons: [BeaconIdentity: WallClockTime] = [:]
}

/// A request to range beacons.
public struct RangingRequest: Sendable, Hashable, Codable {
  /// The beacons; `nil` for every beacon.
  public var constraint: BeaconConstraint?
  /// A name that distinguishes requests for the same beacons.
  public var identifier: String?

  /// Creates a request.
  public init(_ constraint: BeaconConstraint?, identifier: String? = nil) {
    (self.constraint, self.identifier) = (constraint, identifier)
  }
}

/// The reason why a request to a ``BeaconService`` fails.
public typealias BeaconServiceError = ServiceError<RegionError>
