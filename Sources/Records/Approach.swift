import Advertising
package import Regions
package import Scanning

/// A region's rules, and how near each is: to entering it, or to leaving it.
package struct Approach: Sendable {
  package var region: String
  package var state: RegionState
  package var time: WallClockTime
  package var rules: RegionRules
  /// How near beacons came to entering; `nil` if none was received outside.
  package var approach: RegionApproach?
  /// What is known of the beacon that would leave last.
  package var evidence: RegionTransition.Reason?
  /// The seconds for which that beacon was not received.
  package var silence: Double?

  package init(
    _ region: String, _ state: RegionState, at time: WallClockTime, _ rules: RegionRules,
    _ approach: RegionApproach?, leaving evidence: RegionTransition.Reason? = nil,
    silence: Double? = nil
  ) {
    self.region = region
    self.state = state
    self.time = time
    self.rules = rules
    self.approach = approach
    self.evidence = evidence
    self.silence = silence
  }

  private var rule: RegionTransition.Rule? {
    approach?.rule ?? (state == .inside ? nil : .sighting)
  }

  /// The first rule that was not met, with the best value and the one that is needed.
  package var message: String {
    guard let approach else {
      return state == .inside ? "inside" : "none of its beacons was received"
    }
    let best = approach.nearest
    func gate(_ word: String, _ value: String, _ limit: String, isBeyond: Bool) -> String {
      guard isBeyond else { return "\(word) \(value); \(limit) is needed" }
      let share = fixed(best.evidence * 100, 0)
      return "\(word) \(value), but not long enough \(limit): \(share) % of the evidence"
    }
    switch approach.rule {
    case .signal, .distance:
      guard let rssi = best.rssi, let distance = best.distance else {
        return "no sighting had a signal strength"
      }
      if approach.rule == .signal {
        let level = rules.signal?.enter ?? 0
        return gate(
          "strongest", "\(rssi) dBm", "above \(decimal(level, 1)) dBm",
          isBeyond: Double(rssi) > level)
      }
      let limit = rules.distance?.enter ?? 0
      return gate(
        "nearest", "\(fixed(distance, 2)) m", "within \(decimal(limit, 2)) m",
        isBeyond: distance < limit)
    case .count:
      return "at most \(best.count) of the last \(rules.count.last) sightings met the rules; "
        + "\(rules.count.needed) are needed"
    case .dwell:
      let met = rules.signal == nil && rules.distance == nil ? "received" : "near enough"
      return "\(met) for at most \(fixed(best.dwell, 1)) s; \(decimal(rules.dwell, 3)) s are "
        + "needed"
    default: return "received \(counted(approach.sightings, "time"))"
    }
  }

  package var sentence: String {
    let beacon = approach.map {
      " (\($0.beacon.shortName), \(counted($0.sightings, "sighting")))"
    }
    return "\(region) was not entered: \(message)\(beacon ?? "")"
  }
}

extension Approach {
  package static let record = RecordType<Approach>(
    "approach",
    [
      Field("time", .time) { $0.time },
      Field("region", .text) { $0.region },
      Field("state", .one(of: RegionState.allCases.map(\.name))) { $0.state.name },
    ], fields)

  package static let part = RecordType<Approach>(nil, named: "approachPart", fields)

  private static let fields: [Field<Approach>] =
    [
      Field(
        "rule",
        .one(
          of: [RegionTransition.Rule.sighting, .signal, .distance, .count, .dwell].map(\.rawValue)
        )
        .orNull
      ) { $0.rule?.rawValue }
    ] + Field.identityOrNull { $0.approach?.beacon ?? $0.evidence?.lastSighting?.beacon } + [
      Field("sightings", .count) { $0.approach?.sightings ?? $0.evidence?.samples ?? 0 },
      Field("rssi", .rssi) { $0.approach?.nearest.rssi ?? $0.evidence?.lastSighting?.rssi },
      Field("distance", .meters.with("maximum", 1000), decimals: 3) {
        $0.approach?.nearest.distance ?? $0.evidence?.lastSighting?.distance
      },
      Field("evidence", .number(0...1).orNull, decimals: 3) { $0.approach?.nearest.evidence },
      Field("count", .integer(0...).orNull) { $0.approach?.nearest.count },
      Field("dwell", .number(0...).orNull, decimals: 3) { $0.approach?.nearest.dwell },
      Field("needed", needed) { $0.rules },
      Field("message", .text) { $0.message },
    ]

