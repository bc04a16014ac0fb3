public import ArgumentParser
public import Regions

/// When a region is entered and left.
struct RuleOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The exit timeout; adaptive learns it from the beacon's own gaps.",
      valueName: "adaptive|seconds"))
  var exitAfter = ExitTimeoutRule.adaptive()

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Enter only above this signal strength.", valueName: "dBm"))
  var enterRssi: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave below this signal strength. (default: 3 dB below --enter-rssi)", valueName: "dBm"))
  var exitRssi: Double?

  @Option(help: ArgumentHelp("Enter only nearer than this.", valueName: "meters"))
  var enterDistance: Double?

  @Option(
    help: ArgumentHelp(
      "Leave farther away than this. (default: 1.4 times --enter-distance)", valueName: "meters"))
  var exitDistance: Double?

  @Option(
    help: ArgumentHelp(
      "Enter only when so many of the last M sightings lie inside those limits.", valueName: "n/m"))
  var enterCount = EnterCount.first

  @Option(
    help: ArgumentHelp(
      "Enter only when the beacon was inside those limits for so long.", valueName: "seconds"))
  var dwell: Double?

  /// The rules.
  var rules: RegionRules {
    get throws {
      do throws(RegionError) {
        return try RegionRules(
          exitTimeout: exitAfter, signal: signal, distance: distance, count: enterCount,
          dwell: dwell ?? 0)
      } catch {
        throw CommandError(.usage, "\(error)")
      }
    }
  }

  // Where one level is given, the other lies beside it.

  private var signal: SignalGate? {
    if let enterRssi { return SignalGate(enter: enterRssi, exit: exitRssi) }
    return exitRssi.map { SignalGate(enter: $0 + SignalGate.hysteresis, exit: $0) }
  }

  private var distance: DistanceGate? {
    if let enterDistance { return DistanceGate(enter: enterDistance, exit: exitDistance) }
    return exitDistance.map { DistanceGate(enter: $0 / DistanceGate.hysteresis, exit: $0) }
  }
}

extension ExitTimeoutRule: ExpressibleByArgument {
  /// Reads `adaptive`, or a number of seconds.
  public init?(argument: String) {
    if argument == "adaptive" {
      self = .adaptive()
    } else if let seconds = Double(argument) {
      self = .fixed(seconds: seconds)
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
