public import Advertising
public import Scanning

/// A change of a region: what happened, when and why.
public struct RegionTransition: Sendable, Hashable, Codable {
  /// The kinds of changes.
  public enum Change: Sendable, Hashable, Codable {
    /// The boundary was crossed from outside.
    case enter
    /// The boundary was crossed from inside.
    case exit
    /// The state is now known for the first time since the region was added, or was requested.
    case determined(RegionState)
  }

  /// What happened.
  public let change: Change
  /// When it happened: an exit by silence at the moment at which the exit timeout passed, however late
  /// the monitor was given the time.
  public let time: MonotonicTime
  /// The region's identifier.
  public let region: String
  /// The beacon that entered or left, or whose state was determined, where the region's rules report each; `nil` for
  /// the region as a whole.
  public let beacon: BeaconIdentity?
  /// The number of beacons inside the region after the change; `nil` in what was stored before it was counted.
  package let beaconsInside: Int?
  /// The state before, of the beacon if there is one; ``RegionState/unknown`` for the first determination of a region
  /// that was added without an assumed state.
  public let previous: RegionState
  /// Why it happened.
  public let reason: Reason
}

extension RegionTransition {
  /// The reason for a change: the rule, the evidence and the timeout.
  public struct Reason: Sendable, Hashable, Codable {
    /// The rule that decided.
    public let rule: Rule
    /// The last sighting of the beacon that decided; `nil` where none did.
    public let lastSighting: LastSighting?
    /// The number of sightings of that beacon since it is tracked.
    public let samples: Int
    /// The exit timeout of that beacon, in seconds; where no beacon decided, how long was waited for one.
    public let exitTimeout: Double?
    /// The beacon's learned interval, in seconds; `nil` before its second packet.
    public let interval: Double?
    /// The share of its packets that is not received, as learned, from 0 to 1.
    public let loss: Double?
  }

  /// The rule that decided: of several that must hold, the one that was met last.
  public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was received, and that is enough.
    case sighting
    /// So many of its last sightings lie inside the gates.
    case count
    /// It was inside the gates for long enough.
    case dwell
    /// It became loud enough, or too weak.
    case signal
    /// It came near enough, or went too far.
    case distance
    /// It was silent for its exit timeout.
    case exitTimeout = "silence"
    /// No beacon met the rules while one was waited for.
    case start
    /// The state was requested.
    case request
  }

  /// One sighting of a beacon.
  public struct LastSighting: Sendable, Hashable, Codable {
    /// When it was received.
    public let time: MonotonicTime
    /// The beacon.
    public let beacon: BeaconIdentity
    /// The signal strength, in dBm; `nil` where it was not measured.
    public let rssi: Int8?
    /// The distance by that signal strength alone, in meters; `nil` where it was not measured.
    package let distance: Double?
  }
}

extension RegionTransition.Change {
  /// The state after the change.
  public var state: RegionState {
    switch self {
    case .enter: .inside
    case .exit: .outside
    case .determined(let state): state
    }
  }

  /// Whether the boundary was crossed.
  public var isCrossing: Bool {
    if case .determined = self { false } else { true }
  }
}
