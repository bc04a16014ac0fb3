package import Advertising
package import Regions
package import Scanning

/// A line of `monitor`: a crossing, or a state that was determined.
package struct MonitorEvent: Sendable {
  package enum Kind: String, Sendable {
    case enter, exit
    /// The region's state is as it was assumed, or was not known before.
    case state
  }

  package var kind: Kind
  package var time: WallClockTime
  package var region: String
  /// The state from now on.
  package var state: RegionState
  /// The beacon that entered or left, or whose state it is, where each beacon of the region is reported.
  package var beacon: BeaconIdentity?
  /// The number of beacons inside the region from now on; `nil` where it is not known.
  package var beaconsInside: Int?
  /// For how many seconds the region, or the beacon, was inside; `nil` if that is not known, or nothing was left.
  package var dwell: Double?
  package var reason: RegionTransition.Reason
  /// The wall clock's offset from the reason's times.
  package var offset: WallClockOffset
  /// The rules that decided.
  package var rules: RegionRules

  package init(
    _ kind: Kind, time: WallClockTime, region: String, state: RegionState,
    beacon: BeaconIdentity? = nil, beaconsInside: Int? = nil, dwell: Double? = nil,
    reason: RegionTransition.Reason, offset: WallClockOffset, rules: RegionRules
  ) {
    (self.kind, self.time, self.region, self.state) = (kind, time, region, state)
    (self.beacon, self.beaconsInside, self.dwell) = (beacon, beaconsInside, dwell)
    (self.reason, self.offset, self.rules) = (reason, offset, rules)
  }

  /// The beacon that the event is about: the one that was reported, or else the one that decided.
  package var subject: BeaconIdentity? { beacon ?? reason.lastSighting?.beacon }
}

extension MonitorEvent {
  package static let enter = RecordType("enter", [time, region(), state], facts, [reason])
  package static let exit = RecordType("exit", [time, region(), state, dwell], facts, [reason])
  package static let determined = RecordType("state", [time, region(), state], facts, [reason])

  /// The record of an event of this kind.
  package var record: RecordType<MonitorEvent> {
    switch kind {
    case .enter: Self.enter
    case .exit: Self.exit
    case .state: Self.determined
    }
  }

  /// Returns the record of an event of any kind as a row of comma-separated values or of a table, whose column of
  /// the region has a width.
  package static func row(regionWidth: Int = 0) -> RecordType<MonitorEvent> {
    RecordType(
      nil,
      [
        time,
        Field("type", .string, column: event) { $0.kind.rawValue },
        region(regionWidth), state, dwell,
      ], [rule, lastReceived], identity, [rssi], learned,
      [
        distance, beaconsInside,
        Field("cause", .string, csv: .none, column: Column("REASON", fit: .cut(to: 20))) {
          $0.explanation
        },
      ])
  }

  /// What happened to which beacon, where it is, and how many are inside.
  private static let facts: [Field<MonitorEvent>] =
    identity + [distance, rssi, beaconsInside]

  private static let identity = Field<MonitorEvent>.identityOrNull { $0.subject }

  private static let distance = Field<MonitorEvent>(
    "distance", .meters.with("maximum", 1000), decimals: 3
  ) { $0.reason.lastSighting?.distance }

  private static let rssi = Field<MonitorEvent>("rssi", .rssi) { $0.reason.lastSighting?.rssi }

  private static let beaconsInside = Field<MonitorEvent>("beacons", .integer(0...).orNull) {
    $0.beaconsInside
  }

  private static let time = Field<MonitorEvent>(
    "time", .time, column: Column(priority: .main, time: \.time)
  ) { $0.time }

  private static let event = Column<MonitorEvent>("EVENT", width: 5, priority: .key) {
    $0.kind.rawValue.uppercased()
  }.colored { event in
    switch event.kind {
    case .enter: 32
    case .exit: 33
    case .state: 2
    }
  }

  private static func region(_ width: Int = 0) -> Field<MonitorEvent> {
    Field("region", .text, column: Column(width: width, priority: .key, fit: .cut(to: 8))) {
      $0.region
    }
  }

