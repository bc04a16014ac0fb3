import Records
import Scanning
import ServiceCore

protocol ResultWriter {
  /// Whether it redraws a screen, which shows beacons and the receiver's faults between events.
  var isScreen: Bool { get }

  func write(_ report: RangingReport) throws
  func write(_ event: MonitorEvent) throws
  func write(_ change: ZoneChange) throws

  /// Shows the receiver's fault, or removes it for `nil`.
  func write(trouble: String?, at time: WallClockTime) throws

  /// Writes how near the regions were to being entered, at the end of a run.
  func write(_ approaches: [Approach]) throws

  func end(_ summary: ScanSummary) throws

  func end() throws
}

extension ResultWriter {
  var isScreen: Bool { false }
  func write(_ report: RangingReport) throws {}
  func write(_ event: MonitorEvent) throws {}
  func write(_ change: ZoneChange) throws {}
  func write(_ approaches: [Approach]) throws {}
  func write(trouble: String?, at time: WallClockTime) throws {}
  func end(_ summary: ScanSummary) throws {}
  func end() throws {}
}
