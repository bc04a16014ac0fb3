public import ArgumentParser
public import Regions

/// When a region is entered and left.
struct RuleOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Report each beacon of a region as it enters and leaves, not only the first and the last.",
      discussion: "Of a region, 512 beacons are inside at once at most."))
  var each = false

  @Option(
    help: ArgumentHelp(
      "The exit timeout; adaptive learns it from the beacon's own gaps.",
      valueName: "adaptive|time"))
  var exitAfter = ExitTimeoutRule.adaptive()

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Where the region ends, in both directions: a signal strength such as -67, or a distance such as 3m.",
      valueName: "dBm|meters"))
  var boundary: Boundary?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Enter only above this signal strength.", valueName: "dBm"))
  var enterRssi: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave below this signal strength. (default: --enter-rssi, as a boundary)", valueName: "dBm"))
  var exitRssi: Double?

  @Option(help: ArgumentHelp("Enter only nearer than this.", valueName: "meters"))
  var enterDistance: Double?

  @Option(
    help: ArgumentHelp(
      "Leave farther away than this. (default: --enter-distance, as a boundary)",
      valueName: "meters"))
  var exitDistance: Double?

  @Option(
    help: ArgumentHelp(
      "Enter only when so many of the last M sightings lie inside those limits.", valueName: "n/m"))
  var enterCount = EnterCount.first

  @Option(
    help: ArgumentHelp(
      "Enter only when the beacon was inside those limits for so long.", valueName: "time"))
  var dwell: Seconds?

  /// The rules.
  var rules: RegionRules {
    get throws {
      if boundary != nil, enterRssi ?? exitRssi ?? enterDistance ?? exitDistance != nil {
        throw CommandError(
          .usage,
          "--boundary is both the level to enter and to leave; give it alone, or --enter-… and --exit-…"
        )
      }
      do throws(RegionError) {
        return try RegionRules(
          exitTimeout: exitAfter, signal: signal, distance: distance, count: enterCount,
          dwell: dwell?.value ?? 0, reportsEachBeacon: each)
      } catch {
        throw CommandError(.usage, "\(error)")
      }
    }
  }

  /// Returns these rules with a region's own in their place; its limits replace all limits.
  func rules(of region: NamedRegion) throws -> RegionRules {
    guard !region.rules.isEmpty else { return try rules }
    let names = region.rules.map { String($0.dropFirst(2).prefix { $0 != "=" }) }
    let valid = Self.limits.union(["exit-after", "enter-count", "dwell", "each"])
    if let unknown = names.first(where: { !valid.contains($0) }) {
      throw CommandError(
        .usage,
        "region '\(region.name)': there is no rule '\(unknown)'; the rules are "
          + valid.sorted().joined(separator: ", "))
    }
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw CommandError(.usage, "region '\(region.name)': \(twice) is given twice; give it once")
    }
    let own: RuleOptions
    do {
      own = try RuleOptions.parse(region.rules)
    } catch {
      let sentence = usageSentence(RuleOptions.message(for: error), subcommand: "monitor")
      throw CommandError(.usage, "region '\(region.name)': \(sentence)")
    }
    var merged = self
    if names.contains("each") { merged.each = own.each }
    if names.contains("exit-after") { merged.exitAfter = own.exitAfter }
    if names.contains("enter-count") { merged.enterCount = own.enterCount }
    if names.contains("dwell") { merged.dwell = own.dwell }
    if names.contains(where: Self.limits.contains) {
      merged.boundary = own.boundary
      (merged.enterRssi, merged.exitRssi) = (own.enterRssi, own.exitRssi)
      (merged.enterDistance, merged.exitDistance) = (own.enterDistance, own.exitDistance)
    }
    return try merged.rules
  }

  /// The options that say where a region ends.
  static let limits: Set = [
    "boundary", "enter-rssi", "exit-rssi", "enter-distance", "exit-distance",
  ]

  // One level alone is a boundary in both directions.

  private var signal: SignalGate? {
    if case .signal(let level) = boundary { return SignalGate(boundary: level) }
    return (enterRssi ?? exitRssi).map { SignalGate(enter: $0, exit: exitRssi) }
  }

  private var distance: DistanceGate? {
    if case .distance(let distance) = boundary { return DistanceGate(boundary: distance) }
    return (enterDistance ?? exitDistance).map { DistanceGate(enter: $0, exit: exitDistance) }
  }
}

/// Where a region ends, in both directions.
enum Boundary: ExpressibleByArgument {
  case signal(Double)
  case distance(Double)

  init?(argument: String) {
    func number(_ unit: String) -> Double? {
      argument.hasSuffix(unit) ? Double(argument.dropLast(unit.count)) : nil
    }
    if let level = number("dBm") ?? Double(argument), level < 0 {
      self = .signal(level)
    } else if let distance = number("m"), distance > 0 {
      self = .distance(distance)
    } else {
      return nil
    }
  }
}

extension ExitTimeoutRule: ExpressibleByArgument {
  /// Reads `adaptive`, or a time.
  public init?(argument: String) {
    if argument == "adaptive" {
      self = .adaptive()
    } else if let time = Seconds(argument: argument) {
      self = .fixed(seconds: time.value)
    } else {
      return nil
    }
  }

  /// The word for the default.
  public var defaultValueDescription: String { "adaptive" }
}

extension EnterCount: ExpressibleByArgument {
  /// Reads how many of how many: `2/3`.
  public init?(argument: String) {
    let numbers = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let needed = numbers[0], let last = numbers[1] else { return nil }
    self.init(needed: needed, of: last)
  }

  /// As it is given.
  public var defaultValueDescription: String { "\(needed)/\(last)" }
}
