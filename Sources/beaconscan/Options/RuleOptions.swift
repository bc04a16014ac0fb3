import ArgumentParser
import Frontends
import Regions
import ServiceCore

struct RuleOptions: ParsableArguments {
  @Flag(Inputs.each) var each: Bool
  @Option(Inputs.exitAfter) var exitAfter: ExitTimeoutRule
  @Option(Inputs.boundary) var boundary: Boundary?
  @Option(Inputs.enterRssi.rare) var enterRssi: Double?
  @Option(Inputs.exitRssi.rare) var exitRssi: Double?
  @Option(Inputs.enterDistance) var enterDistance: Double?
  @Option(Inputs.exitDistance) var exitDistance: Double?
  @Option(Inputs.enterCount.rare) var enterCount: EnterCount
  @Option(Inputs.dwell.rare) var dwell: Seconds?

  var rules: RegionRules {
    get throws(CommandError) { try checked { settings throws(OptionError) in try settings.rules } }
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

  var settings: RuleSettings {
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
