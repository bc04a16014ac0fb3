import Records
import Scanning
import ServiceCore

/// Reports the receiver's state: a line of JSON for each change, or a sentence on standard error; and, at the
/// end of a live run, what it came to.
final class HealthLog {
  /// Shows what is wrong on a screen that is redrawn, where a sentence would be drawn over; `nil` removes it.
  var showOnScreen: ((String?, WallClockTime) throws -> Void)?

  private let format: OutputFormat
  private let isQuiet: Bool
  private let output: StandardOutput
  private let session: BeaconSession
  private var tally = HealthTally()

  init(_ session: BeaconSession, _ options: OutputOptions, to output: StandardOutput) {
    self.session = session
    (format, isQuiet, self.output) = (options.format, options.quiet, output)
  }

  /// Reports a change.
  func report(_ health: ScannerHealth, at time: WallClockTime) throws {
    tally.update(health)
    if format == .json {
      try output.writeLine((health, time), ScannerHealth.record)
    } else if let showOnScreen {
      try showOnScreen(tally.trouble, time)
    } else if !isQuiet {
      session.say("beaconscan: \(health.sentence)")
    }
  }

  /// Reports what a live run came to.
  func end() {
    guard session.isLive, !isQuiet else { return }
    session.say("beaconscan: " + tally.sentence(session.scanner.name, session.beacons.received))
  }
}
