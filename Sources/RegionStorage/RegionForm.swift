import Advertising
import Regions
import Scanning

/// A region as JSON.
struct RegionForm: Codable {
  var owner: String?
  var id: String
  var uuid: String
  var major: UInt16?
  var minor: UInt16?
  /// `nil` for ``RegionRules/standard``.
  var rules: RulesForm?
  var onEntry: Bool
  var onExit: Bool
  var onDisplay: Bool
  var state: String
  /// Nanoseconds since 1970, here and wherever a moment stands.
  var since: Int64?
  /// Seconds.
  var limit: Double?

  init(_ stored: StoredRegion) {
    let constraint = stored.region.constraint
    (owner, id) = (stored.owner.isEmpty ? nil : stored.owner, stored.region.identifier)
    (uuid, major, minor) = (constraint.uuid.description, constraint.major, constraint.minor)
    rules = stored.region.rules == .standard ? nil : RulesForm(stored.region.rules)
    (onEntry, onExit) = (stored.notifyOnEntry, stored.notifyOnExit)
    onDisplay = stored.notifyEntryStateOnDisplay
    (state, since) = (stored.state.name, stored.since?.nanoseconds)
    limit = stored.silenceLimit?.finite
  }

  /// The region; `nil` if there can be no such.
  var region: StoredRegion? {
    guard let uuid = ProximityUUID(uuid), let state = RegionState(name: state) else { return nil }
    var kept = RegionRules.standard
    if let rules {
      guard let read = rules.rules else { return nil }
      kept = read
    }
    var stored = StoredRegion(
      MonitoredRegion(
        identifier: id, constraint: BeaconConstraint(uuid: uuid, major: major, minor: minor),
        rules: kept), owner: owner ?? "")
    (stored.notifyOnEntry, stored.notifyOnExit) = (onEntry, onExit)
    stored.notifyEntryStateOnDisplay = onDisplay
    (stored.state, stored.since) = (state, since.map(MonotonicTime.init(nanoseconds:)))
    stored.silenceLimit = limit
    return stored
  }
}

/// Rules as JSON.
struct RulesForm: Codable {
  struct Silence: Codable {
    /// Seconds; without it, the limit is adaptive.
    var fixed: Double?
    var falseExitsPerDay: Double?
    var ceiling: Double?
  }

  struct Gate: Codable {
    var enter: Double
    var exit: Double
    var excess: Double
  }

  struct Count: Codable {
    var needed: Int
    var last: Int
  }

  var silence: Silence
  var signal: Gate?
  var distance: Gate?
  var count: Count
  var dwell: Double

  init(_ rules: RegionRules) {
    switch rules.exitTimeout {
    case .fixed(let seconds):
      silence = Silence(fixed: seconds)
    case .adaptive(let wanted, let ceiling):
      silence = Silence(falseExitsPerDay: wanted, ceiling: ceiling)
    }
    signal = rules.signal.map { Gate(enter: $0.enter, exit: $0.exit, excess: $0.excess) }
    distance = rules.distance.map { Gate(enter: $0.enter, exit: $0.exit, excess: $0.excess) }
    count = Count(needed: rules.count.needed, last: rules.count.last)
    dwell = rules.dwell
  }

  /// The rules; `nil` if they cannot be kept.
  var rules: RegionRules? {
    let limit: ExitTimeoutRule
    if let fixed = silence.fixed {
      limit = .fixed(seconds: fixed)
    } else if let wanted = silence.falseExitsPerDay, let ceiling = silence.ceiling {
      limit = .adaptive(falseExitsPerDay: wanted, ceiling: ceiling)
    } else {
      return nil
    }
    return try? RegionRules(
      exitTimeout: limit,
      signal: signal.map { SignalGate(enter: $0.enter, exit: $0.exit, excess: $0.excess) },
      distance: distance.map { DistanceGate(enter: $0.enter, exit: $0.exit, excess: $0.excess) },
      count: EnterCount(needed: count.needed, of: count.last), dwell: dwell)
  }
}
