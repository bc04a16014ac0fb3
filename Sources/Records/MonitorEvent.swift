package import Advertising
package import Positioning
package import Regions
package import Scanning

/// A line of the output of `monitor`: a crossing or a determined state.
package struct MonitorEvent: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case enter, exit
    case state
  }

  package var kind: Kind
  package var time: WallClockTime
  package var region: String
  package var state: RegionState
  /// The beacon of the event, if each beacon of the region is reported.
  package var beacon: BeaconIdentity?
  /// The number of beacons inside after the event, or `nil` if it is not known.
  package var beaconsInside: Int?
  /// The seconds spent inside before an exit, or `nil` if they are not known.
  package var dwell: Double?
  package var reason: RegionTransition.Reason?
  /// The offset from the reason's monotonic times to wall-clock time.
  package var offset: WallClockOffset
  package var rules: RegionRules
  package var circle: Circle?

  package struct Circle: Sendable {
    package var region: CircularRegion
    package var reason: GeofenceTransition.Reason?
  }

  package init(
    _ kind: Kind, time: WallClockTime, region: String, state: RegionState,
    beacon: BeaconIdentity? = nil, beaconsInside: Int? = nil, dwell: Double? = nil,
    reason: RegionTransition.Reason, offset: WallClockOffset, rules: RegionRules
  ) {
    self.kind = kind
    self.time = time
    self.region = region
    self.state = state
    self.beacon = beacon
    self.beaconsInside = beaconsInside
    self.dwell = dwell
    self.reason = reason
    self.offset = offset
    self.rules = rules
  }

  package init(
    _ kind: Kind, time: WallClockTime, circle: CircularRegion, state: GeofenceState,
    dwell: Double? = nil, reason: GeofenceTransition.Reason? = nil
  ) {
    self.kind = kind
    self.time = time
    region = circle.identifier
    self.dwell = dwell
    self.state = RegionState(state)
    offset = .zero
    rules = .standard
    self.circle = Circle(region: circle, reason: reason)
  }

  package var isAtStart: Bool {
    reason?.rule == .request || circle.map { $0.reason == nil } ?? false
  }

  /// The reported beacon, or else the one that decided the event.
  package var subject: BeaconIdentity? { beacon ?? reason?.lastSighting?.beacon }
}

extension MonitorEvent {
  package static let schemas = [false, true].flatMap { isOfCircle in
    Kind.allCases.map { record(of: $0, isOfCircle: isOfCircle).schema }
  }

  package var record: RecordType<MonitorEvent> {
    Self.record(of: kind, isOfCircle: circle != nil)
  }

  private static func record(of kind: Kind, isOfCircle: Bool) -> RecordType<MonitorEvent> {
    let name = kind.rawValue
    let head = [time, region(), state] + (kind == .exit ? [dwell] : [])
    return isOfCircle
      ? RecordType(name, named: name + "Circle", head, place, [distanceOutside, circleReason])
      : RecordType(name, head, facts, [reason])
  }

  /// Returns the record type of any event, for CSV and tables. Columns for circles come last.
  package static func row(
    regionWidth: Int = 0, showsCircles: Bool = false
  ) -> RecordType<MonitorEvent> {
    RecordType(
      nil,
      [
        time,
        Field("type", .string, column: event) { $0.kind.rawValue },
        region(regionWidth), state, dwell,
      ], [rule, lastReceived], identity, [rssi], learned,
      [
        distance, beaconsInside,
        Field("cause", .string, isInCSV: false, column: Column("REASON", fit: .cut(to: 20))) {
          $0.explanation
        },
      ], showsCircles ? place + [circleAccuracy, circleFixes] : [])
  }

  private static let facts: [Field<MonitorEvent>] =
    identity + [distance, rssi, beaconsInside]

  private static let identity = Field<MonitorEvent>.identityOrNull { $0.subject }

  private static let distance = Field<MonitorEvent>(
    "distance", .meters.with("maximum", 1000), decimals: 3
  ) { $0.circle.map { $0.reason?.distanceOutside } ?? $0.reason?.lastSighting?.distance }

  private static let rssi = Field<MonitorEvent>("rssi", .rssi) { $0.reason?.lastSighting?.rssi }

  private static let place =
    Field<MonitorEvent>.place(isNullable: false) { $0.circle?.region.center } + [
      Field("radius", .number(0...), decimals: 3) { $0.circle?.region.radius }
    ]

  /// The distance in meters from the last fix to the circle's boundary, negative inside.
  private static let distanceOutside = Field<MonitorEvent>(
    "distance", Schema.number.orNull, decimals: 3
  ) { $0.circle?.reason?.distanceOutside }

