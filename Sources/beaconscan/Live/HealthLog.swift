import Advertising
import CoreLocation
import Scanning

/// Says how well adapters hear: a line of JSON for each change, or a sentence on standard error; and, at the end of
/// a live run, what it came to.
final class HealthLog {
  /// Shows what is wrong on a screen that is redrawn, where a sentence would be drawn over; `nil` takes it away.
  /// It is given the moment, and what is added to that to show it, in nanoseconds.
  var showOnScreen: ((String?, MonotonicTime, WallClockOffset) throws -> Void)?

  private let format: OutputFormat
  private let isQuiet: Bool
  private let output: StandardOutput
  private let scan: ManagedScan
  private var tally = HealthTally()

  init(_ scan: ManagedScan, _ options: OutputOptions, to output: StandardOutput) {
    self.scan = scan
    (format, isQuiet, self.output) = (options.format, options.quiet, output)
  }

  /// Takes a change.
  func tell(_ health: ScannerHealth) throws {
    tally.note(health)
    if format == .json {
      let object = health.object(offset: scan.wallClockOffset)
      try output.write { object.line(into: &$0) }
    } else if let showOnScreen {
      try showOnScreen(tally.trouble, health.time, scan.wallClockOffset)
    } else if !isQuiet {
      scan.say("beaconscan: \(health.sentence)")
    }
  }

  /// Says what a live run came to.
  func end() {
    guard scan.isLive, !isQuiet else { return }
    scan.say("beaconscan: " + tally.sentence(scan.scanner.name, scan.services.listened))
  }
}

extension ScannerHealth {
  /// The change as a JSON object.
  ///
  /// - Parameter offset: What is added to its time to show it, in nanoseconds.
  /// - Returns: The object.
  func object(offset: WallClockOffset) -> JSONObject {
    var object = JSONObject(type: "health")
    object.set("time", time.wallClockTime(offset))
    object.set("state", condition.rawValue)
    object.set("adapter", adapter)
    object.set("address", address?.description)
    object.set("deaf", isReceptionLost)
    object.set("message", sentence)
    return object
  }
}
