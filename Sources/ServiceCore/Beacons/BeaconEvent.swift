package import Advertising
public import Ranging
public import Regions
public import Scanning

/// What a ``BeaconService`` reports to a client.
public enum BeaconEvent: ServiceEvent, Hashable {
  /// Sightings in the order of time, whether their beacons are ranged or not.
  case sightings([Sighting])
  /// The beacons that the client ranges.
  case ranging(RangingReport)
  /// A monitored region was entered or left, or its state was determined.
  case region(RegionEvent)
  /// The answer to a request for a region's state.
  case regionState(BeaconRegion, RegionState)
  /// Monitoring of a region has started.
  case registered(BeaconRegion)
  /// The receiver's state changed, at a wall-clock time.
  case health(ScannerHealth, at: WallClockTime)
  /// Something is wrong with the identity or, if the client ranges it, the measured power of a beacon that the client
  /// ranges or monitors: reported once, at a wall-clock time.
  case identity(IdentityFinding, at: WallClockTime)
  /// The application may not use the service any more.
  case refused(AuthorizationStatus)
  /// The source will not deliver any more: why, and whether that is a failure.
  case ended(String, isFailure: Bool)

  /// Whether a later event makes this one superfluous: that is so of ranging reports.
  public var isReplaceable: Bool {
    if case .ranging = self { true } else { false }
  }
}

/// The beacons in range at a moment.
public struct RangingReport: Sendable, Hashable, Codable {
  /// The moment.
  public var time: MonotonicTime
  /// The distance from the report's times to wall-clock time.
  public var wallClockOffset: WallClockOffset
  /// The beacons, closest first, those of unknown proximity last.
  public var beacons: [RangedBeacon]
  /// The client's requests that the report answers. One that the client has added since is not among them.
  public var requests: Set<RangingRequest> = []

  /// The wall-clock time of the report.
  public var wallClockTime: WallClockTime { time.wallClockTime(wallClockOffset) }
}

/// A region of beacons that a client monitors.
public struct BeaconRegion: Sendable, Hashable, Codable {
  /// The identifier: registering a region replaces one of the same identifier in the client's group.
  public var identifier: String
  /// The beacons of the region.
  public var constraint: BeaconConstraint
  /// When the region is entered and left; `nil` for the service's rules.
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
  /// What happened, when and why.
  public var transition: RegionTransition
  /// The distance from the transition's times to wall-clock time.
  public var wallClockOffset: WallClockOffset

  /// When it happened.
  public var wallClockTime: WallClockTime { transition.time.wallClockTime(wallClockOffset) }
}

/// What is known of a monitored region at a moment.
public struct RegionSnapshot: Sendable, Hashable, Codable {
  /// The region.
  public var region: BeaconRegion
  /// Its state, the number of its beacons, and when it will be left.
  public var status: RegionStatus
  /// Since when it is in this state, also over restarts; `nil` where that is not known.
  public var since: WallClockTime?
  /// The beacons inside, where the region's rules report each, and since when.
  package var beacons: [BeaconIdentity: WallClockTime] = [:]
}

/// What a client ranges.
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

/// Why a request cannot be met.
public enum BeaconServiceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The source cannot be used; the sentence says why.
  case unavailable(String)
  /// The application is not authorized.
  case denied
  /// The region cannot be monitored.
  case region(String, RegionError)
  /// The region's identifier is longer than the maximum of 4,096 bytes.
  case identifierTooLong(bytes: Int)

  /// One sentence for people.
  public var description: String {
    switch self {
    case .unavailable(let sentence): sentence
    case .denied: "this application is not authorized to use location services"
    case .region(let identifier, let error): "region '\(identifier)': \(error)"
    case .identifierTooLong(let bytes):
      "the region's identifier has \(bytes) bytes; shorten it to \(BeaconService.maximumIdentifierBytes) at most"
    }
  }
}
