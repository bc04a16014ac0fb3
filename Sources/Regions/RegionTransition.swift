public import Advertising
public import Scanning

/// A change of a region: its kind, time and reason.
public struct RegionTransition: Sendable, Hashable, Codable {
  /// The kinds of changes.
  public enum Change: Sendable, Hashable, Codable {
    /// The region was entered.
    case enter
    /// The region was left.
    case exit
    /// The state is known for the first time since the region was added.
    case determined(RegionState)
  }

  /// The kind of change.
  public let change: Change
  /// The time of the change. An exit by silence has the moment at which the exit timeout passed,
  /// even if the monitor received the time later.
  public let time: MonotonicTime
  /// The region's identifier.
  public let region: String
  /// The beacon of the change if the region's rules report each; `nil` for the region as a whole.
  public let beacon: BeaconIdentity?
  /// The number of beacons inside after the change; `nil` in older stored transitions.
  package let beaconsInside: Int?
  /// The previous state, of the beacon if any; ``RegionState/unknown`` unless known or assumed.
  public let previous: RegionState
  /// The reason for the change.
  public let reason: Reason

  package func renamed(_ region: String) -> RegionTransition {
    RegionTransition(
      change: change, time: time, region: region, beacon: beacon, beaconsInside: beaconsInside,
      previous: previous, reason: reason)
  }
}

extension RegionTransition {
  /// The rule that decided, its evidence and the exit timeout.
  public struct Reason: Sendable, Hashable, Codable {
    /// The rule that decided.
    public let rule: Rule
    /// The last sighting of the beacon that decided, if any.
    public let lastSighting: LastSighting?
    /// The number of sightings of that beacon since tracking started.
    public let samples: Int
    /// The exit timeout of that beacon, in seconds, or without a beacon the wait for one.
    public let exitTimeout: Double?
    /// The beacon's learned interval, in seconds; `nil` before its second packet.
    public let interval: Double?
    /// The learned share of packets that are not received, from 0 to 1.
    public let loss: Double?
    /// How near a beacon came to entering, if the rule is ``RegionTransition/Rule/start``.
    package let approach: RegionApproach?

    package init(
      _ rule: Rule, lastSighting: LastSighting? = nil, samples: Int = 0,
      exitTimeout: Double? = nil, interval: Double? = nil, loss: Double? = nil,
      approach: RegionApproach? = nil
    ) {
      self.rule = rule
      self.lastSighting = lastSighting
      self.samples = samples
      self.exitTimeout = exitTimeout
      self.interval = interval
      self.loss = loss
      self.approach = approach
    }
  }

  /// The rule that decided; of several, the last one that was met.
  public enum Rule: String, Sendable, Hashable, Codable, CaseIterable {
    /// The first sighting sufficed.
    case sighting
    /// Enough of the last sightings lie inside the gates.
    case count
    /// The beacon was inside the gates for long enough.
    case dwell
    /// The signal became strong enough, or too weak.
    case signal
    /// The beacon came near enough, or went too far.
    case distance
    /// The beacon was silent for its exit timeout.
    case exitTimeout
    /// No beacon met the rules during the wait for one.
    case start
    /// Nothing changed: the state was requested, or is the one at the start.
    case request

    /// Reads a rule. Files of earlier versions call ``exitTimeout`` `silence`.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let name = try container.decode(String.self)
      guard let rule = Self(rawValue: name == "silence" ? "exitTimeout" : name) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "there is no rule '\(name)'")
      }
      self = rule
    }
  }

  /// The last sighting of a beacon.
  public struct LastSighting: Sendable, Hashable, Codable {
    /// The time of reception.
    public let time: MonotonicTime
    /// The beacon.
    public let beacon: BeaconIdentity
    /// The signal strength, in dBm; `nil` if not measured.
    public let rssi: Int8?
    /// The distance from that signal strength alone, in meters; `nil` if not measured.
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

  /// Whether the change is an entry or an exit.
  public var isCrossing: Bool {
    if case .determined = self { false } else { true }
  }
}
