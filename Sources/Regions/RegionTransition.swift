public import Advertising
public import Scanning

/// What happened to a region, when and why.
public struct RegionTransition: Sendable, Hashable, Codable {
  /// What happened.
  public enum Change: Sendable, Hashable, Codable {
    /// The boundary was crossed from outside.
    case enter
    /// The boundary was crossed from inside.
    case exit
    /// The state is now known for the first time since the region was added, or was asked for.
    case determined(RegionState)
  }

  /// What happened.
  public let change: Change
  /// When it happened: an exit by silence at the moment at which the limit was reached, however late
  /// the monitor was told the time.
  public let time: MonotonicTime
  /// Which region: its identifier.
  public let region: String
  /// The state before; ``RegionState/unknown`` for the first determination of a region that was added
  /// without an assumed state.
  public let previous: RegionState
  /// Why.
  public let reason: Reason
}

extension RegionTransition {
  /// Why a region changed: the rule, the evidence and the limits.
  public struct Reason: Sendable, Hashable, Codable {
    /// The rule that decided.
    public let rule: Rule
    /// The last sighting of the beacon that decided; `nil` where none did.
    public let lastSighting: LastSighting?
    /// How often that beacon was heard since it is tracked.
    public let samples: Int
    /// The silence after which that beacon counts as gone, in seconds; where no beacon decided, how long
    /// was waited for one.
    public let silenceLimit: Double?
    /// The beacon's interval as learnt, in seconds; `nil` before its second packet.
    public let interval: Double?
    /// The share of its packets that is not heard, as learnt, from 0 to 1.
    public let loss: Double?
  }

  /// The rule that decided: of several that must hold, the one that was met last.
  public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was heard, and that is enough.
    case sighting
    /// So many of its last sightings lie inside the gates.
    case count
    /// It was inside the gates for long enough.
    case dwell
    /// It became loud enough, or too weak.
    case signal
    /// It came near enough, or went too far.
    case distance
    /// It was silent for longer than its limit.
    case silence
    /// Nothing met the rules within the start limit.
    case start
    /// So many beacons were heard since that it had to make room.
    case forgotten
    /// The state was asked for.
    case request
  }

  /// One sighting of a beacon.
  public struct LastSighting: Sendable, Hashable, Codable {
    /// When it was heard.
    public let time: MonotonicTime
    /// Which beacon.
    public let beacon: BeaconIdentity
    /// How loud, in dBm; `nil` where that was not measured.
    public let rssi: Int8?
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
