import Records
import Scanning
import ServiceCore

/// Writes what `range` and `monitor` report.
protocol ResultWriter: AnyObject {
  /// Whether it draws a screen over again: it shows beacons and what is wrong with the receiver between events.
  var isScreen: Bool { get }

  func write(_ report: RangingReport) throws

  func write(_ event: MonitorEvent) throws

  func write(_ change: ZoneChange) throws

  /// Shows what is wrong with the receiver; `nil` when nothing is.
  func write(trouble: String?, at time: WallClockTime) throws

  /// Writes what comes at the end.
  func end(_ summary: ScanSummary) throws

  /// Writes what comes at the end where no beacon was to be received.
  func end() throws
}

extension ResultWriter {
  var isScreen: Bool { false }
  func write(_ report: RangingReport) throws {}
  func write(_ event: MonitorEvent) throws {}
  func write(_ change: ZoneChange) throws {}
  func write(trouble: String?, at time: WallClockTime) throws {}
  func end(_ summary: ScanSummary) throws {}
  func end() throws {}
}
