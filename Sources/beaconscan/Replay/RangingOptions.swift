import ArgumentParser
import Ranging

/// How distances are computed.
struct RangingOptions: ParsableArguments {
  @OptionGroup var calibration: CalibrationOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where zones end, in meters: enter and leave immediate, enter and leave near.",
      valueName: "a,b,c,d"))
  var zones: ZoneLimits?

  /// The ranger's configuration.
  var configuration: Ranger.Configuration {
    var configuration = Ranger.Configuration()
    configuration.calibration = calibration.calibration
    configuration.beaconCalibrations = calibration.beaconCalibrations
    if let zones { configuration.limits = zones.limits }
    return configuration
  }
}

/// Four distances.
struct ZoneLimits: ExpressibleByArgument {
  var limits: ProximityLimits

  init?(argument: String) {
    let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0)
    }
    guard numbers.count == 4, !numbers.contains(nil),
      let limits = try? ProximityLimits(
        enterImmediate: numbers[0] ?? 0, leaveImmediate: numbers[1] ?? 0,
        enterNear: numbers[2] ?? 0, leaveNear: numbers[3] ?? 0)
    else { return nil }
    self.limits = limits
  }
}
