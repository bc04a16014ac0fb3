package import Regions
package import ServiceCore

package struct RuleSettings: Sendable {
  package var each = false
  package var exitAfter = ExitTimeoutRule.adaptive()
  package var boundary: Boundary?
  package var enterRssi: Double?
  package var exitRssi: Double?
  package var enterDistance: Double?
  package var exitDistance: Double?
  package var enterCount = EnterCount.first
  package var dwell: Seconds?

  package init() {}

  package static let limits: Set = [
    "boundary", "enter-rssi", "exit-rssi", "enter-distance", "exit-distance",
  ]

  package static let assignments: [String: Assignment<Self>] = Dictionary(
    uniqueKeysWithValues: [
      .one(Inputs.each, \.each), .one(Inputs.exitAfter, \.exitAfter),
      .one(Inputs.boundary, \.boundary), .one(Inputs.enterRssi, \.enterRssi),
      .one(Inputs.exitRssi, \.exitRssi), .one(Inputs.enterDistance, \.enterDistance),
      .one(Inputs.exitDistance, \.exitDistance), .one(Inputs.enterCount, \.enterCount),
      .one(Inputs.dwell, \.dwell),
    ].map { ($0.name, $0) })

  package static var names: Set<String> { Set(assignments.keys) }

  package mutating func set(_ name: String, to text: String?) throws(OptionError) {
    guard let assignment = Self.assignments[name] else { throw .unknownRule(name) }
    try assignment.set(&self, text)
  }

  package var rules: RegionRules {
    get throws(OptionError) {
      if boundary != nil, enterRssi ?? exitRssi ?? enterDistance ?? exitDistance != nil {
        throw .boundaryWithLimits
      }
      do throws(RegionError) {
        return try RegionRules(
          exitTimeout: exitAfter, signal: signal, distance: distance, count: enterCount,
          dwell: dwell?.value ?? 0, reportsEachBeacon: each)
      } catch {
        throw .rules(error)
      }
    }
  }

  /// Returns these rules with the region's own in place. One limit of its own replaces all limits.
  package func rules(of region: NamedRegion) throws(OptionError) -> RegionRules {
    do throws(OptionError) {
      return try merged(with: region.rules).rules
    } catch {
      // The region's name is not helpful if it has no rule of its own.
      throw region.rules.isEmpty ? error : .region(region.name, error)
    }
  }

  package func apply(to regions: [NamedRegion]) throws(OptionError) -> [BeaconRegion] {
    try regions.map { region throws(OptionError) in
      BeaconRegion(
        identifier: region.name, constraint: region.constraint,
        rules: region.rules.isEmpty ? nil : try rules(of: region))
    }
  }

  private func merged(with words: [String]) throws(OptionError) -> RuleSettings {
    var names: Set<String> = []
    let pairs = words.map { word in
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : nil)
    }
    for (name, _) in pairs where !names.insert(name).inserted { throw .ruleGivenTwice(name) }
    var merged = self
    if !names.isDisjoint(with: Self.limits) {
      merged.boundary = nil
      merged.enterRssi = nil
      merged.exitRssi = nil
      merged.enterDistance = nil
      merged.exitDistance = nil
    }
    for (name, value) in pairs { try merged.set(name, to: value) }
    return merged
  }

  // The enter level alone or the exit level alone is a boundary in both directions.

  private var signal: SignalGate? {
    if case .signal(let level) = boundary { return SignalGate(boundary: level) }
    return (enterRssi ?? exitRssi).map { SignalGate(enter: $0, exit: exitRssi) }
  }

  private var distance: DistanceGate? {
    if case .distance(let distance) = boundary { return DistanceGate(boundary: distance) }
    return (enterDistance ?? exitDistance).map { DistanceGate(enter: $0, exit: exitDistance) }
  }
}

package enum Boundary: Hashable, Sendable {
  case signal(Double)
  case distance(Double)

  static let strengths = -128.0...0
  static let distances = Double.leastNonzeroMagnitude...1000

  /// Reads a signal strength such as `-67` or `-67dBm`, or a distance such as `3m`.
  package init?(_ text: String) {
    func number(_ unit: String) -> Double? {
      text.hasSuffix(unit) ? Double(text.dropLast(unit.count)) : nil
    }
    if let level = number("dBm") ?? Double(text), Self.strengths.contains(level), level < 0 {
      self = .signal(level)
    } else if let distance = number("m"), Self.distances.contains(distance) {
      self = .distance(distance)
    } else {
      return nil
    }
  }
}

extension ExitTimeoutRule {
  /// Reads `adaptive`, or a time.
  package init?(text: String) {
    if text == "adaptive" {
      self = .adaptive()
    } else if let time = Seconds(argument: text), time.value > 0, time.value <= 604_800 {
      self = .fixed(seconds: time.value)
    } else {
      return nil
    }
  }
}

extension EnterCount {
  /// Reads the needed number and the total of sightings, such as `2/3`.
  package init?(text: String) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let needed = numbers[0], let last = numbers[1], needed >= 1,
      needed <= last, last <= Self.maximum
    else { return nil }
    self.init(needed: needed, of: last)
  }
}