  private static let dwell = Field<MonitorEvent>(
    "dwell", .number(0...).orNull, decimals: 3,
    column: Column("INSIDE", .right, width: 9, missing: "") { fixed($0.dwell, 1, "s") }
  ) { $0.dwell }

  private static let state = Field<MonitorEvent>(
    "state", .one(of: [RegionState.inside, .outside].map(\.name))
  ) { $0.state.name }

  private static let rule = Field<MonitorEvent>(
    "rule", .one(of: RegionTransition.Rule.allCases.map(\.rawValue))
  ) { $0.reason.rule.rawValue }

  /// When the beacon that decided was received last, in rows.
  private static let lastReceived = Field<MonitorEvent>(
    "lastHeard", .time,
    column: Column("BEACON", width: max(11, BeaconNames.width)) { event in
      event.subject?.shortName
    }
  ) { event in event.reason.lastSighting?.time.wallClockTime(event.offset) }

  private static let learned: [Field<MonitorEvent>] = [
    Field("samples", .count) { $0.reason.samples },
    Field("silenceLimit", .number(0...).orNull, decimals: 3) { $0.reason.exitTimeout },
    Field("interval", .number(0...).orNull, decimals: 3) { $0.reason.interval },
    Field("loss", .number(0...1).orNull, decimals: 3) { $0.reason.loss },
  ]

  private static let reason = Field<MonitorEvent>(
    "reason",
    RecordType<MonitorEvent>(
      nil, named: "reason",
      [
        rule,
        Field("lastSighting", lastSighting, isNullable: true) { event in
          event.reason.lastSighting.map { ($0, $0.time.wallClockTime(event.offset)) }
        },
      ], learned)
  ) { $0 }

  private static let lastSighting = RecordType<(RegionTransition.LastSighting, WallClockTime)>(
    nil, [Field("time", .time) { $0.1 }] + Field.identity { $0.0.beacon },
    [Field("rssi", .rssi) { $0.0.rssi }])
}

// The reason, for people.
extension MonitorEvent {
  private var explanation: String { kind == .state ? "\(state.name): \(cause)" : cause }

  private var cause: String {
    let signal = reason.lastSighting?.rssi.map { "at \($0) dBm" } ?? "without signal strength"
    let enters = state == .inside
    switch reason.rule {
    case .sighting: return "received \(signal)"
    case .count: return "\(rules.count.needed) of the last \(rules.count.last), \(signal)"
    case .dwell: return "received for \(decimal(rules.dwell, 3)) s, \(signal)"
    case .signal:
      let level = rules.signal.map { enters ? $0.enter : $0.exit } ?? 0
      return "\(signal), long enough \(enters ? "above" : "below") \(decimal(level, 1)) dBm"
    case .distance:
      let limit = rules.distance.map { enters ? $0.enter : $0.exit } ?? 0
      return "\(signal), long enough \(enters ? "within" : "beyond") \(decimal(limit, 2)) m"
    case .exitTimeout:
      return "not received for its exit timeout of \(seconds(reason.exitTimeout)) s" + evidence
    case .start:
      let isSightingEnough =
        rules.signal == nil && rules.distance == nil && rules.count == .first && rules.dwell == 0
      let what = isSightingEnough ? "not received" : "no beacon met the rules"
      return "\(what) for \(seconds(reason.exitTimeout)) s"
    case .request: return "at the start"
    }
  }

  /// What an exit timeout was learned from.
  private var evidence: String {
    guard case .adaptive = rules.exitTimeout, let interval = reason.interval, let loss = reason.loss
    else { return "" }
    return "; sent every \(seconds(interval)) s, \(fixed(loss * 100, 0)) % lost"
  }

  private func seconds(_ value: Double?) -> String {
    value.map { fixed($0, $0 < 1 ? 2 : 1) } ?? "?"
  }
}

extension RegionState {
  /// The state's name, as JSON and people have it.
  package var name: String {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    }
  }
}