  private static let circleAccuracy = Field<MonitorEvent>("accuracy", .meters, decimals: 3) {
    $0.circle?.reason?.accuracy
  }

  private static let circleFixes = Field<MonitorEvent>("fixes", .integer(0...).orNull) {
    $0.circle?.reason?.fixes
  }

  private static let circleReason = Field<MonitorEvent>(
    "reason",
    RecordType<MonitorEvent>(
      nil, named: "circleReason",
      [
        Field("rule", .one(of: GeofenceTransition.Rule.allCases.map(\.rawValue))) {
          $0.ruleName
        },
        circleAccuracy,
        Field("duration", .number(0...).orNull, decimals: 3) { $0.circle?.reason?.dwell },
        circleFixes,
      ])
  ) { $0 }

  private var ruleName: String {
    reason?.rule.rawValue
      ?? (circle?.reason?.rule ?? GeofenceTransition.Rule.request).rawValue
  }

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
  ) { $0.ruleName }

  /// The time of the deciding beacon's last sighting, in rows.
  private static let lastReceived = Field<MonitorEvent>(
    "lastSighting", .time,
    column: Column("BEACON", width: max(11, BeaconNames.width)) { event in
      event.subject?.shortName
    }
  ) { event in event.reason?.lastSighting?.time.wallClockTime(event.offset) }

  private static let learned: [Field<MonitorEvent>] = [
    Field("samples", .count) { $0.reason?.samples },
    Field("exitTimeout", .number(0...).orNull, decimals: 3) { $0.reason?.exitTimeout },
    Field("interval", .number(0...).orNull, decimals: 3) { $0.reason?.interval },
    Field("loss", .number(0...1).orNull, decimals: 3) { $0.reason?.loss },
  ]

  private static let reason = Field<MonitorEvent>(
    "reason",
    RecordType<MonitorEvent>(
      nil, named: "reason",
      [
        rule,
        Field("lastSighting", lastSighting, isNullable: true) { event in
          event.reason?.lastSighting.map { ($0, $0.time.wallClockTime(event.offset)) }
        },
      ], learned,
      [Field("approach", Approach.part, .sometimes) { $0.approach }])
  ) { $0 }

  private var approach: Approach? {
    reason?.approach.map { Approach(region, state, at: time, rules, $0) }
  }

  private static let lastSighting = RecordType<(RegionTransition.LastSighting, WallClockTime)>(
    nil, [Field("time", .time) { $0.1 }] + Field.identity { $0.0.beacon },
    [Field("rssi", .rssi) { $0.0.rssi }])
}

extension Schema {
  package static let monitorEvent = one(of: MonitorEvent.schemas).named("regionEvent")
}

extension MonitorEvent {
  private var explanation: String { kind == .state ? "\(state.name): \(cause)" : cause }

  private var cause: String {
    if let circle { return circle.reason?.explanation ?? "at the start" }
    guard let reason else { return "" }
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
      return "not received for its exit timeout of \(seconds(reason.exitTimeout)) s"
        + evidence(reason)
    case .start:
      let isSightingEnough =
        rules.signal == nil && rules.distance == nil && rules.count == .first && rules.dwell == 0
      let what =
        approach == nil && (isSightingEnough || beacon == nil)
        ? "not received" : "no beacon met the rules"
      return "\(what) for \(seconds(reason.exitTimeout)) s"
        + (approach.map { ": \($0.message)" } ?? "")
    case .request: return "at the start"
    }
  }

  private func evidence(_ reason: RegionTransition.Reason) -> String {
    guard case .adaptive = rules.exitTimeout, let interval = reason.interval, let loss = reason.loss
    else { return "" }
    return "; sent every \(seconds(interval)) s, \(fixed(loss * 100, 0)) % lost"
  }

  private func seconds(_ value: Double?) -> String {
    value.map { fixed($0, $0 < 1 ? 2 : 1) } ?? "?"
  }
}

extension RegionState {
  package init(_ state: GeofenceState) {
    self =
      switch state {
      case .unknown: .unknown
      case .inside: .inside
      case .outside: .outside
      }
  }

  package var name: String { "\(self)" }
}

extension GeofenceTransition.Reason {
  package var explanation: String {
    let side = distanceOutside < 0 ? "inside" : "outside"
    let place =
      "\(fixed(abs(distanceOutside), 0)) m \(side) the boundary ±\(fixed(accuracy, 0)) m"
    switch rule {
    case .clear: return "\(place), clear by \(counted(fixes, "fix", "fixes"))"
    case .travel: return "\(place), and the path leads on"
    case .stay: return "\(place), the mean of \(counted(fixes, "fix", "fixes"))"
    case .silence: return "\(place), and no fix came since"
    case .request: return place
    }
  }
}