  private static let needed = RecordType<RegionRules>(
    nil,
    [
      Field("rssi", Schema.number.orNull, decimals: 2) { $0.signal?.enter },
      Field("distance", .meters, decimals: 3) { $0.distance?.enter },
      Field("count", .integer(1...64)) { $0.count.needed },
      Field("of", .integer(1...64)) { $0.count.last },
      Field("dwell", .number(0...), decimals: 3) { $0.dwell },
    ])
}

/// A row of `monitor --explain`: a rule of a region, the value that it needs, the nearest one, and
/// the latest.
package struct RuleRow: Sendable {
  fileprivate var region: Approach
  fileprivate var rule: String
  fileprivate var needed: String
  fileprivate var nearest: String?
  fileprivate var latest: String?
  fileprivate var isFirst = false

  package static let columns: [Column<RuleRow>] = [
    Column("REGION", priority: .key, fit: .cut(to: 8)) { $0.isFirst ? $0.region.region : "" },
    Column("STATE", priority: .main) { $0.isFirst ? $0.region.state.name : "" },
    Column("RULE", priority: .key) { $0.rule },
    Column("NEEDED", .right, priority: .key) { $0.needed },
    Column("NEAREST", .right, priority: .main) { $0.nearest },
    Column("LATEST", .right, priority: .usual) { $0.latest },
    Column("BEACON", priority: .usual) { row in
      guard row.isFirst else { return "" }
      return (row.region.approach?.beacon ?? row.region.evidence?.lastSighting?.beacon)?.shortName
    },
    Column("SIGHTINGS", .right, priority: .detail) { row in
      row.isFirst ? "\(row.region.approach?.sightings ?? row.region.evidence?.samples ?? 0)" : ""
    },
  ]
}

extension Approach {
  package var rows: [RuleRow] {
    var rows = state == .inside ? leaving : entering
    rows[0].isFirst = true
    return rows
  }

  private func row(
    _ rule: String, _ needed: String, _ text: (RegionApproach.Values) -> String?
  ) -> RuleRow {
    RuleRow(
      region: self, rule: rule, needed: needed, nearest: approach.flatMap { text($0.nearest) },
      latest: approach.flatMap { text($0.latest) })
  }

  private var entering: [RuleRow] {
    var rows: [RuleRow] = []
    func evidence(_ rule: RegionTransition.Rule, _ values: RegionApproach.Values) -> String {
      guard approach?.rule == rule, values.evidence > 0, values.evidence < 1 else { return "" }
      return " (\(fixed(values.evidence * 100, 0)) %)"
    }
    if let gate = rules.signal {
      rows.append(
        row("signal", "> \(decimal(gate.enter, 1)) dBm") { values in
          values.rssi.map { "\($0) dBm\(evidence(.signal, values))" }
        })
    }
    if let gate = rules.distance {
      rows.append(
        row("distance", "< \(decimal(gate.enter, 2)) m") { values in
          values.distance.map { "\(fixed($0, 2)) m\(evidence(.distance, values))" }
        })
    }
    if rules.count != .first {
      rows.append(row("count", "\(rules.count.needed) of \(rules.count.last)") { "\($0.count)" })
    }
    if rules.dwell > 0 {
      rows.append(row("dwell", "\(decimal(rules.dwell, 3)) s") { "\(fixed($0.dwell, 1)) s" })
    }
    return rows.isEmpty ? [row("sighting", "1") { _ in nil }] : rows
  }

  private var leaving: [RuleRow] {
    let last = evidence?.lastSighting
    var rows: [RuleRow] = []
    func add(_ rule: String, _ needed: String, _ latest: String?) {
      rows.append(RuleRow(region: self, rule: rule, needed: needed, latest: latest))
    }
    if let gate = rules.signal {
      add("signal", "< \(decimal(gate.exit, 1)) dBm", last?.rssi.map { "\($0) dBm" })
    }
    if let gate = rules.distance {
      add("distance", "> \(decimal(gate.exit, 2)) m", fixed(last?.distance, 2, "m"))
    }
    add("exitTimeout", fixed(evidence?.exitTimeout, 1, "s") ?? "?", fixed(silence, 1, "s"))
    return rows
  }
}
