public import ArgumentParser
import Frontends
public import Regions
import ServiceCore

/// The rules for entering and leaving regions.
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

  var rules: RegionRules {
    get throws(CommandError) { try checked { settings throws(OptionError) in try settings.rules } }
  }

  func rules(of region: NamedRegion) throws(CommandError) -> RegionRules {
    try checked { settings throws(OptionError) in try settings.rules(of: region) }
  }

  func apply(to regions: [NamedRegion]) throws(CommandError) -> [BeaconRegion] {
    try checked { settings throws(OptionError) in try settings.apply(to: regions) }
  }

  private func checked<Result>(
    _ read: (RuleSettings) throws(OptionError) -> Result
  ) throws(CommandError) -> Result {
    do throws(OptionError) {
      return try read(settings)
    } catch {
      throw CommandError(.usage, error.sentence(mark: "--"))
    }
  }

  private var settings: RuleSettings {
    var settings = RuleSettings()
    settings.each = each
    settings.exitAfter = exitAfter
    settings.boundary = boundary
    settings.enterRssi = enterRssi
    settings.exitRssi = exitRssi
    settings.enterDistance = enterDistance
    settings.exitDistance = exitDistance
    settings.enterCount = enterCount
    settings.dwell = dwell
    return settings
  }
}

extension ExitTimeoutRule: ExpressibleByArgument {
  /// Reads `adaptive` or a time.
  public init?(argument: String) { self.init(text: argument) }

  /// The text for the default value.
  public var defaultValueDescription: String { "adaptive" }
}

extension EnterCount: ExpressibleByArgument {
  /// Reads two numbers, such as `2/3`.
  public init?(argument: String) { self.init(text: argument) }

  /// The text for the default value.
  public var defaultValueDescription: String { "\(needed)/\(last)" }
}
