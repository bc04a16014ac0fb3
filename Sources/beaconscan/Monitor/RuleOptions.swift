import ArgumentParser
import Regions

/// When a region is entered and left.
struct RuleOptions: ParsableArguments {
  /// The exit timeout: how long a beacon is not received before it is gone.
  enum ExitAfter: ExpressibleByArgument, CustomStringConvertible {
    case adaptive
    case seconds(Double)

    init?(argument: String) {
      if argument == "adaptive" {
        self = .adaptive
      } else if let seconds = Double(argument) {
        self = .seconds(seconds)
      } else {
        return nil
      }
    }

    var description: String {
      switch self {
      case .adaptive: "adaptive"
      case .seconds(let seconds): "\(seconds)"
      }
    }
  }

  /// Sightings that must lie inside the gates, of the last ones.
  struct Count: ExpressibleByArgument, CustomStringConvertible {
    var needed = 1
    var last = 1

    init() {}

    init?(argument: String) {
      let numbers = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
      guard numbers.count == 2, let needed = numbers[0], let last = numbers[1] else { return nil }
      (self.needed, self.last) = (needed, last)
    }

    var description: String { "\(needed)/\(last)" }
  }

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The exit timeout; adaptive learns it from the beacon's own gaps.",
      valueName: "adaptive|seconds"))
  var exitAfter = ExitAfter.adaptive

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("Enter only above this signal strength.", valueName: "dBm"))
  var enterRssi: Double?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp(
      "Leave below this signal strength. (default: 3 dB below --enter-rssi)", valueName: "dBm"))
  var exitRssi: Double?

  @Option(
    name: .long, help: ArgumentHelp("Enter only nearer than this.", valueName: "meters"))
  var enterDistance: Double?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Leave farther away than this. (default: 1.4 times --enter-distance)", valueName: "meters"))
  var exitDistance: Double?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Enter only when so many of the last M sightings lie inside those limits.",
      valueName: "n/m"))
  var enterCount = Count()

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Enter only when the beacon was inside those limits for so long.", valueName: "seconds"))
  var dwell: Double?

  /// The rules.
  var rules: RegionRules {
    get throws {
      do throws(RegionError) {
        return try RegionRules(
          exitTimeout: exitTimeout, signal: signal, distance: distance,
          count: EnterCount(needed: enterCount.needed, of: enterCount.last), dwell: dwell ?? 0)
      } catch {
        throw CommandError(.usage, "\(error)")
      }
    }
  }

  private var exitTimeout: ExitTimeoutRule {
    switch exitAfter {
    case .adaptive: .adaptive()
    case .seconds(let seconds): .fixed(seconds: seconds)
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
